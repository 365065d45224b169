package selfplay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/search"
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
	book  []book.Entry  // positions that a share of the games begins from; empty if there are none
	limit uint64        // games to begin; 0: no limit
	begun atomic.Uint64 // games begun
}

func newActor(r *Run, nets *follower, waiting *spool, limit uint64) (*actor, error) {
	a := &actor{run: r, nets: nets, spool: waiting, limit: limit}
	if r.cfg.Actor.BookShare > 0 && book.HasDefault(r.variant) {
		b, _, err := book.Default(r.variant)
		if err != nil {
			return nil, fmt.Errorf("actor: %w", err)
		}
		a.book = b.Entries
	}
	return a, nil
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
		g, err := a.playOne(abort, player, playing, number, counter)
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

// playOne plays one game. Its seed, and so with one worker every byte of it,
// follows from the run's seed, the start of the run, the worker and the
// counter.
func (a *actor) playOne(ctx context.Context, player *actorPlayer, n *net, worker int, counter uint64) (*game.Game, error) {
	c := a.run.cfg.Actor
	seed := mix(a.run.cfg.Seed, uint64(a.run.epoch), uint64(worker), counter)
	rng := rand.New(rand.NewPCG(seed, 0))
	player.seed(seed)
	opening, err := a.opening(ctx, player, rng)
	if err != nil {
		return nil, err
	}
	g, err := game.Play(ctx, player, player, opening, game.Config{
		Limits:            game.Both(search.Limits{Nodes: c.Nodes}),
		MaxPlies:          c.MaxPlies,
		WinScore:          search.Score(c.WinScore),
		WinPlies:          c.WinPlies,
		NoAdjudicateShare: c.PlayOutShare,
		Noise:             game.Noise{Plies: c.RandomPlies, Prob: c.RandomProb},
	}, rng)
	if err != nil {
		return nil, err
	}
	g.ID = fmt.Sprintf("%s-%d-%d-%06d", a.run.id(), a.run.epoch, worker, counter)
	g.Seed, g.Nets, g.Build = seed, [2]string{n.ID, n.ID}, a.run.opt.Build
	return g, nil
}

// bookPlies is how many random plies at most follow a position of the book, so that
// games which begin with it differ.
const bookPlies = 2

// opening draws the opening of a game: a random one from the start of the variant,
// or from a position of the book.
func (a *actor) opening(ctx context.Context, player *actorPlayer, rng *rand.Rand) (game.Opening, error) {
	c := a.run.cfg.Actor
	start, shortest, longest := a.run.variant.Start(), c.OpeningMin, c.OpeningMax
	if len(a.book) > 0 && rng.Float64() < c.BookShare {
		start, shortest, longest = a.book[rng.IntN(len(a.book))].Start, 1, bookPlies
	}
	opening, err := game.RandomOpening(start, rng, shortest, longest, balanced(ctx, player, c))
	if errors.Is(err, game.ErrOpening) { // a net that thinks every opening is lost must not end the run
		a.run.log.Warn("no balanced opening found, playing an unbalanced one", "limit", c.OpeningScore, "error", err)
		opening, err = game.RandomOpening(start, rng, shortest, longest, nil)
	}
	return opening, err
}

// balanced accepts the openings that a search finds within the configured score.
func balanced(ctx context.Context, player game.Player, c configs.Actor) func(*chess.Line) (bool, error) {
	return func(line *chess.Line) (bool, error) {
		if err := player.NewGame(); err != nil {
			return false, err
		}
		r, err := player.Search(ctx, line, search.Limits{Nodes: c.Nodes})
		return max(r.Score, -r.Score) <= search.Score(c.OpeningScore), err
	}
}

// mix folds values into one seed.
func mix(values ...uint64) uint64 {
	h := uint64(0)
	for _, v := range values {
		h = splitmix.Hash(h + v)
	}
	return h
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
		case errors.Is(err, bus.ErrTooLarge) || errors.Is(err, bus.ErrName):
			return err // a bug: no retry helps
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
	if _, err := a.run.bus.PublishGame(ctx, actorName, id, data); err != nil {
		return false, err
	}
	return true, a.spool.remove(id)
}

// actorName is the part of a game's subject that says who played it.
const actorName = "local"
