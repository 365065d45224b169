package selfplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/trainer"
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
func (r *Run) Loop(ctx context.Context, limits Limits) (err error) {
	// The actor here plays by them, also while another process is the trainer.
	err = r.agree(ctx, func(ctx context.Context) error {
		_, err := r.listConfig(ctx, r.bus.SetPointer)
		return err
	})
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	in, err := openIngester(r)
	if err != nil {
		return err
	}
	defer in.close()
	unlock, err := r.lockGate()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r.divideCores()
	err = r.withActor(ctx, limits, drainAll, []role{
		func(ctx context.Context) error { return r.trainerRole(ctx, in.buffer, nil) },
		func(ctx context.Context) error { return r.refereeRole(ctx, r.cfg.Gate.Concurrency) },
		r.keepPointers,
	}, []role{
		func(ctx context.Context) error { return r.replayRole(ctx, in) },
	})
	in.show()
	r.showCurve()
	s := r.Status()
	r.event("stopped", "games", s.Games, "positions", s.Positions, "steps", r.steps(&s), "generation", s.Generation, "net", s.Net)
	return err
}

// steps are those trained by the end; a trainer that did not come to resume its checkpoint
// has not counted any.
func (r *Run) steps(s *Status) uint64 { return max(s.Step, trainer.NewestStep(r.path(trainDir))) }

// role works until ctx ends or it fails.
type role func(ctx context.Context) error

// withActor plays games until ctx ends, the limits are reached or a role fails, and then
// ends in order: games in progress are finished, and those in the spool stored, for which
// it takes at most the time drain. The roles beside the actor end before that, and those
// that store its games after it.
func (r *Run) withActor(ctx context.Context, limits Limits, drain time.Duration, beside, store []role) error {
	follow := newFollower(r)
	var act *actor
	err := r.patiently(ctx, func(ctx context.Context) (err error) {
		act, err = newActor(ctx, r, follow, limits.Games)
		return err
	})
	if err != nil {
		return unlessInterrupted(ctx, err)
	}
	defer act.close()
	if err := act.sender.checkKey(ctx); err != nil {
		return fmt.Errorf("actor: %w", err)
	}
	if err := unlessInterrupted(ctx, r.patiently(ctx, follow.sync)); err != nil {
		return err
	}
	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	carry, carried := context.WithCancel(context.WithoutCancel(ctx)) // outlives stop
	defer carried()
	start := func(group *errgroup.Group, ctx context.Context, roles ...role) {
		for _, work := range roles {
			group.Go(func() error { return work(ctx) })
		}
	}
	storing, storeFailed := errgroup.WithContext(carry)
	context.AfterFunc(storeFailed, stopped)
	start(storing, storeFailed, act.sender.publish, act.sender.confirm)
	start(storing, storeFailed, func(ctx context.Context) error { return r.announce(ctx, act.identity.Name) })
	start(storing, storeFailed, store...)

	playing, failed := errgroup.WithContext(stop)
	context.AfterFunc(failed, func() { r.log.Info("stopping: finishing games, then storing them") })
	start(playing, failed, func(ctx context.Context) error {
		defer stopped() // the limit of games was reached
		return act.play(ctx, finishing(carry, ctx))
	})
	start(playing, failed, follow.follow, func(ctx context.Context) error { return r.awaitLimits(ctx, stopped, limits, ofActors) })
	start(playing, failed, beside...)

	err = playing.Wait()
	refused := act.finish(ctx, drain)
	carried()
	return errors.Join(err, cmp.Or(storing.Wait(), refused))
}

// finish has what is spooled stored when the actor ends, within some time. What is not
// is no loss: the next start publishes it. The error wraps errOtherKey.
func (a *actor) finish(ctx context.Context, within time.Duration) (refused error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	if left := a.spool.size(); left > 0 {
		a.run.status.set(roleActor, "waiting for the replay buffer: %s spooled", words.Count(left, "game", "games"))
	}
	if err := a.sender.drain(ctx); err != nil {
		a.run.event("games stay in the spool, the next start publishes them", "games", a.spool.size(), "dir", a.spool.dir, "error", err.Error())
		if errors.Is(err, errOtherKey) {
			refused = err
		}
	}
	a.run.status.set(roleActor, "stopped")
	return refused
}

// finishing returns a context that ends finishGames after stop does, or with
// parent.
func finishing(parent, stop context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	context.AfterFunc(stop, func() {
		pause.For(parent, finishGames)
		cancel()
	})
	return ctx
}

// awaitLimits calls stop when a limit is reached; generation says of which net that is. The
// actor begins no more games than its limit by itself.
func (r *Run) awaitLimits(ctx context.Context, stop func(), limits Limits, generation func(*Status) int) error {
	for pause.For(ctx, r.wait(limitsEvery)) {
		if s := r.Status(); limits.reached(&s, generation(&s)) {
			stop()
		}
	}
	return nil
}

// ofActors and ofCurrent are generations that a limit may be about.
func ofActors(s *Status) int  { return s.ActorGeneration }
func ofCurrent(s *Status) int { return s.Generation }

// openIngester opens the replay buffer of the run's directory.
func openIngester(r *Run) (*ingester, error) {
	buffer, err := openBuffer(r)
	if err != nil {
		return nil, err
	}
	in := &ingester{run: r, stream: r.bus, buffer: buffer, began: buffer.Stats()}
	if r.signed() {
		if in.keys, err = openActorKeys(filepath.Join(r.path(replayDir), actorKeysFile)); err != nil {
			return nil, errors.Join(err, buffer.Close())
		}
		in.limits = newActorLimits(r.cfg.Replay)
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

// trainerRole trains on the buffer, as long as no other process does. Copied says how far
// the buffer is if it is a copy, and is nil if not.
func (r *Run) trainerRole(ctx context.Context, buffer *replay.Buffer, copied *copying) error {
	return r.exclusive(ctx, roleTrainer, trainerLease, "", nil, []string{r.candidateKey(), configKey, settingsKey}, func(ctx context.Context, l *bus.Lease) error {
		r.status.set(roleTrainer, "taking over")
		// While it has the lease this process alone says what the run's settings are.
		err := r.agree(ctx, func(ctx context.Context) error {
			if err := r.size(ctx); err != nil {
				return err
			}
			return r.lead(ctx, l.SetPointer)
		})
		if err != nil {
			return err
		}
		learn, err := newLearner(r, buffer, l.SetPointer)
		if err == nil {
			learn.copied = copied
			err = learn.catchUp(ctx)
		}
		if err != nil {
			return err
		}
		stop, err := r.bus.Serve(publishedService, func(request []byte) ([]byte, error) { return learn.offered.answer(r.id(), r.key, request) })
		if err != nil {
			return err
		}
		defer stop()
		return learn.learn(ctx)
	})
}
