package game

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestResignation: only the loser's own scores count, and only in a row.
func TestResignation(t *testing.T) {
	desperate := &fakePlayer{score: func(*chess.Position) search.Score { return -900 }}
	blind := &fakePlayer{}
	for _, tc := range []struct {
		white, black Player
		cfg          Config
		outcome      chess.Outcome
		plies        int
	}{
		{desperate, blind, Config{ResignScore: 900, ResignMoves: 3}, chess.BlackWins, 5},
		{blind, desperate, Config{ResignScore: 900, ResignMoves: 3}, chess.WhiteWins, 6},
		{desperate, desperate, Config{ResignScore: 900, ResignMoves: 3}, chess.BlackWins, 5},
		{desperate, blind, Config{ResignScore: 901, ResignMoves: 3, MaxPlies: 20}, chess.Draw, 20},
		{desperate, blind, Config{ResignScore: 900, MaxPlies: 20}, chess.Draw, 20},
		{desperate, blind, Config{ResignMoves: 3, MaxPlies: 20}, chess.Draw, 20},
	} {
		g := play(t, tc.white, tc.black, crazyhouseStart(), tc.cfg, 1)
		if g.Outcome != tc.outcome || len(g.Plies) != tc.plies || (g.Reason == Resigned) != (tc.outcome != chess.Draw) {
			t.Errorf("%+v: %v by %s at ply %d", tc.cfg, g.Outcome, ReasonText(g.Reason), len(g.Plies))
		}
		if back, err := Decode(mustEncode(t, g)); err != nil || back.Reason != g.Reason || back.Adjudged != g.Adjudged {
			t.Errorf("%+v: %v", tc.cfg, err)
		}
	}
	// A better score in between starts the count anew.
	moves := 0
	wavering := &fakePlayer{score: func(*chess.Position) search.Score {
		if moves++; moves == 3 {
			return 0
		}
		return -900
	}}
	if g := play(t, wavering, blind, crazyhouseStart(), Config{ResignScore: 900, ResignMoves: 3}, 1); len(g.Plies) != 11 {
		t.Errorf("resigned at ply %d, expected 11", len(g.Plies))
	}
	g := play(t, desperate, blind, crazyhouseStart(), Config{ResignScore: 900, ResignMoves: 3, NoAdjudicateShare: 1}, 1)
	if tested, wrong := g.AdjudicationTested(); !tested || g.Adjudged != chess.BlackWins || wrong != (g.Outcome != chess.BlackWins) {
		t.Errorf("played out: %v by %s, verdict %v", g.Outcome, ReasonText(g.Reason), g.Adjudged)
	}
}

// TestLimitsBySide: every player gets its own limits, and both clocks.
func TestLimitsBySide(t *testing.T) {
	white, black := &fakePlayer{}, &fakePlayer{}
	cfg := Config{MaxPlies: 4, Limits: [2]search.Limits{
		{Nodes: 7},
		{Depth: 3, Time: [2]time.Duration{time.Hour, time.Minute}, Inc: [2]time.Duration{time.Hour, time.Second}},
	}}
	g := play(t, white, black, crazyhouseStart(), cfg, 1)
	for i, lim := range append(white.limits, black.limits...) {
		isWhite := i < len(white.limits)
		if lim.Clock(chess.White) || !lim.Clock(chess.Black) || lim.Inc[chess.Black] != time.Second ||
			(lim.Nodes == 7) != isWhite || (lim.Depth == 3) == isWhite {
			t.Errorf("search %d by %+v", i, lim)
		}
	}
	if g.Limits != "nodes 7 against depth 3 wtime 3600000 winc 3600000 btime 60000 binc 1000" {
		t.Errorf("limits %q", g.Limits)
	}
	if g.TimeControls != [2]string{"-", "60+1"} {
		t.Errorf("time controls %q", g.TimeControls)
	}
}

// timed is a player that takes a time for every move and says that it took
// another.
func timed(takes, says time.Duration) *fakePlayer {
	p := &fakePlayer{}
	p.at = func(context.Context, int) (search.Result, error, bool) {
		time.Sleep(takes)
		p.elapsed = says
		return search.Result{}, nil, false
	}
	return p
}

// TestClockCounts: a clock runs by the player's own time, not by that of the
// transport, but never by more than has passed; it is given as at least a
// millisecond, as none left would be no clock.
func TestClockCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{MaxPlies: 8, TimeMargin: time.Second, Limits: Both(search.Limits{Time: [2]time.Duration{100 * time.Millisecond, 100 * time.Millisecond}})}
		white, black := timed(50*time.Millisecond, 30*time.Millisecond), timed(50*time.Millisecond, time.Hour)
		g := play(t, white, black, crazyhouseStart(), cfg, 1)
		for i, want := range []time.Duration{70, 50, 40, 1, 10, 1, 1, 1} {
			if got := g.Plies[i].Clock; got != want*time.Millisecond {
				t.Errorf("clock after ply %d: %v, expected %d ms", i, got, want)
			}
		}
		if p := g.Plies[0]; p.Elapsed != 30*time.Millisecond || p.Depth != 4 {
			t.Errorf("first ply %+v", p)
		}
	})
}

