package mcts

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// A score s stands for the expected result tanh(s/400), and mates are not
// reached.
func TestScores(t *testing.T) {
	for s := search.Score(-3000); s <= 3000; s += 7 {
		if back := Score(math.Tanh(float64(s) / 400)); max(back-s, s-back) > 1 {
			t.Errorf("%d becomes %d", s, back)
		}
	}
	if Score(0) != 0 || Score(1) != search.MateScore-search.MaxPly-1 || Score(-1) != -Score(1) || Score(1).IsMate() {
		t.Errorf("0, 1, -1 are %d, %d, %d", Score(0), Score(1), Score(-1))
	}
	if got := Score(math.Tanh(0.25)); got != 100 {
		t.Errorf("tanh 1/4 is %d centipawns", got)
	}
}

func TestMostCertain(t *testing.T) {
	moves := []ranked{{visits: 1000, mean: 0.1, spread: 0.01}, {visits: 400, mean: 0.2, spread: 0.01}, {visits: 100, mean: 0.9, spread: 0.01}}
	if got := mostCertain(moves, 5); got != 1 {
		t.Errorf("move %d, expected the better one of those tried often", got)
	}
	moves[1].spread = 1
	if got := mostCertain(moves, 5); got != 0 {
		t.Errorf("move %d, expected the one that is surer", got)
	}
}

func TestQVeto(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) { o.LCB = 0 })
	r := run{engine: e, tree: e.tree}
	moves := []ranked{{visits: 100, mean: 0.1}, {visits: 2, mean: 0.4}, {visits: 2, mean: 0.6}, {visits: 1, mean: 0.9}}
	if got := r.play(moves); got != 2 {
		t.Errorf("move %d, expected the third", got)
	}
	e.opts.QVeto = 0
	if got := r.play(moves); got != 0 {
		t.Errorf("move %d, expected the first", got)
	}
}

func TestTemperature(t *testing.T) {
	temp := Temperature{First: 1, Last: 0.2, HalfLife: 12}
	if temp.at(0) != 1 || math.Abs(temp.at(12)-0.6) > 1e-9 || temp.at(1000)-0.2 > 1e-9 {
		t.Errorf("%v, %v, %v", temp.at(0), temp.at(12), temp.at(1000))
	}
	e := mustNew(t, &scatter{}, func(o *Options) {
		o.Rand = rand.New(rand.NewPCG(1, 2))
		o.Temperature = temp
	})
	l := chess.NewLine(chess.Crazyhouse.Start())
	seen := map[chess.Move]bool{}
	for range 30 {
		_ = e.NewGame()
		seen[mustSearch(t, e, l, search.Limits{Nodes: 50}).Move] = true
	}
	if len(seen) < 4 {
		t.Errorf("%d moves in 30 searches", len(seen))
	}
}

func TestSearchMovesAndMultiPV(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	var moves chess.MoveList
	l.Pos().Legal(&moves)
	only := []chess.Move{moves.Moves[3], moves.Moves[10], moves.Moves[20], chess.NewMove(chess.A1, chess.H8, chess.Normal)}
	e := mustNew(t, &scatter{}, nil)
	var infos []search.Info
	e.OnInfo = func(i search.Info) { infos = append(infos, i) }
	r := mustSearch(t, e, l, search.Limits{Nodes: 500, SearchMoves: only, MultiPV: 5})
	if len(r.Lines) != 3 || r.Lines[0].Score != r.Score || !slices.Equal(r.Lines[0].PV, r.PV) {
		t.Errorf("lines %+v, move %v", r.Lines, r.Move)
	}
	for _, v := range r.Visits {
		if !slices.Contains(only, v.Move) {
			t.Errorf("%v was searched", v.Move)
		}
	}
	if last := infos[len(infos)-1]; last.MultiPV != 3 || last.Nodes != 500 || infos[len(infos)-3].PV[0] != r.Move {
		t.Errorf("last infos %+v", infos[len(infos)-3:])
	}
	if r := mustSearch(t, e, l, search.Limits{Nodes: 50, SearchMoves: only[3:]}); len(r.Visits) == 0 {
		t.Error("moves that are not legal restrict the search")
	}
}

func TestClocks(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	for _, lim := range []search.Limits{
		{MoveTime: 40 * time.Millisecond},
		{Time: [2]time.Duration{2 * time.Second, time.Second}},
		{Time: [2]time.Duration{1, 1}},
		{Time: [2]time.Duration{time.Second, time.Second}, Inc: [2]time.Duration{time.Second, 0}, Overhead: 950 * time.Millisecond},
	} {
		began := time.Now()
		mustSearch(t, mustNew(t, &scatter{}, nil), l, lim)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%+v: took %v", lim, took)
		}
	}
	// One legal move is answered at once, on a clock.
	forced := mustLine(t, chess.Chess, "k7/8/8/8/8/8/6q1/7K w - - 0 1", "")
	began := time.Now()
	mustSearch(t, mustNew(t, &scatter{}, nil), forced, search.Limits{Time: [2]time.Duration{time.Hour, time.Hour}})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a forced move took %v", took)
	}
}

// slow is an evaluator that takes its time.
type slow struct{ scatter }

const slowness = 55 * time.Millisecond

func (s *slow) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	time.Sleep(slowness)
	return s.scatter.Evaluate(ctx, leaves)
}

// TestHardBound: a search begins no batch that would end after its time.
func TestHardBound(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	const given, overhead = 3 * time.Second, 10 * time.Millisecond
	for _, more := range [][]Evaluator{nil, {&slow{}, &slow{}}} {
		for _, lim := range []search.Limits{
			{MoveTime: given},
			{Time: [2]time.Duration{given, given}, MovesToGo: 1},
		} {
			lim.Overhead = overhead
			synctest.Test(t, func(t *testing.T) {
				e, err := New(&slow{}, DefaultOptions(), more...)
				if err != nil {
					t.Fatal(err)
				}
				r := mustSearch(t, e, l, lim)
				if r.Elapsed > given-overhead || lim.MoveTime > 0 && r.Elapsed < given-overhead-2*slowness {
					t.Errorf("%d threads more, %+v: took %v", len(more), lim, r.Elapsed)
				}
			})
		}
	}
}

func TestPonder(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	synctest.Test(t, func(t *testing.T) {
		e := mustNew(t, &scatter{}, nil)
		done := make(chan error, 1)
		go func() {
			_, err := e.Search(t.Context(), l, search.Limits{Ponder: true, Nodes: 100, MoveTime: 10 * time.Millisecond})
			done <- err
		}()
		select {
		case <-done:
			t.Fatal("answered before the ponder hit")
		case <-time.After(time.Hour): // of the test's own time, which passes while all wait
		}
		e.Ponderhit()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})

	// Time ends a search that was hit.
	e := mustNew(t, &scatter{}, nil)
	e.Ponderhit()
	if _, err := e.Search(t.Context(), l, search.Limits{Ponder: true, MoveTime: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
}
