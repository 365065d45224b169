package selfplay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const (
	finishGames = 20 * time.Second // for the games in progress when actors are asked to stop
	drainAll    = 90 * time.Second // for what is spooled in a loop then; a lost delivery comes again after a minute
	drainActor  = 20 * time.Second // and by an actor elsewhere, which may find no replay role
	limitsEvery = 100 * time.Millisecond
)

// Loop runs every role until ctx ends or a limit is reached, and then ends in
// order: games in progress are finished, the spool is emptied into the replay
// buffer, and the trainer writes a checkpoint. An error of any role ends the others.
func (r *Run) Loop(ctx context.Context, limits Limits) error {
	in, err := openIngester(r)
	if err != nil {
		return err
	}
	defer in.close()
	follow := newFollower(r)
	if err := follow.sync(ctx); err != nil {
		return err
	}
	act, err := newActor(r, follow, limits.Games)
	if err != nil {
		return err
	}
	defer act.close()

	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	// The roles that store what the actors made outlive stop.
	carry, carried := context.WithCancel(context.WithoutCancel(ctx))
	defer carried()
	carrying, carryFailed := errgroup.WithContext(carry)
	context.AfterFunc(carryFailed, stopped)
	carrying.Go(func() error { return act.sender.publish(carryFailed) })
	carrying.Go(func() error { return act.sender.confirm(carryFailed) })
	carrying.Go(func() error { return in.run.replayRole(carryFailed, in) })
	carrying.Go(func() error { return r.announce(carryFailed, act.identity.Name) })

	group, failed := errgroup.WithContext(stop)
	context.AfterFunc(failed, stopped)
	group.Go(func() error {
		defer stopped() // the limit of games was reached
		return act.play(failed, finishing(carry, failed))
	})
	context.AfterFunc(failed, func() { r.log.Info("stopping: finishing games, then storing them") })
	group.Go(func() error { return follow.follow(failed) })
	group.Go(func() error { return r.trainerRole(failed, in.buffer) })
	group.Go(func() error { return r.refereeRole(failed, r.cfg.Gate.Concurrency) })
	group.Go(func() error { return r.keepPointers(failed) })
	group.Go(func() error { return r.awaitLimits(failed, stopped, limits) })

	err = errors.Join(group.Wait(), act.finish(ctx, drainAll))
	carried()
	err = errors.Join(err, carrying.Wait())
	in.show()
	s := r.Status()
	r.event("stopped", "games", s.Games, "positions", s.Positions, "steps", s.Step, "generation", s.Generation, "net", s.Net)
	return err
}

// finish has what is spooled stored when the actor ends, within some time.
func (a *actor) finish(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	if err := a.sender.drain(ctx); err != nil {
		return fmt.Errorf("%d games stay spooled: %w", a.spool.size(), err)
	}
	return nil
}

// finishing returns a context that ends finishGames after stop does, or with
// parent.
func finishing(parent, stop context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	context.AfterFunc(stop, func() {
		sleep(parent, finishGames)
		cancel()
	})
	return ctx
}

// awaitLimits calls stop when a limit of time or generation is reached. The
// actor counts games itself.
func (r *Run) awaitLimits(ctx context.Context, stop func(), limits Limits) error {
	for sleep(ctx, limitsEvery) {
		s := r.Status()
		if limits.For > 0 && s.Elapsed >= limits.For || limits.Generation > 0 && s.ActorGeneration >= limits.Generation {
			stop()
		}
	}
	return nil
}

// openIngester opens the replay buffer of the run's directory.
func openIngester(r *Run) (*ingester, error) {
	buffer, err := openBuffer(r)
	if err != nil {
		return nil, err
	}
	in := &ingester{run: r, stream: r.bus, buffer: buffer}
	if r.reachable() {
		if in.keys, err = openActorKeys(filepath.Join(r.path(replayDir), actorKeysFile)); err != nil {
			return nil, errors.Join(err, buffer.Close())
		}
	}
	in.reportDamage()
	in.show()
	return in, nil
}

func (in *ingester) close() error { return in.buffer.Close() }

func openBuffer(r *Run) (*replay.Buffer, error) {
	return replay.Open(r.path(replayDir), replayOptions(r.variant, r.cfg.Replay, r.id()))
}

func replayOptions(v *chess.Variant, c configs.Replay, run string) replay.Options {
	return replay.Options{
		Run:          run,
		Variant:      v,
		MaxBytes:     c.MaxBytes,
		SegmentBytes: c.SegmentBytes,
		Window:       replay.WindowRule{Min: c.WindowMin, Exponent: c.WindowExponent, Slope: c.WindowSlope},
	}
}

// replayRole stores the games of all actors and answers for them, as long as no other
// process does.
func (r *Run) replayRole(ctx context.Context, in *ingester) error {
	return r.exclusive(ctx, roleReplay, replayLease, in.buffer.ID(), nil, func(ctx context.Context, _ *bus.Lease) error {
		stop, err := in.serve()
		if err != nil {
			return err
		}
		defer stop()
		return in.ingest(ctx)
	})
}

// trainerRole trains on the buffer, as long as no other process does.
func (r *Run) trainerRole(ctx context.Context, buffer *replay.Buffer) error {
	return r.exclusive(ctx, roleTrainer, trainerLease, "", []string{r.candidateKey()}, func(ctx context.Context, l *bus.Lease) error {
		learn, err := newLearner(r, buffer, l.SetPointer)
		if err == nil {
			err = learn.catchUp(ctx)
		}
		if err != nil {
			return err
		}
		return learn.learn(ctx)
	})
}
