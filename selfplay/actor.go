package selfplay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
)

const (
	publishRetry = 500 * time.Millisecond // after the bus refused a game
	spoolPause   = 200 * time.Millisecond // while the spool is full
)

// actor plays games with the newest net, each worker one game at a time, and
// keeps every finished one in the spool until the bus has it.
type actor struct {
	run   *Run
	nets  *follower
	spool *spool
	games *gameMaker
	limit uint64        // games to begin; 0: no limit
	begun atomic.Uint64 // games begun
}

func newActor(r *Run, nets *follower, waiting *spool, limit uint64) (*actor, error) {
	games, err := newGameMaker(r.cfg.Actor, r.variant, r.cfg.Seed, r.opt.Build, r.log)
	if err != nil {
		return nil, fmt.Errorf("actor: %w", err)
	}
	return &actor{run: r, nets: nets, spool: waiting, games: games, limit: limit}, nil
}

// play runs the workers until stop ends or the limit is reached. Games in
// progress when stop ends are played to their end; ending abort breaks them off.
func (a *actor) play(stop, abort context.Context) error {
	group, abort := errgroup.WithContext(abort)
	for w := range a.run.cfg.Actor.Workers {
		group.Go(func() error { return a.worker(stop, abort, w) })
	}
	err := group.Wait()
	a.run.status.set(roleActor, "stopped")
	return err
}

func (a *actor) worker(stop, abort context.Context, number int) error {
	var player *actorPlayer
	var playing *net
	defer func() {
		if player != nil {
			player.release()
		}
	}()
	for counter := uint64(0); stop.Err() == nil && a.take(); counter++ {
		if err := a.awaitRoom(stop); err != nil {
			return nil
		}
		if n := a.nets.current(); n != playing {
			next, err := a.run.style.player(n)
			if err != nil {
				return fmt.Errorf("actor: %w", err)
			}
			if player != nil {
				player.release()
			}
			player, playing = next, n
			a.run.status.update(func(s *Status) {
				if a.nets.current() == n { // else another worker is ahead with a newer one
					s.ActorGeneration = n.generation
				}
			})
		}
		g, err := a.games.play(abort, player, playing.ID, game.ID{
			Run: a.run.id(), Actor: localActor, Epoch: a.run.epoch, Worker: number, Counter: counter,
		})
		if err != nil {
			if abort.Err() != nil {
				return nil
			}
			return fmt.Errorf("actor: %w", err)
		}
		data, err := game.Encode(nil, g)
		if err != nil {
			return fmt.Errorf("actor: game %s: %w", g.ID, err)
		}
		if err := a.spool.add(g.ID, data); err != nil {
			return err
		}
		a.run.status.played(len(g.Plies))
	}
	return nil
}

// take counts a game against the limit.
func (a *actor) take() bool { return a.limit == 0 || a.begun.Add(1) <= a.limit }

// awaitRoom holds the actor back while the spool is full: then the bus refuses
// games, and playing more would only fill the disk.
func (a *actor) awaitRoom(stop context.Context) error {
	for a.spool.size() >= a.run.cfg.Actor.SpoolMaxGames {
		a.run.status.set(roleActor, "waiting for the bus: %d games spooled", a.spool.size())
		if !sleep(stop, spoolPause) {
			return stop.Err()
		}
	}
	a.run.status.set(roleActor, "playing %d games", a.run.cfg.Actor.Workers)
	return nil
}

// publish sends the spool's games to the bus, oldest first, until ctx ends. It
// returns nil when ctx ends; call drain for what is left then.
func (a *actor) publish(ctx context.Context) error {
	refused := false
	for {
		sent, err := a.publishOldest(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if !refused {
				a.run.log.Warn("the bus refuses games, they stay spooled", "error", err)
			}
			refused = true
			a.run.status.set(roleActor, "playing, but the bus refuses games: %d spooled", a.spool.size())
			sleep(ctx, publishRetry)
		case !sent:
			refused = false
			select {
			case <-ctx.Done():
			case <-a.spool.news():
			}
		}
	}
}

// drain publishes everything in the spool, or returns the error that stands in
// the way; the games stay spooled then.
func (a *actor) drain(ctx context.Context) error {
	for {
		if sent, err := a.publishOldest(ctx); err != nil || !sent {
			return err
		}
	}
}

// publishOldest sends the oldest spooled game; sent is false if there is none.
func (a *actor) publishOldest(ctx context.Context) (sent bool, err error) {
	defer func() { a.run.status.update(func(s *Status) { s.Spooled = a.spool.size() }) }()
	id, data, ok, err := a.spool.oldest()
	if err != nil || !ok {
		return false, err
	}
	// A duplicate was stored before a crash: it is acknowledged all the same.
	if _, err := a.run.bus.PublishGames(ctx, localActor, id, [][]byte{data}); err != nil {
		if !errors.Is(err, bus.ErrTooLarge) && !errors.Is(err, bus.ErrBundle) && !errors.Is(err, bus.ErrName) {
			return false, err
		}
		// No retry helps; the other games shall not wait for it.
		a.run.event("game set aside", "id", id, "dir", a.spool.dir, "reason", err.Error())
		return true, a.spool.setAside(id)
	}
	return true, a.spool.remove(id)
}

// localActor is the name of the loop's actor in the subjects and ids of games.
const localActor = "local"
