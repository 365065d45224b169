package game

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// play plays a game between two players that must not fail.
func play(t *testing.T, white, black Player, o Opening, cfg Config, seed uint64) *Game {
	t.Helper()
	g, err := Play(t.Context(), white, black, o, cfg, newRand(seed))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func crazyhouseStart() Opening { return Opening{Start: chess.Crazyhouse.Start()} }

func TestPlayDeterministic(t *testing.T) {
	cfg := Config{
		Limits: Both(search.Limits{Depth: 4}), MaxPlies: 120, WinScore: 300, WinPlies: 4, NoAdjudicateShare: 0.5,
		Noise: Noise{Plies: 30, Prob: 0.3},
	}
	records := map[string]bool{}
	for seed := range uint64(12) {
		var first []byte
		for range 2 {
			rng := newRand(seed)
			o, err := RandomOpening(chess.Crazyhouse.Start(), rng, 4, 9, nil)
			if err != nil {
				t.Fatal(err)
			}
			score := func(p *chess.Position) search.Score { return search.Score(p.Key() % 1000) }
			g, err := Play(t.Context(), &fakePlayer{score: score}, &fakePlayer{score: score}, o, cfg, rng)
			if err != nil {
				t.Fatal(err)
			}
			b := mustEncode(t, g)
			if first == nil {
				first = b
			} else if !bytes.Equal(first, b) {
				t.Fatalf("seed %d gave two games", seed)
			}
		}
		records[string(first)] = true
	}
	if len(records) != 12 {
		t.Errorf("%d games of 12 seeds", len(records))
	}
}

// TestPlayTurns checks who is asked when, from starts and openings of either
// parity, and what becomes of the opening moves.
func TestPlayTurns(t *testing.T) {
	blackToMove := mustFEN(t, chess.Crazyhouse, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR[] b KQkq - 0 1")
	reply, err := blackToMove.ParseUCI("e7e5")
	if err != nil {
		t.Fatal(err)
	}
	start := chess.Crazyhouse.Start()
	e4, err := start.ParseUCI("e2e4")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Opening{
		crazyhouseStart(),
		{Start: chess.Crazyhouse.Start(), Moves: []chess.Move{e4}},
		{Start: blackToMove},
		{Start: blackToMove, Moves: []chess.Move{reply}},
	} {
		var asked []chess.Color
		player := func(c chess.Color) *fakePlayer {
			return &fakePlayer{at: func(context.Context, int) (search.Result, error, bool) {
				asked = append(asked, c)
				return search.Result{}, nil, false
			}}
		}
		white, black := player(chess.White), player(chess.Black)
		g := play(t, white, black, o, Config{MaxPlies: 20}, 1)
		if white.newGames != 1 || black.newGames != 1 {
			t.Errorf("NewGame was called %d and %d times", white.newGames, black.newGames)
		}
		pos := o.Start
		for i, ply := range g.Plies {
			opening := i < len(o.Moves)
			if ply.Train == opening || ply.HasScore == opening {
				t.Errorf("ply %d: %+v", i, ply)
			}
			if !opening && asked[i-len(o.Moves)] != pos.SideToMove() {
				t.Errorf("ply %d: the wrong player was asked", i)
			}
			pos.Make(ply.Move)
		}
		if len(asked) != len(g.Plies)-len(o.Moves) {
			t.Errorf("%d searches for %d plies", len(asked), len(g.Plies))
		}
		mustEncode(t, g)
	}
}

func TestPlyLimit(t *testing.T) {
	g := play(t, &fakePlayer{}, &fakePlayer{}, crazyhouseStart(), Config{MaxPlies: 10}, 1)
	if len(g.Plies) != 10 || g.Outcome != chess.Draw || g.Reason != PlyLimit {
		t.Errorf("%d plies, %v by %s", len(g.Plies), g.Outcome, ReasonText(g.Reason))
	}
}

// TestEndByRules plays random-looking games to the end without adjudication.
func TestEndByRules(t *testing.T) {
	for seed := range uint64(5) {
		o, err := RandomOpening(chess.Crazyhouse.Start(), newRand(seed), 6, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := play(t, &fakePlayer{}, &fakePlayer{}, o, Config{}, seed)
		outcome, reason := g.Line().Outcome()
		if g.Outcome != outcome || g.Reason != reason || !byRules(reason) {
			t.Errorf("%v by %s, expected %v by %s", g.Outcome, ReasonText(g.Reason), outcome, ReasonText(reason))
		}
	}
}

// TestWinAdjudication compares the ply at which games end with a plain search
// for the first ply that allows it.
func TestWinAdjudication(t *testing.T) {
	cfg := Config{WinScore: 2000, WinPlies: 3, Noise: Noise{Plies: 40, Prob: 0.3}}
	for seed := range uint64(40) {
		winner, score := chess.White, search.Score(2000)
		if seed%2 == 1 {
			winner, score = chess.Black, -2500
		}
		p := &fakePlayer{score: whiteAhead(score)}
		g := play(t, p, p, crazyhouseStart(), cfg, seed)
		line, streak, end := chess.NewLine(g.Start), 0, 0
		for i, ply := range g.Plies {
			line.Push(ply.Move)
			if streak++; !ply.HasScore {
				streak = 0
			}
			if end == 0 && streak >= 3 && !line.Pos().InCheck() {
				end = i + 1
			}
		}
		if g.Reason != AdjudicatedWin || g.Outcome != chess.Win(winner) || g.Adjudged != g.Outcome || len(g.Plies) != end {
			t.Errorf("seed %d: %v by %s at ply %d, expected %d", seed, g.Outcome, ReasonText(g.Reason), len(g.Plies), end)
		}
		mustEncode(t, g)
	}
}

// TestWinNeedsBoth: one hopeful player is not enough.
func TestWinNeedsBoth(t *testing.T) {
	hopeful, sober := &fakePlayer{score: whiteAhead(5000)}, &fakePlayer{score: whiteAhead(100)}
	for _, pair := range [][2]Player{{hopeful, sober}, {sober, hopeful}} {
		g := play(t, pair[0], pair[1], crazyhouseStart(), Config{MaxPlies: 40, WinScore: 2000, WinPlies: 2}, 1)
		if g.Reason == AdjudicatedWin || g.Adjudged != chess.Ongoing {
			t.Errorf("%v by %s, verdict %v", g.Outcome, ReasonText(g.Reason), g.Adjudged)
		}
	}
}

// TestNoWinAdjudication: no score however large ends a game if either setting
// is 0.
func TestNoWinAdjudication(t *testing.T) {
	p := &fakePlayer{score: whiteAhead(search.MateScore)}
	for _, cfg := range []Config{{WinPlies: 2}, {WinScore: 2000}} {
		cfg.MaxPlies = 20
		g := play(t, p, p, crazyhouseStart(), cfg, 1)
		if g.Reason != PlyLimit || g.Adjudged != chess.Ongoing || len(g.Plies) != 20 {
			t.Errorf("%+v: %v by %s at ply %d, verdict %v", cfg, g.Outcome, ReasonText(g.Reason), len(g.Plies), g.Adjudged)
		}
	}
}

func TestDrawAdjudication(t *testing.T) {
	p := &fakePlayer{score: func(*chess.Position) search.Score { return -10 }}
	for _, tc := range []struct {
		cfg   Config
		plies int
	}{
		{Config{DrawScore: 10, DrawPlies: 8}, 8},
		{Config{DrawScore: 10, DrawPlies: 8, DrawMinPly: 10}, 18},
		{Config{DrawScore: 9, DrawPlies: 8, MaxPlies: 25}, 25},
		{Config{DrawPlies: 8, MaxPlies: 25}, 25},
		{Config{DrawScore: 10, MaxPlies: 25}, 25},
	} {
		g := play(t, p, p, crazyhouseStart(), tc.cfg, 1)
		if len(g.Plies) != tc.plies || g.Outcome != chess.Draw {
			t.Errorf("%+v: %v by %s at ply %d", tc.cfg, g.Outcome, ReasonText(g.Reason), len(g.Plies))
		}
	}
}

// TestPlayedOut plays games on after the verdict and finds wrong verdicts.
func TestPlayedOut(t *testing.T) {
	cfg := Config{WinScore: 2000, WinPlies: 2, NoAdjudicateShare: 1}
	p := &fakePlayer{score: whiteAhead(3000)} // knows nothing
	var tested, wrong int
	for seed := range uint64(10) {
		o, err := RandomOpening(chess.Crazyhouse.Start(), newRand(seed), 6, 6, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := play(t, p, p, o, cfg, seed)
		if g.Adjudged != chess.WhiteWins || g.Reason == AdjudicatedWin {
			t.Errorf("%v by %s, verdict %v", g.Outcome, ReasonText(g.Reason), g.Adjudged)
		}
		isTested, isWrong := g.AdjudicationTested()
		if isTested != byRules(g.Reason) || isWrong != (isTested && g.Outcome != chess.WhiteWins) {
			t.Errorf("%v by %s: tested %v, wrong %v", g.Outcome, ReasonText(g.Reason), isTested, isWrong)
		}
		if isTested {
			tested++
		}
		if isWrong {
			wrong++
		}
		back, err := Decode(mustEncode(t, g))
		if err != nil || back.Adjudged != g.Adjudged {
			t.Errorf("the verdict is lost: %v", err)
		}
	}
	if tested == 0 || wrong == 0 || wrong == tested {
		t.Errorf("%d of %d verdicts wrong, expected some", wrong, tested)
	}
	cfg.NoAdjudicateShare = 0.5
	out := 0
	for seed := range uint64(100) {
		if g := play(t, p, p, crazyhouseStart(), cfg, seed); g.Reason != AdjudicatedWin {
			out++
		}
	}
	if out < 35 || out > 65 {
		t.Errorf("%d games of 100 played out, expected about half", out)
	}
}

func TestNoise(t *testing.T) {
	cfg := Config{MaxPlies: 60, Noise: Noise{Plies: 20, Prob: 0.5}}
	random, plies := 0, 0
	for seed := range uint64(30) {
		g := play(t, &fakePlayer{}, &fakePlayer{}, crazyhouseStart(), cfg, seed)
		for i, ply := range g.Plies {
			if ply.Train != ply.HasScore || i >= 20 && !ply.Train {
				t.Fatalf("ply %d: %+v", i, ply)
			}
			if i < 20 {
				plies++
				if !ply.Train {
					random++
				}
			}
		}
	}
	if share := float64(random) / float64(plies); share < 0.4 || share > 0.6 {
		t.Errorf("%.2f of the moves are random, expected 0.5", share)
	}
}

func TestPlayerFails(t *testing.T) {
	broken := errors.New("engine fell over")
	for name, tc := range map[string]struct {
		res    search.Result
		err    error
		want   error
		reason chess.Reason
	}{
		"error":   {err: broken, want: broken, reason: EngineFailure},
		"illegal": {res: search.Result{Move: chess.NewMove(chess.A1, chess.H8, chess.Normal)}, want: ErrIllegal, reason: IllegalMove},
		"no move": {want: ErrIllegal, reason: IllegalMove},
	} {
		bad := &fakePlayer{at: func(_ context.Context, ply int) (search.Result, error, bool) {
			return tc.res, tc.err, ply >= 5
		}}
		g, err := Play(t.Context(), &fakePlayer{}, bad, crazyhouseStart(), Config{}, newRand(1))
		var pe *PlayerError
		if !errors.As(err, &pe) || !errors.Is(err, tc.want) || pe.Color != chess.Black || pe.Ply != 5 {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(err.Error(), "black to move at ply 5") {
			t.Errorf("%s: %v", name, err)
		}
		if g.Outcome != chess.Ongoing || g.Reason != tc.reason || len(g.Plies) != 5 {
			t.Errorf("%s: %v by %s, %d plies", name, g.Outcome, ReasonText(g.Reason), len(g.Plies))
		}
		if _, err := Encode(nil, g); !errors.Is(err, ErrOutcome) {
			t.Errorf("%s: encoded: %v", name, err)
		}
		g.Forfeit(chess.Black, tc.reason)
		if back, err := Decode(mustEncode(t, g)); err != nil || back.Outcome != chess.WhiteWins || back.Reason != tc.reason {
			t.Errorf("%s: forfeited: %v", name, err)
		}
	}
}

type noNewGame struct{ fakePlayer }

func (*noNewGame) NewGame() error { return errors.New("no") }

func TestNewGameFails(t *testing.T) {
	_, err := Play(t.Context(), &fakePlayer{}, &noNewGame{}, crazyhouseStart(), Config{}, newRand(1))
	var pe *PlayerError
	if !errors.As(err, &pe) || pe.Color != chess.Black {
		t.Error(err)
	}
}

// TestAbandon cancels before a game, during a search that then answers all the
// same, and during one that reports the cancellation.
func TestAbandon(t *testing.T) {
	reason := errors.New("shutting down")
	for _, at := range []int{-1, 3, 4} {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := &fakePlayer{at: func(ctx context.Context, ply int) (search.Result, error, bool) {
			if ply != at {
				return search.Result{}, nil, false
			}
			cancel(reason)
			return search.Result{}, ctx.Err(), at == 4
		}}
		if at < 0 {
			cancel(reason)
		}
		g, err := Play(ctx, p, p, crazyhouseStart(), Config{}, newRand(1))
		if !errors.Is(err, ErrAbandoned) || !errors.Is(err, reason) {
			t.Errorf("at %d: %v", at, err)
		}
		if g.Outcome != chess.Ongoing || g.Reason != Abandoned || len(g.Plies) != max(0, at) {
			t.Errorf("at %d: %v by %s, %d plies", at, g.Outcome, ReasonText(g.Reason), len(g.Plies))
		}
		cancel(nil)
	}
}

// TestClocks runs a game on a fake clock: White takes 100 ms a move, Black 300 ms.
func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		player := func(d time.Duration) *fakePlayer {
			return &fakePlayer{at: func(context.Context, int) (search.Result, error, bool) {
				time.Sleep(d)
				return search.Result{}, nil, false
			}}
		}
		white, black := player(100*time.Millisecond), player(300*time.Millisecond)
		cfg := Config{TimeMargin: 10 * time.Millisecond}
		cfg.Limits = Both(search.Limits{
			Time: [2]time.Duration{time.Second, time.Second},
			Inc:  [2]time.Duration{100 * time.Millisecond, 100 * time.Millisecond},
		})
		g := play(t, white, black, crazyhouseStart(), cfg, 1)
		if g.Outcome != chess.WhiteWins || g.Reason != TimeForfeit {
			t.Errorf("%v by %s", g.Outcome, ReasonText(g.Reason))
		}
		var clocks []time.Duration
		for _, lim := range black.limits {
			clocks = append(clocks, lim.Time[chess.Black]/time.Millisecond)
		}
		if want := []time.Duration{1000, 800, 600, 400, 200}; !slices.Equal(clocks, want) {
			t.Errorf("Black's clock showed %v ms, expected %v", clocks, want)
		}
		if g.Limits != "wtime 1000 winc 100 btime 1000 binc 100" {
			t.Errorf("limits %q", g.Limits)
		}
		mustEncode(t, g)
	})
}

func TestPlayRefuses(t *testing.T) {
	start := chess.Crazyhouse.Start()
	fool := playMoves(t, chess.Crazyhouse, "f2f3 e7e5 g2g4 d8h4").Line().Moves()
	for name, o := range map[string]Opening{
		"illegal": {Start: start, Moves: []chess.Move{fool[0], fool[0]}},
		"mate":    {Start: start, Moves: fool},
	} {
		if _, err := Play(t.Context(), &fakePlayer{}, &fakePlayer{}, o, Config{}, newRand(1)); !errors.Is(err, ErrOpening) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := Opening{Start: start, Moves: fool[:3]}
	if _, err := Play(t.Context(), &fakePlayer{}, &fakePlayer{}, long, Config{MaxPlies: 3}, newRand(1)); !errors.Is(err, ErrOpening) {
		t.Errorf("long: %v", err)
	}
	for name, cfg := range map[string]Config{
		"plies":      {MaxPlies: -1},
		"too many":   {MaxPlies: MaxGamePlies + 1},
		"win plies":  {WinPlies: -1, WinScore: 2000},
		"win score":  {WinPlies: 3, WinScore: -1},
		"draw plies": {DrawPlies: -1},
		"draw score": {DrawPlies: 3, DrawScore: -1},
		"share":      {NoAdjudicateShare: 1.5},
		"noise":      {Noise: Noise{Prob: -1}},
		"movestogo":  {Limits: Both(search.Limits{MovesToGo: 40})},
	} {
		if _, err := Play(t.Context(), &fakePlayer{}, &fakePlayer{}, crazyhouseStart(), cfg, newRand(1)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimitsText(t *testing.T) {
	lim := search.Limits{Depth: 8, Nodes: 5000, MoveTime: time.Second, Mate: 3}
	if got, want := LimitsText(lim), "depth 8 nodes 5000 movetime 1000 mate 3"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
