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
		samples := From(g, RulesClock, nil)
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
	samples := From(g, RulesClock, nil)
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

// TestHistory goes through a game whose first position comes back twice.
func TestHistory(t *testing.T) {
	g := newGame(t, startFEN, "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
	g.Plies[1].Train = false
	for _, clock := range []Clock{RulesClock, PlanesClock} {
		samples := From(g, clock, nil)
		for i, want := range []uint8{0, 0, 0, 1, 1, 1, 1} {
			s := &samples[i]
			if s.Repetitions != want || s.PliesLeft != uint16(len(g.Plies))-s.Ply {
				t.Errorf("ply %d: %d times before, %d plies left", s.Ply, s.Repetitions, s.PliesLeft)
			}
		}
	}
}

// TestClocks: positions count quiet plies as files and rules do, or as nets on
// planes know them.
func TestClocks(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 d7d5 e4d5 d8d5 b1c3 P@e6 c3d5 e6d5 Q@d4 N@f6 d4d3 f6d7 P@h6")
	g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	rules, planes := From(g, RulesClock, nil), From(g, PlanesClock, nil)
	line := chess.NewLine(g.Start)
	differ := 0
	for i := range planes {
		if want := search.Current(line); planes[i].Pos != want {
			t.Errorf("ply %d: %s, expected %s", i, planes[i].Pos.FEN(), want.FEN())
		}
		if rules[i].Pos != *line.Pos() {
			t.Errorf("ply %d: %s, expected %s", i, rules[i].Pos.FEN(), line.Pos().FEN())
		}
		if rules[i].Pos != planes[i].Pos {
			differ++
		}
		line.Push(g.Plies[i].Move)
	}
	if differ == 0 {
		t.Error("both clocks count alike")
	}
}

// selected returns the samples of g that pass f and what became of the plies.
func selected(g *game.Game, f Filter) (kept []Sample, n Counts) {
	x := Selection{Filter: f}
	all := From(g, RulesClock, nil)
	for range len(g.Plies) - len(all) {
		n.Count(Untrained)
	}
	for i := range all {
		why := x.Against(&all[i], CentipawnUnit, true)
		if n.Count(why); why == Kept {
			kept = append(kept, all[i])
		}
	}
	return kept, n
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
		{"last ply", Filter{MaxPly: 3}, "1 2 3", Counts{Late: 6}},
		{"draw", Filter{SkipDraws: true}, "1 2 3 4 5 6 7 8 9", Counts{}},
		{
			"all", Filter{SkipInCheck: true, SkipCaptures: true, MinPly: 2, MaxScore: 700, RequireScore: true},
			"4 6 7", Counts{Early: 1, NoScore: 1, LargeScore: 1, InCheck: 1, Captures: 2},
		},
	} {
		got := ""
		samples, n := selected(g, tc.filter)
		for _, s := range samples {
			got += fmt.Sprint(" ", s.Ply)
		}
		if got = strings.TrimSpace(got); got != tc.want {
			t.Errorf("%s: kept %s, expected %s", tc.name, got, tc.want)
		}
		pos, passed := g.Start, ""
		for i := range g.Plies {
			if tc.filter.Passes(&g.Plies[i], i, TraitsOf(&pos, g.Plies[i].Move), g.Outcome) {
				passed += fmt.Sprint(" ", i)
			}
			pos.Make(g.Plies[i].Move)
		}
		if passed = strings.TrimSpace(passed); passed != tc.want {
			t.Errorf("%s: passed %s, expected %s", tc.name, passed, tc.want)
		}
		tc.counts.Samples, tc.counts.Untrained = 10, 1
		tc.counts.Kept = uint64(len(strings.Fields(tc.want)))
		if n != tc.counts {
			t.Errorf("%s: counts %+v, expected %+v", tc.name, n, tc.counts)
		}
		sum := n.Kept
		n.LeftOut(func(_ Reason, k uint64) bool { sum += k; return true })
		if sum != n.Samples {
			t.Errorf("%s: counts add up to %d of %d", tc.name, sum, n.Samples)
		}
	}
}

// TestPromotions: quiet promotions count as captures do, under-promotions too.
func TestPromotions(t *testing.T) {
	for _, move := range []string{"b7b8q", "b7b8n", "b7a8r"} {
		g := newGame(t, "r6k/1P6/8/8/8/8/8/1K6[] w - - 0 1", move)
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
		if s, _ := selected(g, Filter{SkipCaptures: true}); len(s) != 0 {
			t.Errorf("%s is kept", move)
		}
	}
}

func TestNegativeScores(t *testing.T) {
	g := newGame(t, startFEN, "e2e4 e7e5")
	g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	g.Plies[0].Score, g.Plies[1].Score = -501, -500
	if s, _ := selected(g, Filter{MaxScore: 500}); len(s) != 1 || s[0].Ply != 1 {
		t.Errorf("%d samples", len(s))
	}
}

func TestFromAppends(t *testing.T) {
	g := newGame(t, startFEN, "f2f3 e7e5 g2g4 d8h4")
	dst := From(g, RulesClock, make([]Sample, 1, 10))
	if dst = From(g, PlanesClock, dst); len(dst) != 9 || dst[0].Move != chess.NoMove || dst[8].Move != dst[4].Move {
		t.Errorf("%d samples, expected an empty one and the game's twice", len(dst))
	}
	if allocs := testing.AllocsPerRun(10, func() { From(g, PlanesClock, dst[:0]) }); allocs != 0 {
		t.Errorf("%v allocations with room in dst", allocs)
	}
}

func TestUnfinishedGame(t *testing.T) {
	g := newGame(t, startFEN, "f2f3 e7e5")
	if s := From(g, RulesClock, nil); len(s) != 0 {
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
