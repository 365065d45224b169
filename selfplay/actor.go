package selfplay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	spoolPause = 200 * time.Millisecond // while the spool is full
	spoolRetry = time.Second            // after its disk took nothing

	// A worker spools games that take less than quickGame together: once spoolEvery has
	// passed, or as many as spooledTogether.
	quickGame       = 50 * time.Millisecond
	spoolEvery      = 200 * time.Millisecond
	spooledTogether = 64
)

// actor plays games with the newest net, each worker one game at a time, and
// keeps every finished one in the spool until the replay buffer has it on disk.
type actor struct {
	run      *Run
	identity actorIdentity
	nets     *follower
	older    *olderNets
	spool    *spool
	sender   *publisher
	games    *gameMaker
	limit    uint64        // games to begin; 0: no limit
	begun    atomic.Uint64 // games begun
	finished atomic.Int64  // games finished that are not in the spool yet
}

// newActor opens the actor in the run's directory. Where others are on the bus, it
// signs its games.
func newActor(ctx context.Context, r *Run, nets *follower, limit uint64) (*actor, error) {
	b, err := r.openingBook(ctx, r.cfg.Actor.Book)
	if err != nil {
		return nil, fmt.Errorf("actor: %w", err)
	}
	games := newGameMaker(r.cfg.Actor, r.variant, b, r.cfg.Seed, r.opt.Build, r.log)
	games.cores = r.cores
	games.boards = &r.boards
	a := &actor{run: r, nets: nets, older: newOlderNets(r), games: games, limit: limit}
	if a.spool, err = openSpool(r.path(spoolDir)); err != nil {
		return nil, err
	}
	name, starts := r.cfg.Actor.Name, r.identity.Starts
	switch {
	case r.begun:
		name = cmp.Or(name, localActor)
	case name != "": // an actor that has lost its file may have had it
		starts = unusedStarts()
	}
	if a.identity, err = openActor(r.dir, r.id(), name, starts); err != nil {
		return nil, errors.Join(fmt.Errorf("actor: %w", err), a.spool.close())
	}
	a.sender = &publisher{run: r, spool: a.spool, actor: a.identity.Name}
	if r.signed() {
		a.sender.key = a.identity.key()
	}
	return a, nil
}

// close gives the actor's directory back.
func (a *actor) close() error { return a.spool.close() }

// play runs the workers until stop ends or the limit is reached. Games in
// progress when stop ends are played to their end; ending abort breaks them off.
func (a *actor) play(stop, abort context.Context) error {
	a.awaitGivenNet(stop)
	group, abort := errgroup.WithContext(abort)
	for w := range a.run.cfg.Actor.Workers {
		group.Go(func() error { return a.worker(stop, abort, w) })
	}
	err := group.Wait()
	a.run.status.set(roleActor, "stopped")
	return err
}

// awaitGivenNet waits until the net that the run is to begin with plays, or the gate has
// refused it, if its trainer is in this process: games by what plays without a net would
// teach it worse play than its own.
func (a *actor) awaitGivenNet(stop context.Context) {
	for a.run.cfg.Train.Init != "" && a.nets.current().generation == 0 && stop.Err() == nil {
		judged, err := a.run.readRecord(stop, a.run.judgedKey())
		if err == nil && judged != nil {
			var current *nets.Record
			if current, err = a.run.readRecord(stop, a.run.currentKey()); err == nil && (current == nil || current.Net == "") {
				return
			}
		}
		if err != nil {
			a.run.status.set(roleActor, "waiting for the bus: %v", err)
		} else {
			a.run.status.set(roleActor, "waiting for the gate to judge the net of train.init")
		}
		pause.For(stop, a.run.wait(learnerPause))
	}
}

