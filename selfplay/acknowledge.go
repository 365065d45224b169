package selfplay

import (
	"context"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const batchGames = 512 // stored with one sync and acknowledged together, about

// gameStream is what storing games asks of a [bus.Bus].
type gameStream interface {
	Games(ctx context.Context, max int, wait time.Duration) (bus.Batch, error)
	AckGames(ctx context.Context, last bus.Msg) error
	Reject(ctx context.Context, reason string, data []byte) error
}

// storeAndAcknowledge takes the oldest games off the stream, stores them and only
// then acknowledges them. It returns their number, 0 if none came within wait.
//
// When Append returns without an error, every game of the batch is on disk and
// synced: in a segment of the buffer, since it was new and legal, or in the
// buffer's quarantine, or in an older segment. Nothing else is waited for. After
// an error the whole batch comes again; games that were stored are then known by
// their ids, and quarantined ones by their bytes.
//
// A game leaves its actor's spool only later, when the actor asks for it and the
// buffer has it: see [publisher].
func (in *ingester) storeAndAcknowledge(ctx context.Context, wait time.Duration) (int, error) {
	batch, err := in.stream.Games(ctx, batchGames, wait)
	if err != nil {
		return 0, err
	}
	for _, h := range batch.Holes {
		in.lost.Add(h.Last - h.First + 1)
		in.run.event("the stream has lost messages, actors publish their games again", "first", h.First, "last", h.Last)
	}
	if len(batch.Msgs) == 0 {
		return 0, nil
	}
	games := gamesOf(batch.Msgs)
	report, err := in.store(games)
	if err != nil {
		return 0, fmt.Errorf("replay: %w", err)
	}
	if err := in.stream.AckGames(ctx, batch.Msgs[len(batch.Msgs)-1]); err != nil {
		return 0, err
	}
	in.run.status.update(func(s *Status) {
		s.Figures.Stored = time.Now()
		for _, bad := range report.Rejected {
			s.Figures.Rejected[rejectReason(bad.Err)]++
		}
	})
	for _, bad := range report.Rejected {
		in.quarantined(ctx, games[bad.Index], bad.Err)
	}
	return len(games), nil
}

// store puts games into the buffer, and those that their actors did not sign into its
// quarantine.
func (in *ingester) store(games [][]byte) (replay.Report, error) {
	if in.keys == nil {
		return in.buffer.Append(games)
	}
	refused, err := in.keys.check(in.run.id(), games)
	if err != nil {
		return replay.Report{}, err
	}
	return in.buffer.AppendExcept(games, refused)
}

// gamesOf returns the games of messages; of a message that holds none its bytes, which
// the buffer will quarantine.
func gamesOf(msgs []bus.Msg) [][]byte {
	var games [][]byte
	for _, m := range msgs {
		if m.Err != nil {
			games = append(games, m.Data)
		}
		games = append(games, m.Games...)
	}
	return games
}

// quarantined says why a game is in quarantine, and copies it for those who see the
// bus and not this disk.
func (in *ingester) quarantined(ctx context.Context, encoded []byte, reason error) {
	in.run.event("game quarantined", "reason", reason.Error(), "dir", in.run.path(replayDir))
	if err := in.stream.Reject(ctx, reason.Error(), encoded); err != nil {
		in.run.log.Warn("quarantined game not copied to the bus", "error", err)
	}
}
