package mcts

import (
	"context"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestReuse: after a move and its reply the search goes on where it was.
func TestReuse(t *testing.T) {
	for _, v := range chess.Variants() {
		e := mustNew(t, &scatter{}, func(o *Options) { o.Batch = 1 })
		tr := e.tree
		l := chess.NewLine(v.Start())
		for range 6 {
			r := mustSearch(t, e, l, search.Limits{Nodes: 1500})
			if len(r.PV) < 2 {
				t.Fatalf("line %v", r.PV)
			}
			n := tr.node(tr.root)
			var known uint32
			for _, m := range r.PV[:2] {
				i := slices.IndexFunc(tr.choicesOf(n), func(c choice) bool { return c.move == m })
				n = tr.node(tr.kidsOf(n)[i].node)
				known = n.visits
				l.Push(m)
			}
			tr.setRoot(l)
			if got := tr.node(tr.root); got.visits != known || got.key != tr.nodeKey(l.Pos()) {
				t.Errorf("the new root has %d visits, %d before", got.visits, known)
			}
			checkGraph(t, tr)
		}
	}
}

// TestReuseByPosition: a GUI may send the position without its history.
func TestReuseByPosition(t *testing.T) {
	e := mustNew(t, &scatter{}, nil)
	l := chess.NewLine(chess.Crazyhouse.Start())
	r := mustSearch(t, e, l, search.Limits{Nodes: 1500})
	l.Push(r.PV[0])
	l.Push(r.PV[1])
	mustSearch(t, e, mustLine(t, chess.Crazyhouse, l.Pos().FEN(), ""), search.Limits{Nodes: 100})
	if got := e.tree.node(e.tree.root).visits; got <= 100 {
		t.Errorf("%d visits, nothing was kept", got)
	}
}

// TestReuseOfAnUnevaluatedRoot: what a search that ended before the root was evaluated
// knew about its moves is not taken for knowledge of others.
func TestReuseOfAnUnevaluatedRoot(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range mates {
		if tc.moves != 1 {
			continue
		}
		e := mustNew(t, &scatter{}, nil)
		l := mustLine(t, tc.variant, tc.fen, "")
		if _, err := e.Search(ended, l, search.Limits{}); err != nil {
			t.Fatal(err)
		}
		r := mustSearch(t, e, l, search.Limits{Nodes: 100})
		l.Push(r.Move)
		if _, reason := l.Outcome(); reason != chess.Checkmate {
			t.Errorf("%s: %v with %v does not mate", tc.fen, r.Move, r.Score)
		}
	}
}

// TestReuseAfterSearchMoves: visits are kept for a search of the same root moves, and do
// not count in one of others.
func TestReuseAfterSearchMoves(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := mustNew(t, &scatter{}, nil)
	visits := func(nodes uint64, only ...chess.Move) (sum uint32) {
		for _, v := range mustSearch(t, e, l, search.Limits{Nodes: nodes, SearchMoves: only}).Visits {
			sum += v.Visits
		}
		return sum
	}
	var all chess.MoveList
	l.Pos().Legal(&all)
	some, others := all.Slice()[:2], all.Slice()[2:4]
	visits(1000, some...)
	if got := visits(300, some...); got < 1200 {
		t.Errorf("%d visits of the same moves, nothing was kept", got)
	}
	for _, only := range [][]chess.Move{nil, others, nil} {
		if got := visits(300, only...); got > 301 { // one may be that of a probe
			t.Errorf("%d visits of 300 playouts with %v", got, only)
		}
	}
	if got := visits(300); got < 500 {
		t.Errorf("%d visits of all moves again, nothing was kept", got)
	}
}

// TestNoReuseOfAnotherGame: a graph is of use only where the line goes on.
func TestNoReuseOfAnotherGame(t *testing.T) {
	e := mustNew(t, &scatter{}, nil)
	for _, moves := range []string{"e2e4", "d2d4", "", "e2e4 e7e5 g1f3", "e2e4 e7e5"} {
		l := mustLine(t, chess.Crazyhouse, "", moves)
		mustSearch(t, e, l, search.Limits{Nodes: 100})
		if got := e.tree.node(e.tree.root).visits; got != 100 {
			t.Errorf("after %q: %d visits, expected 100", moves, got)
		}
	}
	off := mustNew(t, &scatter{}, func(o *Options) { o.Reuse = false })
	l := chess.NewLine(chess.Crazyhouse.Start())
	for range 2 {
		mustSearch(t, off, l, search.Limits{Nodes: 100})
		if got := off.tree.node(off.tree.root).visits; got != 100 {
			t.Errorf("without reuse: %d visits, expected 100", got)
		}
	}
}

// TestRepetition: a move that repeats a position, once since the root or twice in
// all, is a draw, and stays none after the root has moved on.
func TestRepetition(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) { o.Batch = 1 })
	tr := e.tree
	l := mustLine(t, chess.Chess, "7k/8/8/8/8/8/8/KR6 w - - 0 1", "a1a2 h8g8 a2a1 g8h8 a1a2 h8g8 a2a1")
	r := mustSearch(t, e, l, search.Limits{Nodes: 400})
	back, err := l.Pos().ParseUCI("g8h8")
	if err != nil {
		t.Fatal(err)
	}
	n := tr.node(tr.root)
	i := slices.IndexFunc(tr.choicesOf(n), func(c choice) bool { return c.move == back })
	if k := tr.kidsOf(n)[i]; k.node != repetition || k.visits == 0 {
		t.Errorf("the third occurrence: %+v", k)
	}
	if n.proof != unproven {
		t.Errorf("a repetition proves %d", n.proof)
	}
	deep := 0
	for id := firstNode; id < tr.used; id++ {
		for _, k := range tr.kidsOf(tr.node(id)) {
			if k.node == repetition && id != tr.root {
				deep++
			}
		}
	}
	if deep == 0 {
		t.Error("no repetition since the root")
	}
	l.Push(r.Move)
	tr.setRoot(l)
	checkGraph(t, tr)
	for id := firstNode; id < tr.used; id++ {
		for _, k := range tr.kidsOf(tr.node(id)) {
			if k.node == repetition {
				t.Fatal("a repetition by the way from another root is left")
			}
		}
	}
	for l.Len() < 60 { // play on: whatever repeats, the laws hold
		if o, _ := l.Outcome(); o != chess.Ongoing {
			break
		}
		l.Push(mustSearch(t, e, l, search.Limits{Nodes: 100}).Move)
	}
}

// TestTranspositions: the same position by two ways is one node.
func TestTranspositions(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) { o.MateProbe = 0 })
	tr := e.tree
	mustSearch(t, e, mustLine(t, chess.Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", ""), search.Limits{Nodes: 5000})
	parents := map[nodeID]int{}
	for id := firstNode; id < tr.used; id++ {
		for _, k := range tr.kidsOf(tr.node(id)) {
			if k.node >= firstNode {
				parents[k.node]++
			}
		}
	}
	shared := 0
	for _, n := range parents {
		if n > 1 {
			shared++
		}
	}
	if shared < 30 {
		t.Errorf("%d of %d nodes are shared", shared, len(parents))
	}
}
