package ab

import (
	"context"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// BenchDepth is the depth at which [Bench] takes a second or two with
// [Material].
const BenchDepth = 9

// benchPositions are openings, middlegames with full hands, attacks and endings
// of both games.
var benchPositions = []struct {
	variant *chess.Variant
	fen     string
}{
	{chess.Crazyhouse, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"},
	{chess.Crazyhouse, "rn2kb1r/4n3/pN2p3/3pB1p1/q2P4/K1P1PPP1/PP1n2PP/R4R2[BPPqbp] w - - 0 20"},
	{chess.Crazyhouse, "2r1kb1r/ppqpp2p/3pPp2/1B6/N1P5/P5Pb/2PBPP1P/R2QK2R[Pnnn] w KQk - 0 20"},
	{chess.Crazyhouse, "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20"},
	{chess.Crazyhouse, "r1bqkb1r/ppp2ppp/2n2n2/3pp3/4P3/2NP1N2/PPP2PPP/R1BQKB1R[] w KQkq - 0 5"},
	{chess.Crazyhouse, "r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10"},
	{chess.Crazyhouse, "r2qk2r/ppp2ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPP2PPP/R2QK2R[Pp] b KQkq - 0 7"},
	{chess.Crazyhouse, "4k3/1Q~6/8/8/4b3/8/Kpp5/8[RNBPPPPPPPnnbrrqppp] b - - 0 40"},
	{chess.Chess, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"},
	{chess.Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"},
	{chess.Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"},
	{chess.Chess, "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"},
}

// Bench searches a fixed list of crazyhouse and chess positions to a depth, in
// plies, with one thread and a fresh table, and returns the number of nodes
// visited. The number is a signature of the search: with the same evaluator it
// changes if and only if behaviour does. It returns early with the error of ctx.
func Bench(ctx context.Context, newEval func() Evaluator, depth int) (nodes uint64, err error) {
	e := New(newEval, Options{})
	for _, b := range benchPositions {
		p, err := chess.ParseFEN(b.variant, b.fen)
		if err != nil {
			return nodes, fmt.Errorf("ab: bench: %w", err)
		}
		if err := e.NewGame(); err != nil {
			return nodes, err
		}
		r, err := e.Search(ctx, chess.NewLine(p), search.Limits{Depth: depth})
		if err != nil {
			return nodes, fmt.Errorf("ab: bench: %w", err)
		}
		nodes += r.Nodes
		if err := ctx.Err(); err != nil {
			return nodes, err
		}
	}
	return nodes, nil
}
