package mcts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// BenchDepth is the depth at which [Bench] takes about a second.
const BenchDepth = 11

// benchPositions are an opening, middlegames with full hands, an attack and an
// ending.
var benchPositions = []struct {
	variant *chess.Variant
	fen     string
}{
	{chess.Crazyhouse, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"},
	{chess.Crazyhouse, "rn2kb1r/4n3/pN2p3/3pB1p1/q2P4/K1P1PPP1/PP1n2PP/R4R2[BPPqbp] w - - 0 20"},
	{chess.Crazyhouse, "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20"},
	{chess.Crazyhouse, "r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10"},
	{chess.Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"},
	{chess.Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"},
}

// Bench searches a fixed list of positions for 2^depth playouts each, with an
// evaluator that takes hardly any time, and returns how many evaluations it was
// asked for. The number is a signature of the search: it changes, but for chance,
// if and only if behaviour does. It returns early with the error of ctx.
func Bench(ctx context.Context, depth int) (evaluations uint64, err error) {
	var eval scatter
	e, err := New(&eval, DefaultOptions())
	if err != nil {
		return 0, err
	}
	for _, b := range benchPositions {
		p, err := chess.ParseFEN(b.variant, b.fen)
		if err != nil {
			return eval.count, fmt.Errorf("mcts: bench: %w", err)
		}
		if err := e.NewGame(); err != nil {
			return eval.count, err
		}
		if _, err := e.Search(ctx, chess.NewLine(p), search.Limits{Depth: depth}); err != nil {
			return eval.count, fmt.Errorf("mcts: bench: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return eval.count, err
		}
	}
	return eval.count, nil
}

// scatter is an evaluator whose answers are pseudo-random and depend on the
// position's key alone, so that they are the same whichever way it was reached.
type scatter struct{ count uint64 }

// Evaluate implements Evaluator.
func (s *scatter) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.count += uint64(len(leaves))
	for i := range leaves {
		l := &leaves[i]
		var rng rand.PCG
		rng.Seed(l.Pos.Key(), 1)
		uniform := func() float32 { return float32(rng.Uint64()>>40) / (1 << 24) }
		l.Value, l.Draw, l.PliesLeft = 1.6*uniform()-0.8, 0, 0
		l.Priors = slices.Grow(l.Priors[:0], len(l.Moves))[:len(l.Moves)]
		sum := float32(0)
		for j := range l.Priors {
			u := uniform()
			l.Priors[j] = u*u*u*u + 1e-3
			sum += l.Priors[j]
		}
		for j := range l.Priors {
			l.Priors[j] /= sum
		}
	}
	return nil
}