func (a *actor) worker(stop, abort context.Context, number int) (err error) {
	var done []encodedGame // not yet in the spool
	defer func() { err = errors.Join(err, a.keep(abort, done)) }()
	kept, took := time.Now(), time.Duration(0)
	var playing, opponent keptPlayer
	defer playing.leave()
	defer opponent.leave()
	for counter := uint64(0); stop.Err() == nil && a.take(); counter++ {
		// Quick games are spooled together, as the syncs cost more than some games.
		if took > quickGame || time.Since(kept) > spoolEvery || len(done) == spooledTogether || a.room() <= 0 {
			games := done
			done, kept = nil, time.Now()
			if err := a.keep(abort, games); err != nil {
				return err
			}
		}
		if err := a.awaitRoom(stop); err != nil {
			return nil
		}
		if n := a.nets.current(); n != playing.net {
			if err := playing.take(a.run.style, n); err != nil {
				return fmt.Errorf("actor: %w", err)
			}
			a.run.status.update(func(s *Status) {
				if a.nets.current() == n { // else another worker is ahead with a newer one
					s.ActorGeneration, s.Nodes = n.generation, a.grownNodes(n)
				}
			})
		}
		id := game.ID{Run: a.run.id(), Actor: a.identity.Name, Epoch: a.identity.epoch(), Worker: number, Counter: counter}
		pair, err := a.pair(abort, id, &playing, &opponent)
		if err != nil {
			return fmt.Errorf("actor: %w", err)
		}
		begun := time.Now()
		g, err := a.games.play(abort, pair, id)
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
		done = append(done, encodedGame{g.ID, data, len(g.Plies)})
		a.finished.Add(1)
		took = time.Since(begun)
	}
	return nil
}

// spoolTakesNone begins what an actor says while its disk takes no game.
const spoolTakesNone = "waiting: the spool takes no game"

// keep stores finished games in the spool. While the disk takes nothing, since it is full
// for instance, the worker waits with them until abort ends.
func (a *actor) keep(abort context.Context, games []encodedGame) error {
	if len(games) == 0 {
		return nil
	}
	for said := false; ; said = true {
		err := a.spool.add(games...)
		if errors.Is(err, errGameID) {
			return err
		}
		if err == nil {
			a.finished.Add(-int64(len(games)))
			for _, g := range games {
				a.run.status.played(g.plies)
			}
			return nil
		}
		if !said {
			a.run.event("finished games cannot be spooled, waiting with them until the disk takes them", "games", len(games), "first", games[0].id, "dir", a.spool.dir, "error", err.Error())
		}
		a.run.status.set(roleActor, spoolTakesNone+": %v", err)
		if !pause.For(abort, a.run.wait(spoolRetry)) {
			return err
		}
	}
}

// pair says who plays the game with the given id: playing alone, or against opponent,
// which then has an older net.
func (a *actor) pair(ctx context.Context, id game.ID, playing, opponent *keptPlayer) (pairing, error) {
	pair := alone(playing.player, playing.net)
	side, number, wanted := olderSide(a.run.cfg.Actor, a.run.cfg.Seed, id)
	if !wanted {
		return pair, nil
	}
	n := a.older.pick(ctx, playing.net, number)
	if n == nil {
		return pair, nil
	}
	if err := opponent.take(a.run.style, n); err != nil {
		return pair, err
	}
	return against(playing.player, playing.net, opponent.player, n, side), nil
}

// take counts a game against the limit.
func (a *actor) take() bool { return a.limit == 0 || a.begun.Add(1) <= a.limit }

// room is how many games more may be finished before the spool is full.
func (a *actor) room() int {
	return a.run.cfg.Actor.SpoolMaxGames - a.spool.size() - int(a.finished.Load())
}

// awaitRoom holds the actor back while the spool is full: then games do not get to the
// replay buffer, and playing more would only fill the disk.
func (a *actor) awaitRoom(stop context.Context) error {
	for a.room() <= 0 {
		a.run.status.set(roleActor, "waiting for the replay buffer: %s spooled", words.Count(a.spool.size(), "game", "games"))
		if !pause.For(stop, a.run.wait(spoolPause)) {
			return stop.Err()
		}
	}
	state := "playing " + words.Count(a.run.cfg.Actor.Workers, "game", "games")
	if nodes := a.grownNodes(a.nets.current()); nodes > 0 {
		state += fmt.Sprintf(" by %d nodes a move", nodes)
	}
	a.run.status.set(roleActor, "%s", state)
	return nil
}

// grownNodes returns the nodes a move of games with a net, 0 if they are the same with
// every net.
func (a *actor) grownNodes(n *net) uint64 {
	c := a.run.cfg.Actor
	if c.NodesGrowth == "" {
		return 0
	}
	return c.NodesAt(n.games)
}
