package mcts

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// minimax returns what is certain about p within so many plies, with the
// shortest distance of a win and the longest of a loss. It knows mates alone.
func minimax(p *chess.Position, plies int) (proof, int) {
	var moves chess.MoveList
	p.Legal(&moves)
	if moves.N == 0 {
		if p.InCheck() {
			return lost, 0
		}
		return drawn, 0
	}
	if plies == 0 {
		return unproven, 0
	}
	shortest, longest, all := -1, 0, true
	for _, m := range moves.Slice() {
		child := *p
		child.Make(m)
		switch pr, d := minimax(&child, plies-1); pr {
		case lost:
			if shortest < 0 || d+1 < shortest {
				shortest = d + 1
			}
		case won:
			longest = max(longest, d+1)
		default:
			all = false
		}
	}
	switch {
	case shortest >= 0:
		return won, shortest
	case all:
		return lost, longest
	}
	return unproven, 0
}

// checkProofs compares the proofs of the nodes behind id, whose position is p,
// with minimax, as far as that goes in plies.
func checkProofs(t *testing.T, tr *tree, id nodeID, p chess.Position, plies int, seen map[nodeID]bool) (checked int) {
	if seen[id] || id < firstNode {
		return 0
	}
	seen[id] = true
	n := tr.node(id)
	d := int(n.distance)
	switch {
	case (n.proof == won || n.proof == lost) && d <= plies:
		checked++
		if pr, true_ := minimax(&p, d); pr != n.proof || pr == won && true_ > d || pr == lost && true_ != d {
			t.Errorf("%s: %d in %d plies, minimax %d in %d", p.FEN(), n.proof, d, pr, true_)
		}
	case n.proof == drawn || n.state == ready && n.proof == unproven && tr.opts.MateProbe > 0:
		if pr, d := minimax(&p, 1); pr == won || pr == lost {
			t.Errorf("%s: proof %d, minimax %d in %d", p.FEN(), n.proof, pr, d)
		}
	}
	for i, k := range tr.kidsOf(n) {
		child := p
		child.Make(tr.choicesOf(n)[i].move)
		checked += checkProofs(t, tr, k.node, child, plies, seen)
	}
	return checked
}

// wander makes so many random moves from the start, fewer if the game ends.
func wander(v *chess.Variant, plies int, rng *rand.Rand) *chess.Line {
	l := chess.NewLine(v.Start())
	for range plies {
		var moves chess.MoveList
		l.Pos().Legal(&moves)
		l.Push(moves.Moves[rng.IntN(moves.N)])
		if o, _ := l.Outcome(); o != chess.Ongoing {
			l.Pop()
			return l
		}
	}
	return l
}

func TestProofsAgainstMinimax(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	checked := 0
	for i := range 24 {
		probe := []int{0, 1, 3}[i%3]
		e := mustNew(t, &scatter{}, func(o *Options) { o.MateProbe = probe })
		l := wander(chess.Variants()[i%2], 20+rng.IntN(60), rng)
		mustSearch(t, e, l, search.Limits{Nodes: 300})
		checked += checkProofs(t, e.tree, e.tree.root, *l.Pos(), 2, map[nodeID]bool{})
	}
	for _, fen := range []string{
		"8/8/8/8/8/1K6/7R/k7 b - - 0 1", "7k/8/5K2/8/8/8/8/6R1 w - - 0 1", "k7/8/1K6/8/8/8/8/7R w - - 0 1",
		"7k/5K2/8/6P1/8/8/8/8 w - - 0 1", "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", "8/8/8/8/8/5k2/7p/7K w - - 97 90",
	} {
		e := mustNew(t, Uniform{}, func(o *Options) { o.MateProbe = 0 })
		l := mustLine(t, chess.Chess, fen, "")
		mustSearch(t, e, l, search.Limits{Nodes: 2000})
		checked += checkProofs(t, e.tree, e.tree.root, *l.Pos(), 4, map[nodeID]bool{})
	}
	for _, tc := range mates[:8] {
		e := mustNew(t, Uniform{}, func(o *Options) { o.MateProbe = 1 })
		l := mustLine(t, tc.variant, tc.fen, "")
		mustSearch(t, e, l, search.Limits{Nodes: 1500})
		checked += checkProofs(t, e.tree, e.tree.root, *l.Pos(), 2, map[nodeID]bool{})
	}
	if checked < 400 {
		t.Errorf("%d proofs compared", checked)
	}
}

