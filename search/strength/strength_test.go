package strength

import (
	"math"
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestLevels: every level is rated higher than the one before, draws from no more
// moves and less at random.
func TestLevels(t *testing.T) {
	for i, l := range levels {
		if l.Lines < 2 || l.Lines > mostLines || l.Nodes == 0 || l.Spread <= 0 {
			t.Errorf("level %d: %+v", i, l)
		}
		if got := ForElo(l.elo); got != l.Limit {
			t.Errorf("level %d: rating %d gives %+v, expected %+v", i, l.elo, got, l.Limit)
		}
		if i == 0 {
			continue
		}
		before := levels[i-1]
		if l.elo <= before.elo || l.Lines > before.Lines || l.Spread >= before.Spread {
			t.Errorf("level %d: %+v after %+v", i, l, before)
		}
		between := ForElo((l.elo + before.elo) / 2)
		if between.Nodes < min(before.Nodes, l.Nodes) || between.Nodes > max(before.Nodes, l.Nodes) || between.Spread <= l.Spread || between.Spread >= before.Spread {
			t.Errorf("between level %d and %d: %+v", i-1, i, between)
		}
	}
	if Check(MinElo()) != nil || Check(MaxElo()) != nil || Check(MinElo()-1) == nil || Check(MaxElo()+1) == nil {
		t.Error("Check takes other ratings than MinElo to MaxElo")
	}
}

func TestApply(t *testing.T) {
	l := Limit{Nodes: 500, Lines: 4, Spread: 10}
	for _, tc := range []struct{ in, want search.Limits }{
		{search.Limits{}, search.Limits{Nodes: 500, MultiPV: 4}},
		{search.Limits{Nodes: 100, MultiPV: 9}, search.Limits{Nodes: 100, MultiPV: 9}},
		{search.Limits{Nodes: 501, Depth: 3}, search.Limits{Nodes: 500, Depth: 3, MultiPV: 4}},
	} {
		if got := l.Apply(tc.in); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%+v: %+v, expected %+v", tc.in, got, tc.want)
		}
	}
}

// result is one of a search with lines of the given scores, each of one of the start
// position's moves and no reply.
func result(scores ...search.Score) (search.Result, *chess.Line) {
	line := chess.NewLine(chess.Crazyhouse.Start())
	var moves chess.MoveList
	line.Pos().Legal(&moves)
	var r search.Result
	for i, s := range scores {
		r.Lines = append(r.Lines, search.RootLine{Score: s, Bound: search.Bound(i % 3), PV: []chess.Move{moves.Slice()[i]}})
	}
	first := r.Lines[0]
	r.Move, r.Score, r.Bound, r.PV = first.PV[0], first.Score, first.Bound, first.PV
	return r, line
}

// TestChooseFrequencies draws often and compares with exp(difference/Spread).
func TestChooseFrequencies(t *testing.T) {
	l := Limit{Nodes: 1, Lines: 3, Spread: 100}
	scores := []search.Score{50, -50, -150, -150} // the fourth is not drawn
	const n = 20_000
	counts := map[search.Score]int{}
	for seed := range uint64(n) {
		r, line := result(scores...)
		fourth := r.Lines[3].PV[0]
		got := l.Choose(r, line, 2, seed)
		if got.Move == fourth {
			t.Fatal("drew a line beyond Lines")
		}
		if len(got.Lines) != 2 || got.Lines[0].PV[0] != got.Move || got.Lines[0].Score != got.Score || got.Lines[0].Bound != got.Bound || got.PV[0] != got.Move || got.Ponder != chess.NoMove {
			t.Fatalf("result %+v", got)
		}
		counts[got.Score]++
	}
	sum := 1 + math.Exp(-1) + math.Exp(-2)
	for i, s := range scores[:3] {
		if share, want := float64(counts[s])/n, math.Exp(-float64(i))/sum; math.Abs(share-want) > 0.015 {
			t.Errorf("score %d: drawn %.3f of the time, expected %.3f", s, share, want)
		}
	}
}

// TestChooseIsDeterministic: a seed gives the same draw again, and asking for one
// line gives none.
func TestChooseIsDeterministic(t *testing.T) {
	l := Limit{Nodes: 1, Lines: 10, Spread: 1e6}
	drawn := map[chess.Move]bool{}
	for seed := range uint64(200) {
		r, line := result(1, 1, 1, 1, 1)
		again, _ := result(1, 1, 1, 1, 1)
		a, b := l.Choose(r, line, 1, seed), l.Choose(again, line, 1, seed)
		if !reflect.DeepEqual(a, b) || a.Lines != nil {
			t.Fatalf("seed %d: %+v, then %+v", seed, a, b)
		}
		drawn[a.Move] = true
	}
	if len(drawn) != 5 {
		t.Errorf("%d moves drawn of 5 alike", len(drawn))
	}
	mates, line := result(search.MateAfter(1), search.MatedAfter(2))
	if got := (Limit{Lines: 2, Spread: 100}).Choose(mates, line, 0, 1); got.Score != search.MateAfter(1) {
		t.Errorf("being mated drawn in place of a mate: %+v", got)
	}
	single, line := result(7)
	if got := l.Choose(single, line, 0, 1); got.Score != 7 {
		t.Errorf("the only line: %+v", got)
	}
}
