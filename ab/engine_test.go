package ab

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

const (
	startFEN  = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	middleFEN = "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20"
)

func TestMates(t *testing.T) {
	for _, tc := range []struct {
		variant *chess.Variant
		fen     string
		moves   int // to mate, negative if the side to move is mated
		depth   int
	}{
		{chess.Crazyhouse, "6k1/5ppp/8/8/8/8/8/4K3[R] w - - 0 1", 1, 2},
		{chess.Crazyhouse, "6rk/6pp/8/8/8/8/8/4K3[N] w - - 0 1", 1, 2},
		{chess.Crazyhouse, "3k1bnr/4pp2/p1p5/4P1Pp/2B1p2R/1bP1K3/rPPB2P1/R3Q3[QNNNPppp] w - h6 0 23", 2, 5},
		{chess.Crazyhouse, "2k3qR~/1rp1p3/pp2P2b/P1rp1pP1/p5pp/P4Pn1/1B1Pn2R/RN2KB2[Bqn] b - - 1 34", 2, 5},
		{chess.Crazyhouse, "rq2kbnr/1NP1p3/pp1p1p2/5Qpp/1P5P/5b1b/P2BPP2/RN2KN1R[PPp] w Qkq - 1 23", 3, 7},
		{chess.Crazyhouse, "6n1/2Q~Pn1pr/Q3P1pp/p5k1/p2r3p/P1P1P1b1/1B1PN1Q1/RN1B1K2[BPPrp] w - - 0 59", 3, 7},
		{chess.Crazyhouse, "1kb3r1/r2bqr2/n1p3p1/7p/3P1K2/4PPPP/PbP1P3/1Q2NBNR[PPPnpp] w - - 0 32", -1, 4},
		{chess.Crazyhouse, "Q3B1k1/2N1p2r/1p6/1Pp2pN1/2KnP2p/R3QP2/1BPPPP1P/BN4R1[RBPPP] b - - 0 53", -2, 20}, // a mate in 3 is found in iteration 6
		{chess.Chess, "k7/8/1K6/8/8/8/8/7R w - - 0 1", 1, 2},
		{chess.Chess, "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, 25}, // a zugzwang, which selective rules are blind to at first
		{chess.Chess, "8/8/8/8/8/1K6/7R/k7 b - - 0 1", -1, 5},
	} {
		e := New(newMaterial, Options{HashMB: 4})
		r := mustSearch(t, e, mustLine(t, tc.variant, tc.fen, ""), search.Limits{Depth: tc.depth})
		if got := r.Score.MateIn(); got != tc.moves {
			t.Errorf("%s depth %d: %v, want mate %d", tc.fen, tc.depth, r.Score, tc.moves)
		}
	}
}

func TestNoStalemateWhenWinning(t *testing.T) {
	for _, fen := range []string{
		"7k/8/6K1/8/8/8/8/5Q2 w - - 0 1",
		"7k/8/8/5QK1/8/8/8/8 w - - 0 1",
		"k7/P7/8/1K6/8/8/8/6Q1 w - - 0 1",
	} {
		for depth := 2; depth <= 5; depth++ {
			l := mustLine(t, chess.Chess, fen, "")
			r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Depth: depth})
			l.Push(r.Move)
			if _, why := l.Outcome(); why == chess.Stalemate {
				t.Errorf("%s depth %d: %v stalemates", fen, depth, r.Move)
			}
		}
	}
}

func TestNoLegalMoves(t *testing.T) {
	for _, fen := range []string{"4R1k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "7k/5Q2/8/6K1/8/8/8/8 b - - 0 1"} {
		_, err := New(newMaterial, Options{HashMB: 1}).Search(context.Background(), mustLine(t, chess.Chess, fen, ""), search.Limits{Depth: 3})
		if !errors.Is(err, search.ErrNoLegalMoves) {
			t.Errorf("%s: error %v, want ErrNoLegalMoves", fen, err)
		}
	}
}

func TestNodeLimitIsExact(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := New(newMaterial, Options{HashMB: 1})
	for _, n := range []uint64{1, 2, 3, 57, 400, 1023, 1024, 1025, 2049, 20000} {
		if r := mustSearch(t, e, l, search.Limits{Nodes: n}); r.Nodes != n {
			t.Errorf("limit of %d nodes: visited %d", n, r.Nodes)
		}
	}
	e = New(newMaterial, Options{HashMB: 1, Threads: 3})
	if r := mustSearch(t, e, l, search.Limits{Nodes: 20000}); r.Nodes > 20000 || r.Nodes < 15000 {
		t.Errorf("limit of 20000 nodes with three threads: visited %d", r.Nodes)
	}
}

// playOut plays a short game against itself and returns what every search said.
func playOut(t *testing.T, e *Engine, v *chess.Variant, lim search.Limits) []search.Result {
	t.Helper()
	start := v.Start()
	l := chess.NewLine(start)
	var all []search.Result
	for range 12 {
		r := mustSearch(t, e, l, lim)
		r.Elapsed = 0
		all = append(all, r)
		l.Push(r.Move)
	}
	return all
}

