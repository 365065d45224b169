package selfplay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// refereeRole judges the nets that are offered, as long as no other process does. It
// plays so many pairs at a time itself; gate workers anywhere may take the others.
func (r *Run) refereeRole(ctx context.Context, slots int) error {
	j := newReferee(r)
	j.slots = slots
	return r.exclusive(ctx, roleGate, refereeLease, "", nil, j.guarded(), func(ctx context.Context, l *bus.Lease) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return j.judgeUnder(ctx, l) })
		group.Go(func() error { return j.watchActors(ctx, l.SetPointer) })
		return group.Wait()
	})
}

// lockGate takes the gate's folder for this process: two that share a directory, and so a name,
// would take the lease from each other without end.
func (r *Run) lockGate() (unlock func() error, err error) {
	lock, err := dirlock.Acquire(r.path(gateDir))
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	return lock.Release, nil
}

// Gate plays the games by which the run's nets are judged until ctx ends, if play is
// set, and is the referee when no other process is.
func (r *Run) Gate(ctx context.Context, play bool) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	defer func() { err = because(ctx, err) }()
	unlock, err := r.lockGate()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	group.Go(func() error { return r.refereeRole(ctx, 0) })
	if play {
		group.Go(func() error {
			newGateWorker(r, r.identity.Instance, r.cfg.Gate.Concurrency, r.bus.Ask, newNetCache(r)).work(ctx)
			return nil
		})
	}
	err = group.Wait()
	r.event("stopped", "role", r.opt.Role)
	return err
}

// watchActors takes the net that is played with back when more than half of the
// actors report that they cannot load it, by its own fault, until ctx ends.
func (j *referee) watchActors(ctx context.Context, set setPointer) error {
	for pause.For(ctx, pause.Spread(j.run.wait(announceEvery))) {
		if err := j.takeBack(ctx, set); err != nil && ctx.Err() == nil && !errors.Is(err, bus.ErrUnavailable) {
			if errors.Is(err, bus.ErrFenced) {
				return err
			}
			j.run.log.Warn("what actors report of the net could not be looked at, trying again", "error", err)
		}
	}
	return nil
}

// takeBack looks once. The newest net of an earlier generation comes back, never one that
// was taken back before; the candidate is judged already, so it
// is not offered again.
func (j *referee) takeBack(ctx context.Context, set setPointer) error {
	current, err := j.pointer(ctx, j.run.currentKey())
	if err != nil || current.Net == "" {
		return err
	}
	actors, failing, why, err := j.run.actors(ctx, current.Net)
	if err != nil || 2*failing <= actors {
		return err
	}
	history, err := j.run.bus.PointerHistory(ctx, j.run.currentKey())
	if err != nil {
		return err
	}
	back := nets.Record{Schema: nets.RecordSchema, Action: nets.Withdraw, By: "referee@" + hostname(), From: current.Net,
		Why: fmt.Sprintf("%d of %d actors cannot load generation %d: %.200s", failing, actors, current.Generation, why)}
	for _, p := range slices.Backward(history) {
		earlier, err := nets.ParseRecord(p.Value)
		older := earlier.Generation < current.Generation || j.run.identity.bare() // bare ids have no generation
		if err == nil && earlier.Net != current.Net && earlier.Net != "" && older {
			back.Net, back.Generation = earlier.Net, earlier.Generation
			break
		}
	}
	if back.Net == "" && j.run.identity.bare() {
		return nil // a bare id does not say that there is no net
	}
	if err := j.move(ctx, set, j.run.currentKey(), back, current.revision); err != nil {
		return err
	}
	j.run.event("net withdrawn", "net", current.Net, "generation", current.Generation, "back_to", back.Net, "why", back.Why)
	return nil
}

// actors counts the processes that play games, and those that cannot load a net by its own
// fault, with what one of these says. Actors whose disk is full say nothing against a net.
func (r *Run) actors(ctx context.Context, net string) (playing, failing int, why string, err error) {
	members, err := r.bus.Members(ctx)
	if err != nil {
		return 0, 0, "", err
	}
	for _, m := range members {
		if m.Role != "actor" && m.Role != "loop" {
			continue
		}
		playing++
		if m.FailedNet == net && !m.FailedHere {
			failing, why = failing+1, m.FailedWhy
		}
	}
	return playing, failing, why, nil
}

// fetchRate is how many bytes a second all actors together fetch of a new net, about.
const fetchRate = 64 << 20

// spread is the time, in seconds, over which the run's actors fetch a net of some size.
func (r *Run) spread(ctx context.Context, size int64) int {
	actors, _, _, err := r.actors(ctx, "")
	if err != nil {
		return 0
	}
	return fetchSpread(actors, size)
}

func fetchSpread(actors int, size int64) int {
	return int(min(nets.MaxSpread, int64(actors)*size/fetchRate))
}
