package selfplay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
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
	games, senders := gamesOf(batch.Msgs)
	report, signed, err := in.store(games, senders)
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
	refused := map[string][]error{} // by actor
	for _, bad := range report.Rejected {
		if isOverLimit(bad.Err) || errors.Is(bad.Err, replay.ErrExcluded) {
			continue // neither stored nor kept: that would be another way to fill the disk
		}
		actor := ""
		if signed != nil && !errors.Is(bad.Err, game.ErrSeal) { // else it may be anyone's
			actor = signed[bad.Index].actor
		}
		refused[actor] = append(refused[actor], bad.Err)
		if bad.Kept {
			in.copyRefused(ctx, games[bad.Index], bad.Err)
		}
	}
	in.kept.tell(refused, time.Now(), func(actor string, games int, why error) {
		in.run.event("game quarantined", "reason", why.Error(), "actor", actor, "games", games, "dir", in.run.path(replayDir))
	})
	return len(games), nil
}

// store puts games into the buffer, and those that their actors did not sign or send into
// its quarantine. Those above an actor's limits are dropped. Signed are their signatures,
// if games need any.
func (in *ingester) store(games [][]byte, senders []string) (report replay.Report, signed []signature, err error) {
	if in.keys == nil {
		report, err = in.buffer.Append(games)
		return report, nil, err
	}
	signed, refused, err := in.keys.check(in.run.id(), games, senders)
	if err != nil {
		return report, nil, err
	}
	defer in.told.begin(signed)()
	free := in.free(signed, refused)
	within, over := games, in.limits.check(signed, free)
	place := make([]int, 0, len(games)) // of the games within the limits among all
	if len(over) > 0 {
		within = nil
		kept := map[int]error{}
		for i, g := range games {
			if over[i] != nil {
				continue
			}
			if refused[i] != nil {
				kept[len(within)] = refused[i]
			}
			within, place = append(within, g), append(place, i)
		}
		refused = kept
	}
	report, err = in.buffer.AppendExcept(within, refused)
	if len(over) > 0 {
		for i := range report.Rejected {
			report.Rejected[i].Index = place[report.Rejected[i].Index]
		}
	}
	if err != nil { // the same games come again
		in.limits.giveBack(signed, free, over)
		return report, signed, err
	}
	dropped := map[string][]error{} // by actor
	for _, i := range slices.Sorted(maps.Keys(over)) {
		report.Rejected = append(report.Rejected, replay.Rejection{Index: i, Err: over[i]})
		in.run.status.update(func(s *Status) { s.Figures.Dropped++ })
		in.told.add(signed[i].id, over[i].Error(), true)
		dropped[signed[i].actor] = append(dropped[signed[i].actor], over[i])
	}
	if len(dropped) > 0 { // so there are limits
		in.limits.over.tell(dropped, in.limits.now(), func(actor string, games int, why error) {
			in.run.event("games refused, the actor sends too many", "actor", actor, "games", games, "why", why.Error())
		})
	}
	for _, bad := range report.Rejected {
		if s := signed[bad.Index]; s.err == nil && over[bad.Index] == nil {
			in.told.add(s.id, bad.Err.Error(), false)
		}
	}
	return report, signed, nil
}

// free reports which games do not count against their actors' limits: those that are
// refused already, since anyone can send them in an actor's name, and those that the
// buffer knows, since they come again after an error.
func (in *ingester) free(signed []signature, refused map[int]error) []bool {
	ids := make([]string, len(signed))
	for i, s := range signed {
		ids[i] = s.id
	}
	free := make([]bool, len(signed))
	for i, state := range in.buffer.Known(ids) {
		free[i] = refused[i] != nil || state != replay.Unknown
	}
	return free
}

// gamesOf returns the games of messages, and the actor under whose name each was sent,
// which servers with users hold it to; of a message that holds none its bytes, which the
// buffer will quarantine.
func gamesOf(msgs []bus.Msg) (games [][]byte, senders []string) {
	for _, m := range msgs {
		if m.Err != nil {
			games = append(games, m.Data)
		}
		games = append(games, m.Games...)
		for len(senders) < len(games) {
			senders = append(senders, m.Actor)
		}
	}
	return games, senders
}

// copyRefused copies a game in quarantine for those who see the bus and not this disk.
func (in *ingester) copyRefused(ctx context.Context, encoded []byte, reason error) {
	if err := in.stream.Reject(ctx, reason.Error(), encoded); err != nil {
		in.run.log.Warn("quarantined game not copied to the bus", "error", err)
	}
}
