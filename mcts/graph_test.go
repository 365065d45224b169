package mcts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestSizes(t *testing.T) {
	if got := unsafe.Sizeof(node{}); got<<nodeBits > nodeBytes {
		t.Errorf("a node has %d bytes", got)
	}
	if got := unsafe.Sizeof(choice{}); got<<choiceBits != choiceBytes {
		t.Errorf("a choice has %d bytes", got)
	}
	if got := unsafe.Sizeof(kid{}); got<<kidBits != kidBytes {
		t.Errorf("a kid has %d bytes", got)
	}
}

func TestPriors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		p := float32(math.Exp2(-31 * rng.Float64()))
		got := newPrior(p).float()
		if math.Abs(float64(got-p)) > float64(p)/4096 {
			t.Fatalf("%v becomes %v", p, got)
		}
		if q := p * 0.999; newPrior(q) > newPrior(p) {
			t.Fatalf("%v before %v", q, p)
		}
	}
	if newPrior(1).float() != 1 || newPrior(0).float() != 0x1p-31 {
		t.Errorf("1 becomes %v, 0 becomes %v", newPrior(1).float(), newPrior(0).float())
	}
}

// Ordered a few at a time, choices come as a stable sort has them.
func TestOrderIsThatOfAStableSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		choices := make([]choice, rng.IntN(maxMoves))
		for i := range choices {
			choices[i] = choice{chess.Move(i), prior(rng.IntN(40))}
		}
		want := slices.Clone(choices)
		slices.SortStableFunc(want, func(a, b choice) int { return int(b.prior) - int(a.prior) })
		for shown := 0; shown <= len(choices); {
			next := shown + rng.IntN(20)
			order(choices, shown, next)
			if n := min(next+1, len(choices)); !slices.Equal(choices[:n], want[:n]) {
				t.Fatalf("the first %d of %d are %v, want %v", n, len(choices), choices[:n], want[:n])
			}
			shown = next + 1
		}
	}
}

// portrait returns what is known behind a node, in text: equal graphs have equal
// ones.
func portrait(tr *tree, id nodeID, seen map[uint64]bool) []string {
	n := tr.node(id)
	if id < firstNode || seen[n.key] {
		return nil
	}
	seen[n.key] = true
	text := fmt.Sprint(n.key, n.value, n.mean, n.square, n.visits, n.own, n.shown, n.state, n.proof, n.distance, tr.choicesOf(n))
	all := []string{""}
	for _, k := range tr.kidsOf(n) {
		text += fmt.Sprint(" ", k.visits, k.node == repetition, k.node == noNode)
		if k.node >= firstNode {
			text += fmt.Sprint(" ", tr.node(k.node).key)
		}
		all = append(all, portrait(tr, k.node, seen)...)
	}
	all[0] = text
	return all
}

func TestCollectKeepsWhatIsReached(t *testing.T) {
	for _, v := range chess.Variants() {
		e := mustNew(t, &scatter{}, nil)
		tr := e.tree
		mustSearch(t, e, chess.NewLine(v.Start()), search.Limits{Nodes: 3000})
		for tr.node(tr.root).shown > 0 {
			n := tr.node(tr.root)
			next := tr.root
			for i, k := range tr.kidsOf(n) { // the root, then ever smaller parts of it
				if k.node >= firstNode && i <= 1 {
					next = k.node
				}
			}
			want := portrait(tr, tr.root, map[uint64]bool{})
			tr.root = tr.collect(tr.root, 0)
			if got := portrait(tr, tr.root, map[uint64]bool{}); !slices.Equal(got, want) {
				t.Fatalf("a collection changes the graph: %d nodes, then %d", len(want), len(got))
			}
			if int(tr.used) != len(want)+int(firstNode) {
				t.Errorf("%d nodes stay, %d are reached", tr.used-firstNode, len(want))
			}
			checkGraph(t, tr)
			if next < firstNode || next == tr.root {
				break
			}
			tr.root = tr.kidsOf(tr.node(tr.root))[0].node
			if tr.root < firstNode {
				break
			}
		}
	}
}

func TestMemoryLimitHolds(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) { o.MemoryMB, o.MateProbe = 1, 0 })
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	for range 3 {
		r := mustSearch(t, e, l, search.Limits{Nodes: 15000})
		if r.Nodes != 15000 {
			t.Errorf("ended after %d nodes", r.Nodes)
		}
		if e.tree.bytes < 1<<20*8/10 {
			t.Errorf("only %d bytes taken", e.tree.bytes)
		}
		l.Push(r.Move)
	}
	if root := e.tree.node(e.tree.root); root.visits < 15000 {
		t.Errorf("root has %d visits", root.visits)
	}
}

// TestMemoryServesOtherPositions: what one kind of position has filled memory with does
// not end the search of another kind.
func TestMemoryServesOtherPositions(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) { o.MemoryMB, o.MateProbe = 1, 0 })
	for _, fen := range []string{benchPositions[3].fen, benchPositions[0].fen, benchPositions[3].fen} {
		_ = e.NewGame()
		r := mustSearch(t, e, mustLine(t, chess.Crazyhouse, fen, ""), search.Limits{Nodes: 15000})
		if r.Nodes != 15000 {
			t.Errorf("%s: ended after %d nodes", fen, r.Nodes)
		}
	}
}

func TestSteadyStateAllocatesLittle(t *testing.T) {
	e := mustNew(t, &scatter{}, nil)
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	run := func(nodes uint64) float64 {
		return testing.AllocsPerRun(3, func() {
			_ = e.NewGame()
			mustSearchQuietly(t, e, l, nodes)
		})
	}
	run(3000)
	if few, many := run(300), run(3000); many > few+20 {
		t.Errorf("%v allocations for 300 nodes, %v for 3000", few, many)
	}
}

func mustSearchQuietly(t *testing.T, e *Engine, l *chess.Line, nodes uint64) {
	if _, err := e.Search(t.Context(), l, search.Limits{Nodes: nodes}); err != nil {
		t.Fatal(err)
	}
}
