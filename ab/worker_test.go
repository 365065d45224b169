package ab

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// begun returns a worker at the root of a search of l.
func begun(l *chess.Line) *worker {
	w := New(newMaterial, Options{HashMB: 1}).workers[0]
	w.begin(l, newControl(&search.Limits{}, l.Pos(), 1), newTuning(l.Pos().Variant(), nil))
	return w
}

func TestRepetition(t *testing.T) {
	const rooks = "rr5k/8/8/8/8/8/8/R6K[] w - - 0 1"
	const cycle = "a1a8 b8a8 R@a1 R@b8 " // captures and drops that restore the position
	for _, tc := range []struct {
		name          string
		variant       *chess.Variant
		fen           string
		played, moves string
		want          bool
	}{
		{"once since the root, by captures and drops", chess.Crazyhouse, rooks, "", cycle, true},
		{"once in the game before", chess.Crazyhouse, rooks, "a1a8 b8a8", "R@a1 R@b8", false},
		{"twice in the game before", chess.Crazyhouse, rooks, cycle + "a1a8 b8a8", "R@a1 R@b8", true},
		{"not yet", chess.Crazyhouse, rooks, "", "a1a8 b8a8 R@a1", false},
		{"other hands", chess.Crazyhouse, "rr5k/8/8/8/8/8/8/R6K[Pp] w - - 0 1", "", "a1a8 b8a8 R@a1 P@c7", false},
		{"chess", chess.Chess, "4k2r/8/8/8/8/8/8/R3K3 w - - 0 1", "a1b1 h8g8", "b1a1 g8h8 a1b1 h8g8", true},
		{"chess, castling rights lost", chess.Chess, "4k2r/8/8/8/8/8/8/R3K3 w Q - 0 1", "", "a1b1 h8g8 b1a1 g8h8", false},
	} {
		w := begun(mustLine(t, tc.variant, tc.fen, tc.played))
		w.iterate(1)
		ply := 0
		for _, m := range mustLine(t, tc.variant, tc.fen, tc.played+" "+tc.moves).Moves()[len(w.keys)-1:] {
			w.make(ply, m)
			ply++
		}
		if got := w.drawn(ply); got != tc.want {
			t.Errorf("%s: drawn = %v, want %v", tc.name, got, tc.want)
		}
		for range ply {
			w.unmake()
		}
		if len(w.keys)-1 != w.root {
			t.Errorf("%s: keys are not back at the root", tc.name)
		}
	}
}

// A position that comes back by passing the turn has not been repeated.
func TestNullMoveIsNoRepetition(t *testing.T) {
	w := begun(mustLine(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/R3K3[] w - - 0 1", ""))
	e1d1, e8d8 := chess.NewMove(4, 3, chess.Normal), chess.NewMove(60, 59, chess.Normal)
	d1e1, d8e8 := chess.NewMove(3, 4, chess.Normal), chess.NewMove(59, 60, chess.Normal)
	for ply, m := range []chess.Move{e1d1, chess.NoMove, d1e1, chess.NoMove} {
		w.make(ply, m)
	}
	if w.drawn(4) {
		t.Error("drawn after two null moves")
	}
	for ply, m := range []chess.Move{e1d1, e8d8, d1e1, d8e8} {
		w.make(4+ply, m)
	}
	if !w.drawn(8) {
		t.Error("a repetition after the null move is not seen")
	}
}

// A perpetual check saves the side that is lost otherwise.
func TestSeesPerpetualCheck(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 1})
	r := mustSearch(t, e, mustLine(t, chess.Chess, "6k1/6p1/8/7Q/8/8/rq5P/7K w - - 0 1", ""), search.Limits{Depth: 8})
	if r.Score != 0 {
		t.Errorf("score %v, want a draw", r.Score)
	}
}

// The rook drop would complete a threefold repetition that began before the
// root: whoever is ahead avoids it, whoever is behind seeks it.
func TestHistoryDrawsAtTheRoot(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, "rr5k/8/8/8/8/8/8/R6K[] w - - 0 1",
		"a1a8 b8a8 R@a1 R@b8 a1a8 b8a8 R@a1")
	drop := chess.NewDrop(chess.Rook, chess.Square(57))
	if !l.Pos().IsLegal(drop) {
		t.Fatal("the drop is not legal")
	}
	r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: 1, SearchMoves: []chess.Move{drop}})
	if r.Score != 0 {
		t.Errorf("score of the third occurrence %v, want 0", r.Score)
	}
	r = mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: 4})
	if r.Score <= 0 || r.Move == drop {
		t.Errorf("the side ahead plays %v for %v", r.Move, r.Score)
	}
}

func TestFiftyMoves(t *testing.T) {
	// Mate on the hundredth ply counts; a quiet move there draws.
	l := mustLine(t, chess.Chess, "k7/8/1K6/8/8/8/8/7R w - - 99 100", "")
	if r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: 3}); r.Score.MateIn() != 1 {
		t.Errorf("mate at the fiftieth move scores %v", r.Score)
	}
	l = mustLine(t, chess.Chess, "7k/8/8/8/8/8/1K6/7R b - - 99 100", "")
	if r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: 3}); r.Score != 0 {
		t.Errorf("the fiftieth move without mate scores %v", r.Score)
	}
	// Crazyhouse knows no such rule.
	l = mustLine(t, chess.Crazyhouse, "7k/8/8/8/8/8/1K6/R7[] w - - 99 100", "")
	if r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: 3}); r.Score < 200 {
		t.Errorf("crazyhouse at halfmove clock 99 scores %v", r.Score)
	}
}

