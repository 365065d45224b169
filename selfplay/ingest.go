package selfplay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const (
	ingestWait  = 500 * time.Millisecond // for the first game of a batch
	ingestRetry = time.Second            // after the bus failed
	drainWait   = 5 * time.Second        // for a game that is known to be there
	idleWait    = time.Second            // for one that may be

	maxExcludedWhy = 120 // bytes of a reason for quarantine in an announcement
)

// ingester moves games from the bus into the replay buffer, batch by batch; see
// storeAndAcknowledge. It answers which games are on disk, and with the window
// and single games.
type ingester struct {
	run    *Run
	stream gameStream // the run's bus
	buffer *replay.Buffer
	keys   *actorKeys    // of the actors; nil: games need no signature
	limits *actorLimits  // likewise
	told   refusals      // why games were refused
	kept   news          // of refused games in quarantine
	lost   atomic.Uint64 // messages that the stream has lost
	began  replay.Stats  // of the buffer as this process found it

	excluding sync.Mutex // held while an actor is excluded or released
}

// serve answers the questions of actors, trainers and pages until stop is called.
func (in *ingester) serve() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	stored := newStoredServer(replay.NewArchive(in.run.path(replayDir)))
	for name, answer := range map[string]func([]byte) ([]byte, error){
		hasService: func(request []byte) ([]byte, error) {
			return answerHas(request, in.known, in.keys.other, in.run.bus.Floor())
		},
		windowService:  in.answerWindow,
		excludeService: in.answerExclude,
		includeService: in.answerInclude,
		newKeyService:  in.answerNewKey,
		storedService:  stored.answerPage,
		gameService:    stored.answerGame,
	} {
		s, err := in.run.bus.Serve(name, answer)
		if err != nil {
			stop()
			return nil, fmt.Errorf("replay: %w", err)
		}
		stops = append(stops, s)
	}
	return stop, nil
}

// ingest moves games until ctx ends. A batch that was fetched is always finished:
// one given up would be delivered again only after a minute.
func (in *ingester) ingest(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := in.once(context.WithoutCancel(ctx), in.run.wait(ingestWait))
		switch {
		case errors.Is(err, replay.ErrBroken):
			return err
		case err != nil && ctx.Err() == nil:
			in.run.status.set(roleReplay, triesAgain+": %v", err)
			in.run.log.Warn("games not ingested, trying again", "error", err)
			pause.For(ctx, in.run.wait(ingestRetry))
		case n == 0:
			in.run.status.set(roleReplay, "waiting for games")
		default:
			in.run.status.set(roleReplay, "storing games")
		}
	}
	in.run.status.set(roleReplay, "stopped")
	return nil
}

// drain moves games until every game on the bus is acknowledged.
func (in *ingester) drain(ctx context.Context) error {
	for {
		st, err := in.run.bus.Stats(ctx)
		if err != nil {
			return err
		}
		if st.Stored() {
			return nil
		}
		wait, idle := drainWait, st.Pending == 0 && st.Unacked == 0
		if idle { // the count is behind the stream, or the newest messages were deleted
			wait = idleWait
		}
		if n, err := in.once(ctx, wait); err != nil || idle && n == 0 {
			return err
		}
	}
}

// once moves one batch and updates the status. It returns the number of games.
func (in *ingester) once(ctx context.Context, wait time.Duration) (int, error) {
	n, err := in.storeAndAcknowledge(ctx, wait)
	if err == nil {
		in.show()
	}
	return n, err
}

// show copies the buffer's counters to the status. They are read under the lock of the
// status, so that of two calls at once the later one's stay.
func (in *ingester) show() {
	in.run.status.update(func(s *Status) {
		st := in.buffer.Stats()
		s.Games, s.Positions, s.Window = st.Games, st.Plies, st.WindowPlies
		s.Duplicates, s.Quarantined = st.Duplicates, st.Quarantined
		s.StreamLost, s.BufferLost = in.lost.Load(), st.Lost
		s.Excluded = in.excluded()
		s.Figures.Bytes, s.Figures.Segments = st.Bytes, st.Segments
		s.Figures.Games = max(s.Figures.Games, grown(st.Games, in.began.Games))
		s.Figures.Positions = max(s.Figures.Positions, grown(st.Plies, in.began.Plies))
		s.Figures.Duplicates, s.Figures.Quarantined = grown(st.Duplicates, in.began.Duplicates), grown(st.Quarantined, in.began.Quarantined)
	})
}

// grown returns by how much a count has grown. Games lost by damage lower it; the
// counters keep their highest.
func grown(now, before uint64) uint64 { return now - min(now, before) }

// excluded returns the actors in quarantine, as the replay role announces them.
func (in *ingester) excluded() (all []bus.Excluded) {
	for _, x := range in.buffer.Excluded() {
		if len(all) == bus.MaxExcluded {
			break
		}
		all = append(all, bus.Excluded{Actor: x.Actor, Why: strings.ToValidUTF8(x.Why[:min(len(x.Why), maxExcludedWhy)], "")})
	}
	return all
}

// reportDamage says what was found damaged when the buffer was opened.
func (in *ingester) reportDamage() {
	for _, d := range in.buffer.Damage() {
		in.run.event("replay buffer is damaged", "found", d.String())
	}
}
