package selfplay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const (
	finishGames = 20 * time.Second // for the games in progress when the loop is asked to stop
	drainAll    = 90 * time.Second // for what is spooled and on the bus then; a lost delivery comes again after a minute
	limitsEvery = 100 * time.Millisecond
)

// Loop runs every role until ctx ends or a limit is reached, and then ends in
// order: games in progress are finished, the spool and the bus are emptied
// into the replay buffer, and the trainer writes a checkpoint. An error of any
// role ends the others.
func (r *Run) Loop(ctx context.Context, limits Limits) error {
	buffer, err := openBuffer(r)
	if err != nil {
		return err
	}
	defer buffer.Close()
	in := &ingester{run: r, stream: r.bus, buffer: buffer}
	in.show()
	waiting, err := openSpool(r.path(spoolDir))
	if err != nil {
		return err
	}
	learn, err := newLearner(r, buffer)
	if err != nil {
		return err
	}
	follow := newFollower(r)
	if err := follow.sync(ctx); err != nil {
		return err
	}
	act, err := newActor(r, follow, waiting, limits.Games)
	if err != nil {
		return err
	}

	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	// The roles that empty what the actors made outlive stop.
	carry, carried := context.WithCancel(context.WithoutCancel(ctx))
	defer carried()
	group, failed := errgroup.WithContext(stop)
	context.AfterFunc(failed, stopped)

	group.Go(func() error {
		defer stopped() // the limit of games was reached
		return act.play(failed, finishing(carry, failed))
	})
	context.AfterFunc(failed, func() { r.log.Info("stopping: finishing games, then storing them") })
	group.Go(func() error { return follow.follow(failed) })
	group.Go(func() error { return learn.learn(failed) })
	group.Go(func() error { return newReferee(r).judgeAll(failed) })
	group.Go(func() error { return r.awaitLimits(failed, stopped, limits) })
	carrying, carryFailed := errgroup.WithContext(carry)
	context.AfterFunc(carryFailed, stopped)
	carrying.Go(func() error { return act.publish(carryFailed) })
	carrying.Go(func() error { return in.ingest(carryFailed) })

	err = group.Wait()
	carried()
	err = errors.Join(err, carrying.Wait())
	err = errors.Join(err, r.drain(ctx, act, in))
	s := r.Status()
	r.event("stopped", "games", s.Games, "positions", s.Positions, "steps", s.Step, "generation", s.Generation, "net", s.Net)
	return err
}

// drain empties the spool and the bus into the buffer.
func (r *Run) drain(ctx context.Context, act *actor, in *ingester) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainAll)
	defer cancel()
	if err := act.drain(ctx); err != nil {
		return fmt.Errorf("%d games stay spooled: %w", act.spool.size(), err)
	}
	if err := in.drain(ctx); err != nil {
		return fmt.Errorf("games stay on the bus: %w", err)
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

func openBuffer(r *Run) (*replay.Buffer, error) {
	o := replayOptions(r.variant, r.cfg.Replay)
	o.Run = r.id()
	b, err := replay.Open(r.path(replayDir), o)
	if err != nil {
		return nil, err
	}
	for _, d := range b.Damage() {
		r.log.Warn("replay buffer damaged", "what", d.String())
	}
	return b, nil
}

func replayOptions(v *chess.Variant, c configs.Replay) replay.Options {
	return replay.Options{
		Variant:      v,
		MaxBytes:     c.MaxBytes,
		SegmentBytes: c.SegmentBytes,
		Window:       replay.WindowRule{Min: c.WindowMin, Exponent: c.WindowExponent, Slope: c.WindowSlope},
	}
}
