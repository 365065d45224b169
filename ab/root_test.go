package ab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// A move deserves less time the longer it has been the best, and more the further its score
// has fallen since the iteration before, each within bounds.
func TestDoubt(t *testing.T) {
	doubt := func(stable, fall int) float64 {
		return (&worker{choice: choice{stable: stable, fall: fall}}).doubt()
	}
	usual := doubt(0, 0)
	if usual < 0.8 || usual > 1 {
		t.Errorf("a new move whose score stands still: %.3f of the usual time", usual)
	}
	for _, tc := range []struct {
		stable, fall int
		want         float64 // of usual
	}{
		{1, 0, 1.19 / 1.35}, {4, 0, 0.71 / 1.35}, {5, 0, 0.55 / 1.35}, {50, 0, 0.55 / 1.35},
		{0, 60, 1.25}, {0, 240, 2}, {0, 2000, 2}, {0, -60, 0.75}, {0, -2000, 0.75}, {50, 240, 2 * 0.55 / 1.35},
	} {
		if got := doubt(tc.stable, tc.fall) / usual; math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("best for %d iterations, fallen by %d: %.3f of the usual share, want %.3f", tc.stable, tc.fall, got, tc.want)
		}
	}

	// What iterations found, each line after those above it.
	w := &worker{choice: choice{score: 100}}
	l := mustLine(t, chess.Crazyhouse, startFEN, "")
	for _, tc := range []struct {
		move         string
		score        int
		stable, fall int
	}{{"e2e4", 100, 0, 0}, {"e2e4", 40, 1, 60}, {"e2e4", 50, 2, -10}, {"d2d4", 50, 0, 0}} {
		m, err := l.Pos().ParseUCI(tc.move)
		if err != nil {
			t.Fatal(err)
		}
		w.note(&rootMove{move: m, score: tc.score})
		if w.choice.stable != tc.stable || w.choice.fall != tc.fall {
			t.Errorf("%s %d: found %+v, want stable %d, fall %d", tc.move, tc.score, w.choice, tc.stable, tc.fall)
		}
	}
}

// rootFEN has many quiet moves and drops, some captures and some checks.
const rootFEN = "r2qk2r/ppp2ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPP2PPP/R2QK2R[NPp] w KQkq - 0 7"

// Futility at the root leaves out quiet moves that were far below alpha, and no first
// move, no capture, no check, and no move where several lines are asked for.
func TestFutileRoot(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, rootFEN, "")
	for _, tc := range []struct {
		name        string
		step, lines int
		value       int // of the last search of every move
		leftOut     bool
	}{
		{"far below", 50, 1, -mateBound, true},
		{"far above", 50, 1, mateBound, false},
		{"off", 0, 1, -mateBound, false},
		{"two lines", 50, 2, -mateBound, false},
	} {
		w := begun(l)
		step := strconv.Itoa(tc.step)
		w.tuning = newTuning(chess.Crazyhouse, map[string]string{"root_step": step, "late_root_step": step})
		w.shared.lines = tc.lines
		w.iterate(3)
		w.setRoot(nil)
		for i := range w.moves {
			w.moves[i].value = tc.value
		}
		first := w.moves[0].move
		w.searchRoot(3, 0, -infinite, infinite)
		kinds := map[bool]int{}
		for i := range w.moves {
			m := w.moves[i].move
			quiet := !isNoisy(l.Pos(), m) && !l.Pos().GivesCheck(m)
			kinds[quiet]++
			if got, want := w.moves[i].value == tc.value, tc.leftOut && quiet && m != first; got != want {
				t.Errorf("%s: %v left out: %v, want %v", tc.name, m, got, want)
			}
		}
		if kinds[true] < 10 || kinds[false] < 3 {
			t.Fatalf("%s: %d quiet moves, %d others", tc.name, kinds[true], kinds[false])
		}
	}
}

// The first iterations put off quiet moves that stand far behind, and no capture, no check,
// and nothing where several lines are asked for, the iteration is the last or nodes are many.
func TestRootCount(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, rootFEN, "")
	for _, tc := range []struct {
		name                     string
		count, lines, depth, end int
		nodes                    uint64
		all                      bool
	}{
		{"iteration 1", 8, 1, 1, 20, 999, false},
		{"iteration 2", 8, 1, 2, 20, 999, false},
		{"off", 0, 1, 1, 20, 999, true},
		{"two lines", 8, 2, 1, 20, 999, true},
		{"last iteration", 8, 1, 2, 2, 999, true},
		{"many nodes", 8, 1, 1, 20, 1000, true},
	} {
		w := begun(l)
		w.tuning = newTuning(chess.Crazyhouse, map[string]string{"root_count": strconv.Itoa(tc.count), "root_more": "5", "root_nodes": "1000"})
		w.shared.lines, w.shared.depth, w.shared.nodes = tc.lines, tc.end, tc.nodes
		w.iterate(tc.depth)
		w.setRoot(nil)
		order := slices.Clone(w.moves)
		w.searchRoot(tc.depth, 0, -infinite, infinite)
		late := 0
		for i, r := range order {
			quiet := !isNoisy(l.Pos(), r.move) && !l.Pos().GivesCheck(r.move)
			put := quiet && i >= tc.count+5*(tc.depth-1)
			if put {
				late++
			}
			at := slices.IndexFunc(w.moves, func(m rootMove) bool { return m.move == r.move })
			if got, want := w.moves[at].value == infinite, put && !tc.all; got != want {
				t.Errorf("%s: move %d, %v, put off: %v, want %v", tc.name, i, r.move, got, want)
			}
		}
		if late < 10 {
			t.Fatalf("%s: %d late moves", tc.name, late)
		}
	}
}

