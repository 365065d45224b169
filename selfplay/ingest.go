package selfplay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/replay"
)

const (
	ingestBatch = 512                    // games stored with one fsync, at most
	ingestWait  = 500 * time.Millisecond // for the first of them
	ingestRetry = time.Second            // after the bus failed
	drainWait   = 5 * time.Second        // for a game that is known to be there
	purgeEvery  = 10 * time.Second
)

// ingester moves games from the bus into the replay buffer: fetch, store,
// fsync, and only then acknowledge. A game that comes again is dropped by its id.
type ingester struct {
	run    *Run
	buffer *replay.Buffer
	purged time.Time
}

// ingest works until ctx ends. A batch that was fetched is always finished:
// given up, it would come again only after a minute.
func (in *ingester) ingest(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := in.once(context.WithoutCancel(ctx), ingestWait)
		switch {
		case errors.Is(err, replay.ErrBroken):
			return err
		case err != nil && ctx.Err() == nil:
			in.run.status.set(roleReplay, "waiting to try again: %v", err)
			in.run.log.Warn("games not ingested, trying again", "error", err)
			sleep(ctx, ingestRetry)
		case n == 0:
			in.run.status.set(roleReplay, "waiting for games")
		default:
			in.run.status.set(roleReplay, "storing games")
		}
	}
	in.run.status.set(roleReplay, "stopped")
	return nil
}

// drain ingests until every game on the bus is acknowledged.
func (in *ingester) drain(ctx context.Context) error {
	for {
		st, err := in.run.bus.Stats(ctx)
		if err != nil {
			return err
		}
		if st.Pending == 0 && st.Unacked == 0 {
			return nil
		}
		if _, err := in.once(ctx, drainWait); err != nil {
			return err
		}
	}
}

// once moves one batch and returns its size.
func (in *ingester) once(ctx context.Context, wait time.Duration) (int, error) {
	msgs, err := in.run.bus.Games(ctx, ingestBatch, wait)
	if err != nil || len(msgs) == 0 {
		return 0, err
	}
	games := make([][]byte, len(msgs))
	for i := range msgs {
		games[i] = msgs[i].Data
	}
	report, err := in.buffer.Append(games)
	if err != nil {
		return 0, fmt.Errorf("replay: %w", err)
	}
	for _, bad := range report.Rejected {
		in.run.event("game quarantined", "reason", bad.Err.Error(), "dir", in.run.path(replayDir))
		if err := in.run.bus.Reject(ctx, bad.Err.Error(), games[bad.Index]); err != nil {
			return 0, err
		}
	}
	if err := in.run.bus.AckGames(ctx, msgs[len(msgs)-1]); err != nil {
		return 0, err
	}
	in.show()
	if now := time.Now(); now.Sub(in.purged) > purgeEvery {
		in.purged = now
		if _, err := in.run.bus.Purge(ctx); err != nil {
			return 0, err
		}
	}
	return len(msgs), nil
}

// show copies the buffer's counters to the status.
func (in *ingester) show() {
	st := in.buffer.Stats()
	in.run.status.update(func(s *Status) {
		s.Games, s.Positions, s.Window = st.Games, st.Plies, st.WindowPlies
		s.Duplicates, s.Quarantined = st.Duplicates, st.Quarantined
	})
}
