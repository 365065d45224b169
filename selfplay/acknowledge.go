package selfplay

import (
	"context"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
)

const batchGames = 512 // stored with one sync and acknowledged together, at most

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
func (in *ingester) storeAndAcknowledge(ctx context.Context, wait time.Duration) (int, error) {
	batch, err := in.stream.Games(ctx, batchGames, wait)
	if err != nil {
		return 0, err
	}
	for _, h := range batch.Holes {
		in.run.event("games missing on the bus", "first", h.First, "last", h.Last, "messages", h.Len())
	}
	msgs := batch.Msgs
	if len(msgs) == 0 {
		return 0, nil
	}
	var games [][]byte
	for i := range msgs {
		games = append(games, msgs[i].Games...)
		if msgs[i].Err != nil {
			games = append(games, msgs[i].Data) // no game: the buffer puts it into quarantine
		}
	}
	report, err := in.buffer.Append(games)
	if err != nil {
		return 0, fmt.Errorf("replay: %w", err)
	}
	if err := in.stream.AckGames(ctx, msgs[len(msgs)-1]); err != nil {
		return 0, err
	}
	for _, bad := range report.Rejected {
		reason := bad.Err.Error()
		in.run.event("game quarantined", "reason", reason, "dir", in.run.path(replayDir))
		// A copy for those who see the bus and not this disk; it may fail.
		if err := in.stream.Reject(ctx, reason, games[bad.Index]); err != nil {
			in.run.log.Warn("quarantined game not copied to the bus", "error", err)
		}
	}
	return len(games), nil
}