// TestProbeAgainstMinimax: a mate that the probe finds is one, and mates in one
// are never missed.
func TestProbeAgainstMinimax(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	tr := mustNew(t, Uniform{}, nil).tree
	found := map[int]int{}
	for i := range 600 {
		p := *wander(chess.Variants()[min(1, i%4)], 10+rng.IntN(80), rng).Pos()
		var moves chess.MoveList
		p.Legal(&moves)
		m, plies := tr.probe(&p, &moves, 3)
		found[plies]++
		if plies == 0 {
			if pr, _ := minimax(&p, 1); pr == won {
				t.Errorf("%s: mate in one missed", p.FEN())
			}
			continue
		}
		child := p
		child.Make(m)
		if pr, d := minimax(&child, plies-1); pr != lost || d != plies-1 {
			t.Errorf("%s: %s is no mate in %d plies", p.FEN(), p.UCI(m), plies)
		}
	}
	if found[1] < 5 || found[3] < 5 {
		t.Errorf("mates by plies: %v", found)
	}
}

// TestProbeAndFiftyMoves: no mate is found that the fifty-move rule comes before.
func TestProbeAndFiftyMoves(t *testing.T) {
	for _, tc := range []struct {
		variant *chess.Variant
		fen     string
		plies   int
	}{
		{chess.Chess, "8/7k/R7/8/8/8/P7/KR6 w - - 97 200", 3},
		{chess.Chess, "8/7k/R7/8/8/8/P7/KR6 w - - 98 200", 0},
		{chess.Chess, "8/7k/R7/8/8/8/P7/KR6 w - - 99 200", 0},
		{chess.Chess, "7k/1R6/R7/8/8/8/P7/K7 w - - 99 200", 1},
		{chess.Crazyhouse, "8/7k/R7/8/8/8/P7/KR6[] w - - 98 200", 3},
	} {
		tr := mustNew(t, Uniform{}, nil).tree
		l := mustLine(t, tc.variant, tc.fen, "")
		tr.setRoot(l)
		var moves chess.MoveList
		l.Pos().Legal(&moves)
		if _, plies := tr.probe(l.Pos(), &moves, 3); plies != tc.plies {
			t.Errorf("%s: found a mate in %d plies, expected %d", tc.fen, plies, tc.plies)
		}
	}
	// A pawn's move keeps the win.
	l := mustLine(t, chess.Chess, "8/7k/R7/8/8/8/P7/KR6 w - - 98 200", "")
	r := mustSearch(t, mustNew(t, Uniform{}, nil), l, search.Limits{Nodes: 5000})
	if r.Score != search.MateAfter(5) {
		t.Errorf("score %v, expected a mate in 5 plies", r.Score)
	}
	uci := l.Pos().UCI(r.Move)
	l.Push(r.Move)
	if l.Pos().HalfmoveClock() != 0 {
		t.Errorf("%s does not keep the win", uci)
	}
}

func TestStalemateIsAProvenDraw(t *testing.T) {
	e := mustNew(t, Uniform{}, nil)
	// Two plies before the fifty-move rule every line is a draw unless it mates.
	bare := mustLine(t, chess.Chess, "7k/8/8/8/8/8/8/K5R1 w - - 98 200", "")
	r := mustSearch(t, e, bare, search.Limits{Nodes: 5000})
	if p, _ := e.tree.solved(); p != drawn || r.Score != 0 {
		t.Errorf("fifty moves: proof %d, score %v after %d nodes", p, r.Score, r.Nodes)
	}
}

func TestNoStalemateWhenWinning(t *testing.T) {
	for _, fen := range []string{"7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "7k/8/8/5QK1/8/8/8/8 w - - 0 1", "k7/P7/8/1K6/8/8/8/6Q1 w - - 0 1"} {
		l := mustLine(t, chess.Chess, fen, "")
		r := mustSearch(t, mustNew(t, Uniform{}, nil), l, search.Limits{Nodes: 2000})
		l.Push(r.Move)
		if _, why := l.Outcome(); why == chess.Stalemate {
			t.Errorf("%s: %v stalemates", fen, r.Move)
		}
	}
}
