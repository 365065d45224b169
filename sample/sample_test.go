package sample

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// newGame plays the moves, in UCI, from a position. Ply i has score 100·i and
// may be trained on.
func newGame(t *testing.T, fen, moves string) *game.Game {
	t.Helper()
	start, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	g := &game.Game{Variant: chess.Crazyhouse, Start: start}
	line := chess.NewLine(start)
	for i, text := range strings.Fields(moves) {
		m, err := line.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		line.Push(m)
		g.Plies = append(g.Plies, game.Ply{Move: m, Score: search.Score(100 * i), HasScore: true, Train: true})
	}
	g.Outcome, g.Reason = line.Outcome()
	return g
}

const (
	startFEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	// afterF3 is the start position after 1. f3: Black to move.
	afterF3 = "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR[] b KQkq - 0 1"
)

// TestResult follows a game that Black wins from White's and from Black's move,
// and with opening moves of either parity that are not samples.
func TestResult(t *testing.T) {
	for _, tc := range []struct {
		fen, moves string
		opening    int
		want       string
	}{
		{startFEN, "f2f3 e7e5 g2g4 d8h4", 0, "-+-+"},
		{startFEN, "f2f3 e7e5 g2g4 d8h4", 1, "+-+"},
		{startFEN, "f2f3 e7e5 g2g4 d8h4", 2, "-+"},
		{afterF3, "e7e5 g2g4 d8h4", 0, "+-+"},
		{afterF3, "e7e5 g2g4 d8h4", 1, "-+"},
		{startFEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", 5, "==="},
	} {
		g := newGame(t, tc.fen, tc.moves)
		for i := range tc.opening {
			g.Plies[i] = game.Ply{Move: g.Plies[i].Move}
		}
		samples := From(g, Filter{}, nil, nil)
		got := ""
		for i, s := range samples {
			got += string("-=+"[s.Result+1])
			ply := tc.opening + i
			if int(s.Ply) != ply || s.Move != g.Plies[ply].Move || s.Score != search.Score(100*ply) {
				t.Errorf("%s: sample %d is %+v", tc.moves, i, s)
			}
			black := s.Pos.SideToMove() == chess.Black
			if g.Outcome == chess.BlackWins && black != (s.Result == 1) {
				t.Errorf("%s: result %d with %v to move", tc.moves, s.Result, s.Pos.SideToMove())
			}
		}
		if got != tc.want {
			t.Errorf("%s from ply %d: results %s, expected %s", tc.moves, tc.opening, got, tc.want)
		}
	}
}

// TestPositions compares the positions of the samples with the game's line.
func TestPositions(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 d7d5 e4d5 d8d5 P@d7 c8d7 b1c3 d5e5")
	g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	samples := From(g, Filter{}, nil, nil)
	line := chess.NewLine(g.Start)
	for i, s := range samples {
		if s.Pos != *line.Pos() {
			t.Errorf("ply %d: %s, expected %s", i, s.Pos.FEN(), line.Pos().FEN())
		}
		line.Push(s.Move)
	}
	if len(samples) != len(g.Plies) {
		t.Errorf("%d samples of %d plies", len(samples), len(g.Plies))
	}
}

// TestComplete goes through a game whose first position comes back twice.
func TestComplete(t *testing.T) {
	g := newGame(t, startFEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
	g.Plies[1].Train = false
	samples := From(g, Filter{}, nil, nil)
	Complete(g, samples)
	for i, want := range []uint8{0, 0, 0, 1, 1, 1, 1} {
		s := &samples[i]
		if s.Repetitions != want || s.PliesLeft != uint16(len(g.Plies))-s.Ply {
			t.Errorf("ply %d: %d times before, %d plies left", s.Ply, s.Repetitions, s.PliesLeft)
		}
	}
	Complete(g, nil)
}

// TestCompleteClocks: positions count quiet moves as tree searches do.
func TestCompleteClocks(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 d7d5 e4d5 d8d5 b1c3 P@e6 c3d5 e6d5 Q@d4 N@f6 d4d3 f6d7 P@h6")
	g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	samples := From(g, Filter{}, nil, nil)
	Complete(g, samples)
	line := chess.NewLine(g.Start)
	for i := range samples {
		if want := search.Current(line); samples[i].Pos != want {
			t.Errorf("ply %d: %s, expected %s", i, samples[i].Pos.FEN(), want.FEN())
		}
		line.Push(g.Plies[i].Move)
	}
}

// TestFilter switches each condition on alone. The game has captures, a drop
// that checks, a capture in answer to it and a quiet drop.
func TestFilter(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 d7d5 e4d5 d8d5 P@d7 e8d7 b1c3 P@e4 c3e4 d5e4")
	g.Outcome, g.Reason = chess.WhiteWins, game.AdjudicatedWin
	g.Plies[0].Train, g.Plies[9].HasScore, g.Plies[9].Score = false, false, 0
	for _, tc := range []struct {
		name   string
		filter Filter
		want   string // plies kept
		counts Counts
	}{
		{"none", Filter{}, "1 2 3 4 5 6 7 8 9", Counts{}},
		{"check", Filter{SkipInCheck: true}, "1 2 3 4 6 7 8 9", Counts{InCheck: 1}},
		{"captures", Filter{SkipCaptures: true}, "1 4 6 7", Counts{Captures: 5}},
		{"ply", Filter{MinPly: 3}, "3 4 5 6 7 8 9", Counts{Early: 2}},
		{"score", Filter{MaxScore: 500}, "1 2 3 4 5 9", Counts{LargeScore: 3}},
		{"no score", Filter{RequireScore: true}, "1 2 3 4 5 6 7 8", Counts{NoScore: 1}},
		{
			"all", Filter{SkipInCheck: true, SkipCaptures: true, MinPly: 2, MaxScore: 700, RequireScore: true},
			"4 6 7", Counts{Early: 1, NoScore: 1, LargeScore: 1, InCheck: 1, Captures: 2},
		},
	} {
		var n Counts
		got := ""
		for _, s := range From(g, tc.filter, &n, nil) {
			got += fmt.Sprint(" ", s.Ply)
		}
		if got = strings.TrimSpace(got); got != tc.want {
			t.Errorf("%s: kept %s, expected %s", tc.name, got, tc.want)
		}
		pos, passed := g.Start, ""
		for i := range g.Plies {
			if tc.filter.Passes(&g.Plies[i], i, TraitsOf(&pos, g.Plies[i].Move)) {
				passed += fmt.Sprint(" ", i)
			}
			pos.Make(g.Plies[i].Move)
		}
		if passed = strings.TrimSpace(passed); passed != tc.want {
			t.Errorf("%s: passed %s, expected %s", tc.name, passed, tc.want)
		}
		tc.counts.Plies, tc.counts.Untrained = 10, 1
		tc.counts.Kept = uint64(len(strings.Fields(tc.want)))
		if n != tc.counts {
			t.Errorf("%s: counts %+v, expected %+v", tc.name, n, tc.counts)
		}
		if sum := n.Untrained + n.Early + n.NoScore + n.LargeScore + n.InCheck + n.Captures + n.Kept; sum != n.Plies {
			t.Errorf("%s: counts add up to %d of %d", tc.name, sum, n.Plies)
		}
	}
}

// TestPromotions: quiet promotions count as captures do, under-promotions too.
func TestPromotions(t *testing.T) {
	for _, move := range []string{"b7b8q", "b7b8n", "b7a8r"} {
		g := newGame(t, "r6k/1P6/8/8/8/8/8/1K6[] w - - 0 1", move)
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
		if s := From(g, Filter{SkipCaptures: true}, nil, nil); len(s) != 0 {
			t.Errorf("%s is kept", move)
		}
	}
}

func TestNegativeScores(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 e7e5")
	g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	g.Plies[0].Score, g.Plies[1].Score = -501, -500
	if s := From(g, Filter{MaxScore: 500}, nil, nil); len(s) != 1 || s[0].Ply != 1 {
		t.Errorf("%d samples", len(s))
	}
}

func TestFromAppendsAndSums(t *testing.T) {
	g := newGame(t, startFEN, "f2f3 e7e5 g2g4 d8h4")
	var n, sum Counts
	dst := From(g, Filter{MinPly: 2}, &n, make([]Sample, 1, 10))
	dst = From(g, Filter{MinPly: 2}, &n, dst)
	if len(dst) != 5 || n.Plies != 8 || n.Early != 4 || n.Kept != 4 {
		t.Errorf("%d samples, %+v", len(dst), n)
	}
	sum.Add(n)
	sum.Add(Counts{1, 2, 3, 4, 5, 6, 7, 8})
	if want := (Counts{9, 2, 7, 4, 5, 6, 7, 12}); sum != want {
		t.Errorf("%+v, expected %+v", sum, want)
	}
	if allocs := testing.AllocsPerRun(10, func() { From(g, Filter{}, &n, dst[:0]) }); allocs != 0 {
		t.Errorf("%v allocations with room in dst", allocs)
	}
}

func TestUnfinishedGame(t *testing.T) {
	g := newGame(t, startFEN, "f2f3 e7e5")
	if s := From(g, Filter{}, nil, nil); len(s) != 0 {
		t.Errorf("%d samples of a game without an outcome", len(s))
	}
}

// TestHeldOut pins the split, which must never change: a game held out once must
// stay so.
func TestHeldOut(t *testing.T) {
	held := 0
	var first []int
	for i := range 20_000 {
		if HeldOut(fmt.Sprintf("actor-%d", i)) {
			held++
			if len(first) < 5 {
				first = append(first, i)
			}
		}
	}
	if held < 900 || held > 1100 {
		t.Errorf("%d of 20000 held out, expected about 1000", held)
	}
	if got := fmt.Sprint(first); got != heldOutFirst {
		t.Errorf("the first held out are %s, expected %s", got, heldOutFirst)
	}
}

// heldOutFirst was computed by another program.
const heldOutFirst = "[9 41 62 78 107]"
