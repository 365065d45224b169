package selfplay

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/replay"
)

const mirrorDir = "window" // in a trainer's directory: its copy of the games

// Actor plays games for the run until ctx ends, the limits are reached or the run's settings change, and then
// ends in order: games in progress are finished, and those in the spool given to the
// replay buffer. What cannot be given in time stays spooled for the next start.
func (r *Run) Actor(ctx context.Context, limits Limits) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil {
		return err
	}
	defer func() { err = because(ctx, err) }()
	follow := newFollower(r)
	act, err := newActor(r, follow, limits.Games)
	if err != nil {
		return err
	}
	defer act.close()
	if err := follow.sync(ctx); err != nil {
		return err
	}
	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	carry, carried := context.WithCancel(context.WithoutCancel(ctx))
	defer carried()
	carrying, carryFailed := errgroup.WithContext(carry)
	context.AfterFunc(carryFailed, stopped)
	carrying.Go(func() error { return act.sender.publish(carryFailed) })
	carrying.Go(func() error { return act.sender.confirm(carryFailed) })
	carrying.Go(func() error { return r.announce(carryFailed, act.identity.Name) })
	group, failed := errgroup.WithContext(stop)
	group.Go(func() error {
		defer stopped()
		return act.play(failed, finishing(carry, failed))
	})
	group.Go(func() error { return follow.follow(failed) })
	group.Go(func() error { return r.awaitLimits(failed, stopped, limits) })
	err = errors.Join(group.Wait(), act.finish(ctx, drainActor))
	carried()
	err = errors.Join(err, carrying.Wait())
	r.event("stopped", "role", r.opt.Role, "games", r.Status().SessionGames, "spooled", act.spool.size())
	return err
}

// Replay keeps the run's games in the replay buffer of the directory until ctx ends.
func (r *Run) Replay(ctx context.Context) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil {
		return err
	}
	defer func() { err = because(ctx, err) }()
	in, err := openIngester(r)
	if err != nil {
		return err
	}
	defer in.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.replayRole(ctx, in) })
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	err = group.Wait()
	s := r.Status()
	r.event("stopped", "role", r.opt.Role, "games", s.Games, "positions", s.Positions)
	return err
}

// Trainer learns from the games of the run's replay buffer, wherever that is: it keeps
// a copy of the window in its own directory, and draws from that.
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
	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	group, ctx := errgroup.WithContext(stop)
	group.Go(func() error { return r.mirror(ctx, mirror) })
	group.Go(func() error { return r.trainerRole(ctx, buffer) })
	group.Go(func() error { return r.keepPointers(ctx) })
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	group.Go(func() error { return r.awaitLimits(ctx, stopped, limits) })
	err = group.Wait()
	s := r.Status()
	r.event("stopped", "role", r.opt.Role, "steps", s.Step, "generation", s.Candidate)
	return err
}
