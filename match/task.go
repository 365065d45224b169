package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// Task is a pair of a match that is to be played: all that its games follow from
// but the two players.
type Task struct {
	Number  int    // of the pair
	Players [2]int // A and B: indices of the match's players, from 0
	Opening game.Opening
	// Game holds the rules that games are ended by. Its Limits are not used.
	Game game.Config
	// Seed is the match's.
	Seed uint64
	// MoveTimeout is as in Config.
	MoveTimeout time.Duration
	// Build is written into the games.
	Build string
}

// Played is what came of a Task.
type Played struct {
	Pair  Pair
	Games [2]*game.Game // nil, both of them, if only the record came back
	// Searching is the time spent inside the players' searches.
	Searching time.Duration
}

// Bounds on the words of a record that comes from elsewhere, in bytes.
const (
	maxReasonText = 64
	maxErrorText  = 512
)

// Check returns an error unless p can be the record of the task as [Duel.Play]
// makes it. It is for records that come from elsewhere.
func (t *Task) Check(p *Pair) error {
	opening, err := OpeningText(t.Opening)
	if err != nil {
		return err
	}
	switch {
	case p.Number != t.Number:
		return fmt.Errorf("match: found pair %d, expected %d", p.Number, t.Number)
	case p.Players != t.Players:
		return fmt.Errorf("match: pair %d: found players %v, expected %v", t.Number, p.Players, t.Players)
	case p.Opening != opening:
		return fmt.Errorf("match: pair %d: found the opening %.200q, expected %q", t.Number, p.Opening, opening)
	}
	if err := p.check(MaxPlayers); err != nil {
		return fmt.Errorf("match: pair %d: %w", t.Number, err)
	}
	for i := range p.Games {
		if err := p.Games[i].checkBounds(); err != nil {
			return fmt.Errorf("match: pair %d: game %d: %w", t.Number, i, err)
		}
	}
	return nil
}

func (g *GameResult) checkBounds() error {
	switch {
	case g.Plies > game.MaxGamePlies:
		return fmt.Errorf("%d plies, expected at most %d", g.Plies, game.MaxGamePlies)
	case len(g.Reason) > maxReasonText:
		return fmt.Errorf("a reason of %d bytes, expected at most %d", len(g.Reason), maxReasonText)
	case len(g.Error) > maxErrorText:
		return fmt.Errorf("an error of %d bytes, expected at most %d", len(g.Error), maxErrorText)
	}
	return nil
}

// Duel plays tasks of two contestants, one at a time, and keeps their players
// from one to the next, as [Run] does.
type Duel struct{ sides [2]*instance }

// NewDuel returns a Duel of A and B. Their players are made when they are first
// needed.
func NewDuel(a, b Contestant) *Duel {
	return &Duel{[2]*instance{{contestant: &a}, {contestant: &b}}}
}

// Play plays a pair. A player that fails loses its game, which is part of the
// record. Errors: [ErrNoPlayer], [ErrCannotBegin], [game.ErrConfig], [game.ErrOpening], and
// that of the context.
func (d *Duel) Play(ctx context.Context, t Task) (Played, error) {
	played, err := playTask(ctx, &t, d.sides, func(GameEvent) {})
	for _, s := range d.sides {
		if s.contestant.Fresh {
			s.stop()
		}
	}
	return played, err
}

// Close closes the players. The Duel may play on, with new ones.
func (d *Duel) Close() {
	for _, s := range d.sides {
		s.stop()
	}
}

// playTask plays an opening twice, colours swapped, with the instances of A and B.
func playTask(ctx context.Context, t *Task, sides [2]*instance, announce func(GameEvent)) (Played, error) {
	text, err := OpeningText(t.Opening)
	if err != nil {
		return Played{}, fmt.Errorf("match: opening of pair %d: %w", t.Number, err)
	}
	for _, s := range sides {
		s.searched, s.timeout = 0, t.MoveTimeout
	}
	played := Played{Pair: Pair{Number: t.Number, Players: t.Players, Opening: text}}
	for i := range played.Games {
		for _, s := range sides {
			if err := s.startAgain(ctx); err != nil {
				return Played{}, err
			}
		}
		players := byColor(sides, i)
		event := GameEvent{Pair: t.Number, Game: i, White: players[chess.White].contestant.Name, Black: players[chess.Black].contestant.Name}
		announce(event)
		rng := rand.New(rand.NewPCG(t.Seed, uint64(2*t.Number+i)))
		began := time.Now()
		g, failed, err := playGame(ctx, players, t.Opening, t.Game, rng)
		if err != nil {
			return Played{}, fmt.Errorf("match: pair %d, game %d: %w", t.Number, i, err)
		}
		g.Began, g.Ended = began, time.Now()
		g.Seed, g.Build = t.Seed, t.Build
		played.Games[i] = g
		played.Pair.Games[i] = gameResult(g, len(t.Opening.Moves), sides, failed)
		event.Played, event.Failure = g, played.Pair.Games[i].Error
		announce(event)
	}
	played.Searching = sides[0].searched + sides[1].searched
	return played, nil
}