func TestDeterministic(t *testing.T) {
	used := New(newMaterial, Options{HashMB: 1})
	for _, v := range chess.Variants() {
		for _, lim := range []search.Limits{{Nodes: 700}, {Depth: 4}, {Nodes: 3000, MultiPV: 3}} {
			want := playOut(t, New(newMaterial, Options{HashMB: 1}), v, lim)
			if err := used.NewGame(); err != nil {
				t.Fatal(err)
			}
			if got := playOut(t, used, v, lim); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, limits %+v: a used engine plays another game after NewGame than a fresh one", v, lim)
			}
		}
	}
	used.Clear()
	used.Resize(2)
	fresh := New(newMaterial, Options{HashMB: 2})
	lim := search.Limits{Nodes: 2000}
	if got, want := playOut(t, used, chess.Crazyhouse, lim), playOut(t, fresh, chess.Crazyhouse, lim); !reflect.DeepEqual(got, want) {
		t.Error("an engine cleared and resized plays another game than a fresh one")
	}
}

func TestSearchAllocatesLittle(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := New(newMaterial, Options{HashMB: 1})
	for _, n := range []uint64{300, 30000} {
		allocs := testing.AllocsPerRun(3, func() { mustSearch(t, e, l, search.Limits{Nodes: n}) })
		if allocs > 12 {
			t.Errorf("%d nodes: %v allocations, want at most 12", n, allocs)
		}
	}
}

func TestSearchMoves(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	var legal chess.MoveList
	l.Pos().Legal(&legal)
	illegal := chess.NewMove(chess.Square(63), chess.Square(62), chess.Normal)
	e := New(newMaterial, Options{HashMB: 1})
	for i := 0; i+1 < legal.N; i += 17 {
		only := []chess.Move{illegal, legal.Moves[i], legal.Moves[i+1]}
		for _, n := range []uint64{1, 200, 2000} {
			if r := mustSearch(t, e, l, search.Limits{Nodes: n, SearchMoves: only}); !slices.Contains(only[1:], r.Move) {
				t.Errorf("found %v, want one of %v", r.Move, only[1:])
			}
		}
	}
	mustSearch(t, e, l, search.Limits{Depth: 2, SearchMoves: []chess.Move{illegal}})
}

func TestMultiPV(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 1})
	for _, tc := range []struct {
		variant *chess.Variant
		fen     string
		lines   int
	}{
		{chess.Crazyhouse, middleFEN, 4},
		{chess.Chess, "8/8/8/8/8/1K6/7R/k7 b - - 0 1", 1}, // one legal move
	} {
		l := mustLine(t, tc.variant, tc.fen, "")
		for n := uint64(150); n < 6000; n += 431 {
			r := mustSearch(t, e, l, search.Limits{Nodes: n, Depth: 12, MultiPV: 4})
			if r.Depth > 0 && len(r.Lines) != tc.lines {
				t.Fatalf("%s: %d lines, want %d", tc.fen, len(r.Lines), tc.lines)
			}
			checkLines(t, l, r)
		}
	}
}

// checkLines checks that the lines of a result are legal, distinct and sorted.
func checkLines(t *testing.T, l *chess.Line, r search.Result) {
	t.Helper()
	if len(r.Lines) > 0 && (r.Lines[0].Score != r.Score || !slices.Equal(r.Lines[0].PV, r.PV)) {
		t.Errorf("first line %+v is not the result %v %v", r.Lines[0], r.Score, r.PV)
	}
	seen := map[chess.Move]bool{}
	for i, line := range r.Lines {
		checkPV(t, l, line.PV)
		if seen[line.PV[0]] {
			t.Errorf("move %v has two lines", line.PV[0])
		}
		seen[line.PV[0]] = true
		if i > 0 && line.Score > r.Lines[i-1].Score {
			t.Errorf("line %d has score %v, the one before %v", i, line.Score, r.Lines[i-1].Score)
		}
	}
}

func TestOnInfo(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := New(newMaterial, Options{HashMB: 1})
	var infos []search.Info
	e.OnInfo = func(i search.Info) { infos = append(infos, i) }
	r := mustSearch(t, e, l, search.Limits{Depth: 5, MultiPV: 2})
	if len(infos) != 10 {
		t.Fatalf("%d reports, want 2 for each of 5 iterations", len(infos))
	}
	for i, info := range infos {
		checkPV(t, l, info.PV)
		if info.Depth != 1+i/2 || info.MultiPV != 1+i%2 || info.SelDepth < info.Depth/2 || info.Bound != search.Exact {
			t.Errorf("report %d: %+v", i, info)
		}
		if i > 0 && info.Nodes < infos[i-1].Nodes {
			t.Errorf("report %d: nodes fall from %d to %d", i, infos[i-1].Nodes, info.Nodes)
		}
	}
	if last := infos[8]; last.Score != r.Score || !slices.Equal(last.PV, r.PV) || last.Nodes != r.Nodes || last.Hashfull == 0 {
		t.Errorf("last report %+v, result %+v", last, r)
	}
}