func TestHistoryStaysInBounds(t *testing.T) {
	var v int16
	for _, bonus := range []int32{1200, -1200, historyMax, -historyMax} {
		for range 10000 {
			if gravitate(&v, bonus); v > historyMax || v < -historyMax {
				t.Fatalf("history value %d beyond ±%d", v, historyMax)
			}
		}
	}
	if v > -historyMax*9/10 {
		t.Errorf("10000 penalties leave %d", v)
	}
}

// Ordering hands out every legal move once, the table's first.
func TestNextMoveIsAPermutation(t *testing.T) {
	w := begun(mustLine(t, chess.Crazyhouse, startFEN, ""))
	f := &w.stack[0]
	var legal chess.MoveList
	walk(t, 2, 4, func(p *chess.Position) {
		f.pos = *p
		p.Legal(&legal)
		first := legal.Moves[legal.N/2]
		f.picker.reset(first)
		seen := map[chess.Move]bool{}
		for m, _ := w.nextMove(0); m != chess.NoMove; m, _ = w.nextMove(0) {
			if len(seen) == 0 && m != first {
				t.Fatalf("%s: %v comes before the table's move %v", p.FEN(), m, first)
			}
			if seen[m] || !p.IsLegal(m) {
				t.Fatalf("%s: %v is illegal or comes twice", p.FEN(), m)
			}
			seen[m] = true
		}
		if len(seen) != legal.N {
			t.Fatalf("%s: %d moves, want %d", p.FEN(), len(seen), legal.N)
		}
	})
}

// Once late quiet moves are left out, every capture and check that was not handed out
// still comes, and nothing else.
func TestKeepSharp(t *testing.T) {
	w := begun(mustLine(t, chess.Crazyhouse, startFEN, ""))
	f := &w.stack[0]
	var legal chess.MoveList
	rng := rand.New(rand.NewPCG(1, 2))
	for side := range w.history.quiet {
		for i := range w.history.quiet[side] {
			w.history.quiet[side][i] = int16(rng.IntN(2*historyMax) - historyMax) // or all checks came first
		}
	}
	losing, checks := 0, 0
	walk(t, 3, 40, func(p *chess.Position) {
		f.pos, f.inCheck = *p, p.InCheck()
		p.Legal(&legal)
		squares := p.CheckSquares()
		want := map[chess.Move]bool{}
		for _, m := range legal.Slice() {
			want[m] = isNoisy(p, m) || checksDirectly(p, m, &squares)
		}
		f.picker.reset(chess.NoMove)
		late := false
		for m, order := w.nextMove(0); m != chess.NoMove; m, order = w.nextMove(0) {
			if late && !want[m] {
				t.Fatalf("%s: %s comes twice, or is quiet and no check", p.FEN(), p.UCI(m))
			}
			if late && order < bandLosing/2 {
				losing++
			} else if late {
				checks++
			}
			if !late && !want[m] {
				f.picker.keepSharp(p, &squares, true)
				late = true
			}
			want[m] = false
		}
		for m, left := range want {
			if late && left {
				t.Fatalf("%s: %s was not handed out", p.FEN(), p.UCI(m))
			}
		}
	})
	if losing == 0 || checks == 0 {
		t.Errorf("%d losing captures and %d checks seen, expected some of both", losing, checks)
	}
}

// Squares of direct checks agree with the rules wherever the moved piece itself
// gives the check.
func TestChecksDirectly(t *testing.T) {
	var legal chess.MoveList
	walk(t, 3, 6, func(p *chess.Position) {
		squares := p.CheckSquares()
		p.Legal(&legal)
		for _, m := range legal.Slice() {
			got := checksDirectly(p, m, &squares)
			if got && !p.GivesCheck(m) || m.IsDrop() && got != p.GivesCheck(m) {
				t.Fatalf("%s %s: direct check %v, check %v", p.FEN(), p.UCI(m), got, p.GivesCheck(m))
			}
		}
	})
}

// mayRepeatSlowly is mayRepeat by making every reversible move.
func mayRepeatSlowly(w *worker, ply int) bool {
	p := &w.stack[ply].pos
	var l chess.MoveList
	p.Legal(&l)
	for _, m := range l.Slice() {
		if m.IsDrop() || m.IsCastle() || p.IsCapture(m) || p.PieceAt(m.From()).Type() == chess.Pawn {
			continue
		}
		w.make(ply, m)
		repeats := w.repeated(&w.stack[ply+1])
		w.unmake()
		if repeats {
			return true
		}
	}
	return false
}

// Repetitions by a move of a piece are foreseen in lines that go to and fro, begin
// within the game and pass the turn now and then.
func TestMayRepeat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	found := 0
	for game := range 200 {
		v := chess.Variants()[game%2]
		w := begun(mustLine(t, v, "r3k2r/8/8/3q4/3Q4/8/8/R3K2R w - - 0 1", "a1b1 a8b8 b1a1 b8a8"[:5*rng.IntN(4)]))
		for ply := range 40 {
			if f := &w.stack[ply]; !f.pos.InCheck() && rng.IntN(20) == 0 {
				w.make(ply, chess.NoMove)
				continue
			}
			var l chess.MoveList
			if w.stack[ply].pos.Legal(&l); l.N == 0 {
				break
			}
			m := l.Moves[rng.IntN(l.N)]
			if ply >= 2 && rng.IntN(3) > 0 {
				for _, other := range l.Slice() {
					if back := w.stack[ply-2].move; !other.IsDrop() && other.From() == back.To() && other.To() == back.From() {
						m = other
					}
				}
			}
			w.make(ply, m)
			got, want := w.mayRepeat(ply+1), mayRepeatSlowly(w, ply+1)
			if got != want {
				t.Fatalf("%s after %d plies: %v, want %v", w.stack[ply+1].pos.FEN(), ply+1, got, want)
			}
			if want {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("%d positions could be repeated; the test is to see some", found)
	}
}
