package ab

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func newMaterial() Evaluator { return NewMaterial() }

func mustFEN(t testing.TB, v *chess.Variant, fen string) chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(v, fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustLine returns the line of the moves, in UCI, from a position.
func mustLine(t testing.TB, v *chess.Variant, fen, moves string) *chess.Line {
	t.Helper()
	l := chess.NewLine(mustFEN(t, v, fen))
	for _, s := range strings.Fields(moves) {
		m, err := l.Pos().ParseUCI(s)
		if err != nil {
			t.Fatal(err)
		}
		l.Push(m)
	}
	return l
}

// mustSearch searches and checks what holds of every result.
func mustSearch(t testing.TB, e *Engine, l *chess.Line, lim search.Limits) search.Result {
	t.Helper()
	r, err := e.Search(context.Background(), l, lim)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
	return r
}

// checkResult checks that the moves of a result are legal and agree.
func checkResult(t testing.TB, l *chess.Line, r search.Result) {
	t.Helper()
	if len(r.PV) == 0 || r.PV[0] != r.Move {
		t.Errorf("%s: move %v does not begin the line %v", l.Pos().FEN(), r.Move, r.PV)
		return
	}
	checkPV(t, l, r.PV)
	if r.Ponder != chess.NoMove {
		child := *l.Pos()
		child.Make(r.Move)
		if !child.IsLegal(r.Ponder) {
			t.Errorf("%s: reply %v to %v is not legal", l.Pos().FEN(), r.Ponder, r.Move)
		}
	}
	if r.Score < -search.MateScore || r.Score > search.MateScore {
		t.Errorf("%s: score %d out of range", l.Pos().FEN(), int(r.Score))
	}
}

func checkPV(t testing.TB, l *chess.Line, pv []chess.Move) {
	t.Helper()
	p := *l.Pos()
	for i, m := range pv {
		if !p.IsLegal(m) {
			t.Errorf("%s: move %d of the line %v is not legal", l.Pos().FEN(), i, pv)
			return
		}
		p.Make(m)
	}
}

// walk calls visit for positions of random games of both variants.
func walk(t testing.TB, seed uint64, games int, visit func(p *chess.Position)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var l chess.MoveList
	for i := range games {
		p := chess.Variants()[i%2].Start()
		for range 120 {
			if p.Legal(&l); l.N == 0 {
				break
			}
			visit(&p)
			p.Make(l.Moves[rng.IntN(l.N)])
		}
	}
}