func TestMoveTimeForfeit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := timed(60*time.Millisecond, 0)
		for margin, want := range map[time.Duration]chess.Reason{0: PlyLimit, 5 * time.Millisecond: TimeForfeit, 10 * time.Millisecond: PlyLimit} {
			cfg := Config{MaxPlies: 6, MoveTimeMargin: margin, Limits: Both(search.Limits{MoveTime: 50 * time.Millisecond})}
			if g := play(t, slow, &fakePlayer{}, crazyhouseStart(), cfg, 1); g.Reason != want {
				t.Errorf("margin %v: %v by %s", margin, g.Outcome, ReasonText(g.Reason))
			}
		}
	})
}

// TestFault: a player that knows by which reason it loses is believed.
func TestFault(t *testing.T) {
	broken := errors.New("gone")
	for _, reason := range []chess.Reason{TimeForfeit, NoAnswer, IllegalMove} {
		bad := &fakePlayer{at: func(context.Context, int) (search.Result, error, bool) {
			return search.Result{}, &Fault{reason, broken}, true
		}}
		g, err := Play(t.Context(), bad, &fakePlayer{}, crazyhouseStart(), Config{}, newRand(1))
		if !errors.Is(err, broken) || g.Reason != reason {
			t.Errorf("%v by %s: %v", g.Outcome, ReasonText(g.Reason), err)
		}
		g.Forfeit(chess.White, g.Reason)
		if _, err := Decode(mustEncode(t, g)); err != nil {
			t.Error(err)
		}
	}
}

func TestKeepPV(t *testing.T) {
	o, err := RandomOpening(chess.Crazyhouse.Start(), newRand(3), 3, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &fakePlayer{at: func(context.Context, int) (search.Result, error, bool) { return search.Result{}, nil, false }}
	g := play(t, p, p, o, Config{MaxPlies: 9, KeepPV: true}, 1)
	if len(g.PVs) != len(g.Plies) {
		t.Fatalf("%d lines of %d plies", len(g.PVs), len(g.Plies))
	}
	for i, pv := range g.PVs {
		if opening := i < len(o.Moves); opening != (pv == nil) || !opening && pv[0] != g.Plies[i].Move {
			t.Errorf("ply %d: %v", i, pv)
		}
	}
	if g := play(t, p, p, o, Config{MaxPlies: 9}, 1); g.PVs != nil {
		t.Error("lines were kept unasked")
	}
}

func TestTimeControl(t *testing.T) {
	clock := func(base, inc time.Duration) search.Limits {
		return search.Limits{Time: [2]time.Duration{base, time.Hour}, Inc: [2]time.Duration{inc, 0}}
	}
	for want, lim := range map[string]search.Limits{
		"-": {Nodes: 400, Depth: 3}, "0.05/move": {MoveTime: 50 * time.Millisecond}, "10+0.1": clock(10*time.Second, 100*time.Millisecond),
		"90": clock(90*time.Second, 0), "0+1": clock(0, time.Second),
	} {
		if got := TimeControl(lim, chess.White); got != want {
			t.Errorf("%+v: %q, expected %q", lim, got, want)
		}
	}
}

func TestEndText(t *testing.T) {
	for want, end := range map[string]struct {
		o chess.Outcome
		r chess.Reason
	}{
		"White mates":                               {chess.WhiteWins, chess.Checkmate},
		"Black mates":                               {chess.BlackWins, chess.Checkmate},
		"Draw by stalemate":                         {chess.Draw, chess.Stalemate},
		"Draw by 3-fold repetition":                 {chess.Draw, chess.Repetition},
		"Draw by fifty moves rule":                  {chess.Draw, chess.FiftyMoves},
		"Draw by insufficient mating material":      {chess.Draw, chess.InsufficientMaterial},
		"Draw by adjudication: ply limit":           {chess.Draw, PlyLimit},
		"Draw by adjudication":                      {chess.Draw, AdjudicatedDraw},
		"White wins by adjudication":                {chess.WhiteWins, AdjudicatedWin},
		"Black wins by adjudication: White resigns": {chess.BlackWins, Resigned},
		"White loses on time":                       {chess.BlackWins, TimeForfeit},
		"Black makes an illegal move":               {chess.WhiteWins, IllegalMove},
		"White's connection stalls":                 {chess.BlackWins, NoAnswer},
		"Black disconnects":                         {chess.WhiteWins, EngineFailure},
		"unterminated":                              {chess.Ongoing, Abandoned},
	} {
		if got := EndText(end.o, end.r); got != want {
			t.Errorf("%v by %s: %q, expected %q", end.o, ReasonText(end.r), got, want)
		}
	}
}

// resigner gives the game up.
type resigner struct{}

func (resigner) NewGame() error { return nil }

func (resigner) Search(context.Context, *chess.Line, search.Limits) (search.Result, error) {
	return search.Result{}, fmt.Errorf("no hope: %w", ErrResigned)
}

// TestResigns: a player that resigns loses, and has not failed.
func TestResigns(t *testing.T) {
	g, err := Play(t.Context(), resigner{}, resigner{}, Opening{Start: chess.Crazyhouse.Start()}, Config{}, rand.New(rand.NewPCG(1, 2)))
	if err != nil || g.Outcome != chess.BlackWins || g.Reason != Resigned {
		t.Fatalf("%v by %s, error %v", g.Outcome, ReasonText(g.Reason), err)
	}
	if err := g.checkOutcome(chess.NewLine(g.Start)); err != nil {
		t.Error(err)
	}
}
