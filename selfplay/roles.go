package selfplay

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const mirrorDir = "window" // in a trainer's directory: its copy of the games

// Actor plays games for the run until ctx ends, the limits are reached or the run's settings change, and then
// ends in order: games in progress are finished, and those in the spool given to the
// replay buffer. What cannot be given in time stays spooled for the next start. The error wraps
// ErrSettings if the settings have changed before a limit was reached.
func (r *Run) Actor(ctx context.Context, limits Limits) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	defer func() {
		if s := r.Status(); !limits.reached(&s, ofActors(&s)) {
			err = because(ctx, err)
		}
	}()
	err = r.withActor(ctx, limits, drainActor, nil, nil)
	s := r.Status()
	r.event("stopped", "role", r.opt.Role, "games", s.SessionGames, "spooled", s.Spooled)
	return err
}

// Trainer learns from the games of the run's replay buffer, wherever that is: it keeps
// a copy of the window in its own directory, and draws from that when it has all of it.
func (r *Run) Trainer(ctx context.Context, limits Limits) error {
	buffer, err := replay.Open(r.path(mirrorDir), replayOptions(r.variant, r.cfg.Replay, r.id()))
	if err != nil {
		return err
	}
	defer buffer.Close()
	mirror, err := replay.NewMirror(buffer, r.askWindow)
	if err != nil {
		return err
	}
	copied := new(copying)
	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	group, ctx := errgroup.WithContext(stop)
	group.Go(func() error { return r.mirror(ctx, mirror, copied) })
	group.Go(func() error { return r.trainerRole(ctx, buffer, copied) })
	group.Go(func() error { return r.keepPointers(ctx) })
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	group.Go(func() error { return r.showCurrent(ctx) })
	group.Go(func() error { return r.awaitLimits(ctx, stopped, limits, ofCurrent) })
	err = group.Wait()
	s := r.Status()
	r.event("stopped", "role", r.opt.Role, "steps", r.steps(&s), "generation", s.Candidate)
	return err
}

// showCurrent puts the net that the run plays with into the status of a process that plays no
// games itself, until ctx ends.
func (r *Run) showCurrent(ctx context.Context) error {
	changes, err := r.bus.WatchPointer(ctx, r.currentKey())
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	for p := range changes {
		record, err := nets.ParseRecord(p.Value)
		if err != nil { // those who play say so
			continue
		}
		generation := r.generation(ctx, record)
		r.status.update(func(s *Status) { s.Net, s.Generation = cmp.Or(record.Net, r.firstNet().ID), generation })
	}
	return nil
}
