package mcts

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

var mates = []struct {
	variant *chess.Variant
	fen     string
	moves   int // to mate, negative if the side to move is mated
	probe   int // the least that finds it with uniform priors in a moment
}{
	{chess.Crazyhouse, "6k1/5ppp/8/8/8/8/8/4K3[R] w - - 0 1", 1, 0},
	{chess.Crazyhouse, "6rk/6pp/8/8/8/8/8/4K3[N] w - - 0 1", 1, 0},
	{chess.Crazyhouse, "3k1bnr/4pp2/p1p5/4P1Pp/2B1p2R/1bP1K3/rPPB2P1/R3Q3[QNNNPppp] w - h6 0 23", 2, 1},
	{chess.Crazyhouse, "2k3qR~/1rp1p3/pp2P2b/P1rp1pP1/p5pp/P4Pn1/1B1Pn2R/RN2KB2[Bqn] b - - 1 34", 2, 1},
	{chess.Crazyhouse, "rq2kbnr/1NP1p3/pp1p1p2/5Qpp/1P5P/5b1b/P2BPP2/RN2KN1R[PPp] w Qkq - 1 23", 3, 3},
	{chess.Crazyhouse, "6n1/2Q~Pn1pr/Q3P1pp/p5k1/p2r3p/P1P1P1b1/1B1PN1Q1/RN1B1K2[BPPrp] w - - 0 59", 3, 3},
	{chess.Crazyhouse, "1kb3r1/r2bqr2/n1p3p1/7p/3P1K2/4PPPP/PbP1P3/1Q2NBNR[PPPnpp] w - - 0 32", -1, 0},
	{chess.Crazyhouse, "Q3B1k1/2N1p2r/1p6/1Pp2pN1/2KnP2p/R3QP2/1BPPPP1P/BN4R1[RBPPP] b - - 0 53", -2, 1},
	{chess.Chess, "k7/8/1K6/8/8/8/8/7R w - - 0 1", 1, 0},
	{chess.Chess, "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, 0},
	{chess.Chess, "8/8/8/8/8/1K6/7R/k7 b - - 0 1", -1, 0},
}

// TestMateLimit: a search for a mate ends once it is proved, however many lines are asked
// for.
func TestMateLimit(t *testing.T) {
	l := mustLine(t, chess.Chess, "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "")
	for _, lines := range []int{1, 2} {
		e := mustNew(t, Uniform{}, func(o *Options) { o.MateProbe = 0 })
		r := mustSearch(t, e, l, search.Limits{Mate: 1, MultiPV: lines, Nodes: 50000})
		if r.Score.MateIn() != 1 || r.Nodes > 5000 {
			t.Errorf("%d lines: score %v after %d nodes, expected mate 1 before 5000", lines, r.Score, r.Nodes)
		}
	}
}

func TestMates(t *testing.T) {
	for _, tc := range mates {
		for _, probe := range []int{0, 1, 3} {
			if probe < tc.probe {
				continue
			}
			e := mustNew(t, Uniform{}, func(o *Options) { o.MateProbe = probe })
			l := mustLine(t, tc.variant, tc.fen, "")
			r := mustSearch(t, e, l, search.Limits{Nodes: 20000, Mate: max(tc.moves, -tc.moves)})
			if got := r.Score.MateIn(); got != tc.moves {
				t.Errorf("%s, probe of %d plies: %v after %d nodes, want mate %d", tc.fen, probe, r.Score, r.Nodes, tc.moves)
			}
		}
	}
}

func TestNoLegalMoves(t *testing.T) {
	for _, fen := range []string{"4R1k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "7k/5Q2/8/6K1/8/8/8/8 b - - 0 1"} {
		_, err := mustNew(t, Uniform{}, nil).Search(context.Background(), mustLine(t, chess.Chess, fen, ""), search.Limits{Nodes: 3})
		if !errors.Is(err, search.ErrNoLegalMoves) {
			t.Errorf("%s: error %v, want ErrNoLegalMoves", fen, err)
		}
	}
}

func TestNodeLimitIsExact(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	for _, batch := range []int{1, 8, 64} {
		for _, n := range []uint64{1, 2, 3, 57, 400, 1025} {
			e := mustNew(t, &scatter{}, func(o *Options) { o.Batch = batch })
			if r := mustSearch(t, e, l, search.Limits{Nodes: n}); r.Nodes != n {
				t.Errorf("batch %d, limit of %d nodes: visited %d", batch, n, r.Nodes)
			}
			if root := e.tree.node(e.tree.root); root.visits != uint32(n) {
				t.Errorf("batch %d: root has %d visits after %d", batch, root.visits, n)
			}
		}
	}
}

// playOut plays a short game against itself and returns what every search said.
func playOut(t *testing.T, e *Engine, v *chess.Variant, lim search.Limits) []search.Result {
	t.Helper()
	l := chess.NewLine(v.Start())
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
	used := mustNew(t, &scatter{}, nil)
	for _, v := range chess.Variants() {
		for _, lim := range []search.Limits{{Nodes: 300}, {Depth: 6}, {Nodes: 400, MultiPV: 3}} {
			want := playOut(t, mustNew(t, &scatter{}, nil), v, lim)
			if err := used.NewGame(); err != nil {
				t.Fatal(err)
			}
			if got := playOut(t, used, v, lim); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, limits %+v: a used engine plays another game after NewGame than a fresh one", v, lim)
			}
		}
	}
	seeded := func(o *Options) {
		*o = selfPlayOptions(rand.New(rand.NewPCG(1, 2)))
		o.PlayoutCap = PlayoutCap{Full: 0.5, Fast: 10}
	}
	lim := search.Limits{Nodes: 32}
	if a, b := playOut(t, mustNew(t, &scatter{}, seeded), chess.Crazyhouse, lim), playOut(t, mustNew(t, &scatter{}, seeded), chess.Crazyhouse, lim); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives other games")
	}
}

// TestBeatsRandom plays against a mover that knows nothing: proofs alone are
// enough to win.
func TestBeatsRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	won, games := 0, 4
	for g := range games {
		e := mustNew(t, Uniform{}, nil)
		us := chess.Color(g % 2)
		l := chess.NewLine(chess.Crazyhouse.Start())
		for l.Len() < 300 {
			if o, _ := l.Outcome(); o != chess.Ongoing {
				if o == chess.Win(us) {
					won++
				}
				break
			}
			if l.Pos().SideToMove() == us {
				l.Push(mustSearch(t, e, l, search.Limits{Nodes: 200}).Move)
				continue
			}
			var moves chess.MoveList
			l.Pos().Legal(&moves)
			l.Push(moves.Moves[rng.IntN(moves.N)])
		}
	}
	if won < games {
		t.Errorf("won %d of %d games", won, games)
	}
}

func TestStopsAtOnce(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	e := mustNew(t, &scatter{}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := e.Search(ctx, l, search.Limits{Infinite: true})
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
	began := time.Now()
	mustSearch(t, e, l, search.Limits{MoveTime: 30 * time.Millisecond})
	if took := time.Since(began); took > time.Second {
		t.Errorf("30 ms took %v", took)
	}
}
