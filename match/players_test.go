package match

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// answer is a scripted player: a function from the game so far to a move. It
// has no memory, so its games do not depend on those before.
type answer func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error)

func (answer) NewGame() error { return nil }

func (a answer) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	return a(ctx, line, lim)
}

// always makes a contestant of a player without memory.
func always(name string, a answer) Contestant {
	return Contestant{
		Name: name, Net: "net-of-" + name, Limits: search.Limits{Nodes: 1},
		New: func() (game.Player, error) { return a, nil },
	}
}

// random moves by chance, the same in the same game.
func random(seed uint64) answer {
	return func(_ context.Context, line *chess.Line, _ search.Limits) (search.Result, error) {
		rng := rand.New(rand.NewPCG(seed, line.Pos().Key()+uint64(line.Len())))
		var moves chess.MoveList
		line.Pos().Legal(&moves)
		return search.Result{Move: moves.Slice()[rng.IntN(moves.N)], Score: 12, Depth: 3, Nodes: 100}, nil
	}
}

// greedy mates if it can, else takes the most valuable piece, else moves by
// chance; far stronger than random.
func greedy(seed uint64) answer {
	chance := random(seed)
	return func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
		var moves chess.MoveList
		p := line.Pos()
		p.Legal(&moves)
		best, value := chess.NoMove, -1
		for _, m := range moves.Slice() {
			child := *p
			child.Make(m)
			switch {
			case child.InCheck() && !child.HasLegalMove():
				return search.Result{Move: m, Score: search.MateAfter(1)}, nil
			case p.IsCapture(m) && int(p.CapturedType(m)) > value:
				best, value = m, int(p.CapturedType(m))
			}
		}
		if best != chess.NoMove {
			return search.Result{Move: best, Score: 100}, nil
		}
		return chance(ctx, line, lim)
	}
}

var errCrash = errors.New("player crashed")

// crashing fails when asked for its nth move or a later one, as White only.
func crashing(n int) answer {
	play := random(3)
	return func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
		if line.Pos().SideToMove() == chess.White && line.Len() >= 2*n {
			return search.Result{}, errCrash
		}
		return play(ctx, line, lim)
	}
}

// cheating answers with a move that is not legal.
func cheating(context.Context, *chess.Line, search.Limits) (search.Result, error) {
	return search.Result{Move: chess.NewMove(chess.A1, chess.H8, chess.Normal)}, nil
}

// sleeping answers only when it is stopped, and then with a legal move.
func sleeping(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	<-ctx.Done()
	return random(1)(context.Background(), line, lim)
}