// A search of some of the root's moves leaves nothing about the position in the table,
// one of all of them does.
func TestRestrictedRoot(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	var all chess.MoveList
	l.Pos().Legal(&all)
	for _, threads := range []int{1, 2} {
		e := New(newMaterial, Options{HashMB: 1, Threads: threads})
		for _, n := range []int{3, all.N} {
			mustSearch(t, e, l, search.Limits{Depth: 5, SearchMoves: all.Slice()[:n]})
			if known, ok := e.table.probe(l.Pos().Key()); ok != (n == all.N) {
				t.Errorf("%d threads, %d of %d moves: found %t, %+v", threads, n, all.N, ok, known)
			}
		}
	}
}

// counted counts evaluations.
type counted struct {
	Evaluator
	calls int
}

func (c *counted) Evaluate(p *chess.Position) int {
	c.calls++
	return c.Evaluator.Evaluate(p)
}

// What is kept of evaluations changes neither move nor score of a search whose table has
// room, and saves evaluations. Without corrections: they would make a score that was kept in
// place of an evaluation differ from the evaluation of now.
func TestKeepEval(t *testing.T) {
	evaluations := func(keep string) (search.Result, int) {
		eval := &counted{Evaluator: newMaterial()}
		params := map[string]string{"keep_eval": keep, "late_keep_eval": keep}
		for _, by := range []string{"pawns", "men", "hands"} {
			params["correct_"+by], params["late_correct_"+by] = "false", "false"
		}
		e := New(func() Evaluator { return eval }, Options{HashMB: 16, Params: params})
		return mustSearch(t, e, mustLine(t, chess.Crazyhouse, middleFEN, ""), search.Limits{Depth: 9}), eval.calls
	}
	without, many := evaluations("false")
	with, few := evaluations("true")
	if with.Move != without.Move || with.Score != without.Score || few >= many {
		t.Errorf("%v %v of %d evaluations, want %v %v of fewer than %d", with.Move, with.Score, few, without.Move, without.Score, many)
	}
}

// A search that ends while it looks again at a move that failed high has a lower bound for
// its score, and says so.
func TestResultBound(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 1})
	for lines, fen := range map[int]string{1: startFEN, 3: middleFEN} {
		l, found := mustLine(t, chess.Crazyhouse, fen, ""), false
		for n := uint64(200); n < 10_000 && !found; n += 50 {
			_ = e.NewGame()
			r := mustSearch(t, e, l, search.Limits{Nodes: n, MultiPV: lines})
			found = r.Bound == search.Lower
			if lines > 1 && (r.Lines[0].Bound != r.Bound || r.Lines[0].Score != r.Score) {
				t.Errorf("%d nodes: %v (%v), first line %v (%v)", n, r.Score, r.Bound, r.Lines[0].Score, r.Lines[0].Bound)
			}
		}
		if !found {
			t.Errorf("%d lines: no search ended with a lower bound", lines)
		}
	}
}

// A search that is cut short while its best move loses by force plays one that may not, if
// there is one, and scores nothing as lost that was not looked at.
func TestSparedMove(t *testing.T) {
	spared := 0
	for _, fen := range []string{
		"r1b1Q2r/pp1pPp1k/1p2N3/n4p1p/2Pbp3/1PP3rB/1PKPp3/1RB5[NNqp] w - - 1 34",
		"2r3r1/p4B1p/p2k1ppP/4n3/8/P1P2PP1/1P2KPRP/1rB5[QNNqbbnppp] w - - 0 56",
		"1n3r2/1r2Pp1p/p1p5/1p2pbPk/8/P2p1n1N/1P1QKP1P/R4BR1[QBNbppp] w - - 0 24",
	} {
		l := mustLine(t, chess.Crazyhouse, fen, "")
		for n := uint64(50); n < 4000; n += 75 {
			var results [2]search.Result
			for i, spare := range []string{"false", "true"} {
				e := New(newMaterial, Options{HashMB: 1, Params: map[string]string{"spare": spare, "late_spare": spare}})
				results[i] = mustSearch(t, e, l, search.Limits{Nodes: n})
				open := slices.ContainsFunc(e.workers[0].moves, func(m rootMove) bool { return m.value > -mateBound })
				if lost := int(results[i].Score) <= -mateBound; spare == "true" && lost && open {
					t.Errorf("%s, %d nodes: %v is lost by force, %v, and other moves were not looked at", fen, n, results[i].Move, results[i].Score)
				}
			}
			if results[0].Move != results[1].Move {
				spared++
			}
		}
	}
	if spared == 0 {
		t.Error("no search was cut short so")
	}
}

// What a search finds shortly before fifty moves draw is not what another finds long before.
func TestTableKnowsTheClock(t *testing.T) {
	for _, threads := range []int{1, 2} {
		e := New(newMaterial, Options{HashMB: 1, Threads: threads})
		for _, clock := range []int{98, 97, 96, 50, 0} {
			fen := fmt.Sprintf("7k/8/8/5KQ1/8/8/8/8 w - - %d 80", clock)
			warm := mustSearch(t, e, mustLine(t, chess.Chess, fen, ""), search.Limits{Depth: 8})
			cold := mustSearch(t, New(newMaterial, Options{HashMB: 1}), mustLine(t, chess.Chess, fen, ""), search.Limits{Depth: 8})
			if (warm.Score == 0) != (cold.Score == 0) {
				t.Errorf("%d threads, clock %d: %v after a later one, %v alone", threads, clock, warm.Score, cold.Score)
			}
		}
	}
}
