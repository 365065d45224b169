package book

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// Measurement plays games from a book, of a player against itself.
type Measurement struct {
	// NewPlayer makes one player; every goroutine makes two, which are closed
	// at the end if they are io.Closers.
	NewPlayer func() (game.Player, error)
	Game      game.Config
	// Games are played from as many openings of the book, drawn by Seed, all of them
	// different: a second one from an opening would say little or nothing.
	Games int
	Seed  uint64
	// Concurrency is the number of goroutines; 0 means 1.
	Concurrency int
}

// WhiteScore is what White scored in games played from a book.
type WhiteScore struct {
	Player  Player  `json:"player"` // against itself
	Games   int     `json:"games"`
	Wins    int     `json:"wins"` // White's
	Draws   int     `json:"draws"`
	Percent float64 `json:"percent"` // wins and half the draws
	Error   float64 `json:"error"`   // half the 95 % interval, percent
	Seed    uint64  `json:"seed"`    // of the choice of openings
}

// Run plays the games. Player is left for the caller to fill in. With searches
// that are the same whenever they are made the result depends on the book, the
// player, Game, Games and Seed alone.
func (m *Measurement) Run(ctx context.Context, b *Book) (WhiteScore, error) {
	entries, distinct := b.Shuffled(m.Seed)
	if m.Games < 1 || m.Games > distinct {
		return WhiteScore{}, fmt.Errorf("%w: %d games, expected 1 to %d, each from another opening of the book", ErrSettings, m.Games, distinct)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	outcomes := make([]chess.Outcome, m.Games)
	var workers sync.WaitGroup
	for range min(max(1, m.Concurrency), m.Games) {
		workers.Go(func() {
			err := m.play(ctx, func() (int, game.Opening, bool) {
				n := int(next.Add(1)) - 1
				if n >= m.Games {
					return 0, game.Opening{}, false
				}
				return n, entries[n].Opening, true
			}, outcomes)
			if err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return WhiteScore{}, context.Cause(ctx)
	}
	return tally(outcomes, m.Seed), nil
}

// play plays the games it draws until there are no more.
func (m *Measurement) play(ctx context.Context, draw func() (int, game.Opening, bool), outcomes []chess.Outcome) (err error) {
	var players [2]game.Player
	for c := range players {
		if players[c], err = m.NewPlayer(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closePlayer(players[c])) }()
	}
	for {
		n, opening, ok := draw()
		if !ok {
			return nil
		}
		g, err := game.Play(ctx, players[chess.White], players[chess.Black], opening, m.Game, rand.New(rand.NewPCG(m.Seed, uint64(n))))
		if err != nil {
			return fmt.Errorf("book: game from opening %s: %w", opening.ID, err)
		}
		outcomes[n] = g.Outcome
	}
}

// tally counts outcomes.
func tally(outcomes []chess.Outcome, seed uint64) WhiteScore {
	s := WhiteScore{Games: len(outcomes), Seed: seed}
	for _, o := range outcomes {
		switch o {
		case chess.WhiteWins:
			s.Wins++
		case chess.Draw:
			s.Draws++
		}
	}
	n, wins, draws := float64(s.Games), float64(s.Wins), float64(s.Draws)
	mean := (wins + draws/2) / n
	variance := (wins+draws/4)/n - mean*mean
	s.Percent, s.Error = round(100*mean), round(100*1.96*math.Sqrt(variance/n))
	return s
}

// round keeps two decimals.
func round(x float64) float64 { return math.Round(100*x) / 100 }