func TestMateLimit(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, "2k3qR~/1rp1p3/pp2P2b/P1rp1pP1/p5pp/P4Pn1/1B1Pn2R/RN2KB2[Bqn] b - - 1 34", "")
	r := mustSearch(t, New(newMaterial, Options{HashMB: 1}), l, search.Limits{Mate: 2})
	if r.Score.MateIn() != 2 {
		t.Errorf("score %v, want mate 2", r.Score)
	}
}

// fastest returns the shortest time that f takes, which is what the engine needs,
// whatever else the machine does: it tries again, on a starved machine often, while
// that is more than enough.
func fastest(enough time.Duration, f func() time.Duration) time.Duration {
	least := f()
	for began := time.Now(); least > enough && time.Since(began) < 20*time.Second; {
		least = min(least, f())
	}
	return least
}

func TestStopsWithContext(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, startFEN, "")
	e := New(newMaterial, Options{HashMB: 1, Threads: 2})
	took := fastest(20*time.Millisecond, func() time.Duration {
		ctx, cancel := context.WithCancel(context.Background())
		var stopped time.Time
		time.AfterFunc(20*time.Millisecond, func() { stopped = time.Now(); cancel() })
		r, err := e.Search(ctx, l, search.Limits{Infinite: true, Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, l, r)
		return time.Since(stopped)
	})
	if took > 20*time.Millisecond {
		t.Errorf("returned %v after being stopped", took)
	}

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := e.Search(ended, l, search.Limits{Depth: 30})
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
}

func TestTimeLimits(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := New(newMaterial, Options{HashMB: 1})
	for _, tc := range []struct {
		name        string
		lim         search.Limits
		least, most time.Duration
	}{
		{"movetime", search.Limits{MoveTime: 60 * time.Millisecond, Overhead: 20 * time.Millisecond}, 39 * time.Millisecond, 60 * time.Millisecond},
		// Of a share of 94 ms a move beyond doubt takes a third.
		{"clock", search.Limits{Time: [2]time.Duration{time.Second, time.Hour}, Inc: [2]time.Duration{20 * time.Millisecond}}, 10 * time.Millisecond, 55 * time.Millisecond},
		{"flag falling", search.Limits{Time: [2]time.Duration{time.Millisecond, time.Hour}, Overhead: time.Second}, 0, 20 * time.Millisecond},
	} {
		took := fastest(tc.most, func() time.Duration { return mustSearch(t, e, l, tc.lim).Elapsed })
		if took < tc.least || took > tc.most {
			t.Errorf("%s: took %v, want %v to %v", tc.name, took, tc.least, tc.most)
		}
	}
}

func TestPonder(t *testing.T) {
	synctest.Test(t, testPonder)

	// Time ends a search that was hit.
	e := New(newMaterial, Options{HashMB: 1})
	e.Ponderhit()
	l := mustLine(t, chess.Crazyhouse, startFEN, "")
	r, err := e.Search(t.Context(), l, search.Limits{Ponder: true, MoveTime: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
}

// A search that pondered for longer than the move deserves ends as soon as it is hit.
func TestPonderHitAfterLong(t *testing.T) {
	p := chess.Crazyhouse.Start()
	lim := search.Limits{Ponder: true, Time: [2]time.Duration{time.Minute, time.Minute}} // some 2 s a move
	for _, long := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := &worker{moves: make([]rootMove, 2)}
			c := newControl(&lim, &p, 1)
			var hits clock.Switch
			end := hits.Begin(t.Context(), c.Clock)
			if long {
				time.Sleep(time.Minute)
			}
			if c.enough(w) {
				t.Errorf("pondered long %t: no further iteration before the hit", long)
			}
			hits.Hit()
			if c.Stopped() != long {
				t.Errorf("pondered long %t: stopped by the hit %t", long, !long)
			}
			end()
		})
	}
}

// testPonder runs in a bubble of package synctest.
func testPonder(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, startFEN, "")
	e := New(newMaterial, Options{HashMB: 1})
	begin := func(ctx context.Context, lim search.Limits) <-chan search.Result {
		done := make(chan search.Result, 1)
		go func() {
			r, err := e.Search(ctx, l, lim)
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		return done
	}
	waits := func(done <-chan search.Result) {
		t.Helper()
		select {
		case <-done:
			t.Fatal("answered before the ponder hit")
		case <-time.After(time.Hour): // of the test's own time, which passes while all wait
		}
	}

	lim := search.Limits{Ponder: true, Depth: 2}
	done := begin(context.Background(), lim)
	waits(done)
	e.Ponderhit()
	checkResult(t, l, <-done)

	// Time does not count before the hit.
	done = begin(context.Background(), search.Limits{Ponder: true, Depth: 2, MoveTime: 10 * time.Millisecond})
	waits(done)
	e.Ponderhit()
	checkResult(t, l, <-done)

	ctx, cancel := context.WithCancel(context.Background())
	done = begin(ctx, lim)
	waits(done)
	cancel()
	checkResult(t, l, <-done)

	// A hit that overtakes its search is not lost; it counts for one search.
	e.Ponderhit()
	checkResult(t, l, <-begin(context.Background(), lim))
	ctx, cancel = context.WithCancel(context.Background())
	done = begin(ctx, lim)
	waits(done)
	cancel()
	<-done
}
