package mcts

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

const middleFEN = "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20"

func mustLine(t testing.TB, v *chess.Variant, fen, moves string) *chess.Line {
	t.Helper()
	p := v.Start()
	if fen != "" {
		var err error
		if p, err = chess.ParseFEN(v, fen); err != nil {
			t.Fatal(err)
		}
	}
	l := chess.NewLine(p)
	for _, s := range strings.Fields(moves) {
		m, err := l.Pos().ParseUCI(s)
		if err != nil {
			t.Fatal(err)
		}
		l.Push(m)
	}
	return l
}

func mustNew(t testing.TB, e Evaluator, change func(*Options)) *Engine {
	t.Helper()
	o := DefaultOptions()
	o.MemoryMB = 16
	if change != nil {
		change(&o)
	}
	engine, err := New(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// selfPlayOptions are options for making training data with a Gumbel root.
func selfPlayOptions(rng *rand.Rand) Options {
	o := DefaultOptions()
	o.MemoryMB, o.Batch = 16, 1
	o.LCB, o.QVeto = 0, 0
	o.Rand = rng
	o.Gumbel.Actions = 16
	return o
}

// mustSearch searches and checks what holds of every result and every graph.
func mustSearch(t testing.TB, e *Engine, l *chess.Line, lim search.Limits) search.Result {
	t.Helper()
	r, err := e.Search(context.Background(), l, lim)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
	checkGraph(t, e.tree)
	return r
}

func checkResult(t testing.TB, l *chess.Line, r search.Result) {
	t.Helper()
	if len(r.PV) == 0 || r.PV[0] != r.Move {
		t.Fatalf("%s: move %v does not begin the line %v", l.Pos().FEN(), r.Move, r.PV)
	}
	p := *l.Pos()
	for _, m := range r.PV {
		if !p.IsLegal(m) {
			t.Fatalf("%s: illegal move %v in the line %v", l.Pos().FEN(), m, r.PV)
		}
		p.Make(m)
	}
	if len(r.PV) > 1 && r.Ponder != r.PV[1] {
		t.Errorf("ponder move %v, line %v", r.Ponder, r.PV)
	}
	if r.Policy != nil {
		sum := 0.0
		for _, m := range r.Policy {
			if !l.Pos().IsLegal(m.Move) || !(m.Prob > 0) {
				t.Errorf("policy has %v", m)
			}
			sum += float64(m.Prob)
		}
		if math.Abs(sum-1) > 1e-4 {
			t.Errorf("policy sums to %v", sum)
		}
	}
	if !(r.Surprise >= 0) || math.IsInf(r.Surprise, 0) {
		t.Errorf("surprise %v", r.Surprise)
	}
}

// checkGraph checks the laws of a graph between playouts.
func checkGraph(t testing.TB, tr *tree) {
	t.Helper()
	if tr.bytes > tr.limit {
		t.Errorf("%d bytes taken, limit %d", tr.bytes, tr.limit)
	}
	held := len(tr.nodes)*nodeBytes + len(tr.choices)*choiceBytes + len(tr.kids)*kidBytes + 4*len(tr.table)
	if held != tr.bytes {
		t.Errorf("%d bytes counted, %d taken", tr.bytes, held)
	}
	for id := firstNode; id < tr.used; id++ {
		n := tr.node(id)
		if got := tr.lookup(n.key); got != id {
			t.Fatalf("node %d: its key finds %d", id, got)
		}
		visits := n.own
		choices := tr.choicesOf(n)
		for i, k := range tr.kidsOf(n) {
			visits += k.visits
			if k.flying != 0 {
				t.Errorf("node %d, move %d: %d playouts still wait", id, i, k.flying)
			}
			if k.node < firstNode {
				if k.visits > 0 && k.node == noNode {
					t.Errorf("node %d, move %d: %d visits of nothing", id, i, k.visits)
				}
				continue
			}
			if child := tr.node(k.node); child.proof == unproven && k.visits > child.visits {
				t.Errorf("node %d, move %d: tried %d times, its node has %d visits", id, i, k.visits, child.visits)
			}
		}
		if n.state == ready && visits != n.visits {
			t.Errorf("node %d: %d visits, its own and its moves' are %d", id, n.visits, visits)
		}
		if n.state == pending {
			t.Errorf("node %d still waits", id)
		}
		if !(n.mean >= -1 && n.mean <= 1) {
			t.Errorf("node %d: mean %v", id, n.mean)
		}
		if n.state == ready && !inOrder(choices, int(n.shown)) {
			t.Errorf("node %d: priors out of order", id)
		}
	}
}

// inOrder reports whether the first shown choices and the one behind them are the
// likeliest ones, in order.
func inOrder(choices []choice, shown int) bool {
	falling := func(a, b choice) int { return int(b.prior) - int(a.prior) }
	first := choices[:min(shown+1, len(choices))]
	if !slices.IsSortedFunc(first, falling) {
		return false
	}
	return len(first) == 0 || !slices.ContainsFunc(choices[len(first):], func(c choice) bool { return c.prior > first[len(first)-1].prior })
}
