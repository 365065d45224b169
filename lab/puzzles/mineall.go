package puzzles

import (
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
)

// batch is how many games of every worker are mined before they are given on.
const batch = 8

// Mine mines games on several goroutines, each with a player of its own, and gives
// what it found to visit in the order of the games, on one goroutine. The games that
// are read when an error or ctx ends it are lost.
func Mine(ctx context.Context, s Settings, newPlayer func() (game.Player, error), workers int, games iter.Seq2[*game.Game, error], visit func([]Puzzle) error) error {
	if err := s.Validate(); err != nil {
		return err
	}
	players, err := open(newPlayer, workers)
	defer closeAll(players)
	if err != nil {
		return err
	}
	flush := func(list []*game.Game) error {
		found, errs := make([][]Puzzle, len(list)), make([]error, len(list))
		parallel.Do(workers, len(list), func(worker, i int) {
			m := Miner{Settings: s, Player: players[worker]}
			found[i], errs[i] = m.Game(ctx, list[i])
		})
		if err := cmp.Or(append(errs, ctx.Err())...); err != nil {
			return err
		}
		for _, puzzles := range found {
			if err := visit(puzzles); err != nil {
				return err
			}
		}
		return nil
	}
	var list []*game.Game
	for g, err := range games {
		if err != nil {
			return err
		}
		if list = append(list, g); len(list) == batch*workers {
			if err := flush(list); err != nil {
				return err
			}
			list = list[:0]
		}
	}
	return flush(list)
}

// open opens a player for every worker. Those opened before an error come back too.
func open(newPlayer func() (game.Player, error), workers int) ([]game.Player, error) {
	var players []game.Player
	for range workers {
		p, err := newPlayer()
		if err != nil {
			return players, err
		}
		players = append(players, p)
	}
	return players, nil
}

func closeAll(players []game.Player) {
	for _, p := range players {
		if c, ok := p.(io.Closer); ok {
			_ = c.Close() // it has answered all that it was asked
		}
	}
}
