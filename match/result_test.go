package match

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// tallyOf starts the tally of a match between players of these names.
func tallyOf(format Format, names ...string) *tally {
	cfg := Config{Variant: chess.Crazyhouse, Openings: Openings{ID: "book"}, Format: format}
	for _, name := range names {
		cfg.Players = append(cfg.Players, Contestant{Name: name, Limits: search.Limits{Nodes: 5000}})
	}
	if len(names) == 2 {
		cfg.SPRT = &rating.SPRT{Elo0: 0.5, Elo1: 2.5, Alpha: 0.05, Beta: 0.05, Normalized: true}
	}
	return newTally(&cfg, cfg.encounters())
}

func TestDuelText(t *testing.T) {
	count := tallyOf(RoundRobin, "new", "old")
	count.result.Encounters[0].Pairs = rating.Pentanomial{LL: 39, LD: 8843, LW: 14603, DD: 12072, DW: 9240, WW: 44}
	count.result.LLR, count.result.Verdict = 2.9417, rating.Continue
	want := `Results of new vs old (crazyhouse, nodes 5000, book):
Elo: 1.58 +/- 1.03, nElo: 3.48 +/- 2.27
LOS: 99.86 %, DrawRatio: 59.49 %, PairsRatio: 1.05
Games: 89682, Wins: 23931, Losses: 23524, Draws: 42227, Points: 45044.5 (50.23 %)
Ptnml(0-2): [39, 8843, 26675, 9240, 44], WL/DD Ratio: 1.21
LLR: 2.94 (99.9%) (-2.94, 2.94) [0.50, 2.50] normalised
`
	if got := count.snapshot().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	count.result.SPRT.Elo0, count.result.Verdict = 0.4, rating.AcceptH1
	count.result.LLR = count.result.SPRT.LLR(count.result.Encounters[0].Pairs)
	count.failures[0] = Failures{Time: 1}
	count.failures[1] = Failures{Illegal: 2, Crash: 3}
	count.result.Adjudication = Adjudication{Score: 44841, Length: 10, Tested: 40, Wrong: 1}
	count.ahead[99999] = Pair{Games: [2]GameResult{{Result: whiteWins}, {Result: drawn}}}
	want = strings.Replace(want, "LLR: 2.94 (99.9%) (-2.94, 2.94) [0.50", "LLR: 3.17 (107.6%) (-2.94, 2.94) [0.40", 1)
	want += `SPRT: H1 accepted. Median-unbiased after the stop: Elo: 1.36 +/- 1.08, nElo: 2.99 +/- 2.38
Not counted: 1 more finished pairs (1.5 points of 2)
new failed in 1 games: 1 on time, 0 by illegal moves, 0 otherwise
old failed in 5 games: 0 on time, 2 by illegal moves, 3 otherwise
Adjudicated: 50.00 % by score, 0.01 % by length; of 40 games played out all the same, 1 ended otherwise (2.50 %)
`
	if got := count.snapshot().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, empty := range []Result{tallyOf(RoundRobin, "a", "b").snapshot(), tallyOf(Gauntlet, "a", "b", "c").snapshot()} {
		if s := empty.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || !strings.Contains(s, "n/a") {
			t.Errorf("empty match:\n%s", s)
		}
		if _, err := json.Marshal(empty); err != nil {
			t.Errorf("empty match as JSON: %v", err)
		}
	}
}

func TestTableText(t *testing.T) {
	count := tallyOf(RoundRobin, "a", "the second", "c")
	for i, pairs := range []rating.Pentanomial{{LL: 1, LW: 5, DW: 2, WW: 2}, {WW: 10}, {LL: 4, LD: 1, LW: 4, DD: 1}} { // a-b, a-c, b-c
		count.result.Encounters[i].Pairs = pairs
	}
	want := `Results of 3 players (roundrobin, crazyhouse, nodes 5000, book):
Rank Name            Elo     +/-     nElo     +/-   Games    Score     Draw  Ptnml(0-2)
   1 a             240.8   151.4    262.6   107.7      40  80.00 %   5.00 %  [1, 0, 5, 2, 12]
   2 c             -98.1   140.3    -84.7   107.7      40  36.25 %   7.50 %  [10, 0, 5, 1, 4]
   3 the second   -117.1    93.3   -150.4   107.7      40  33.75 %  12.50 %  [6, 3, 10, 0, 1]
a vs the second: +11 -7 =2, Elo 70.41 +/- 131.58
a vs c: +20 -0 =0, Elo n/a
the second vs c: +4 -13 =3, Elo -168.30 +/- 138.44
`
	if got := count.snapshot().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What every player has in the table is the sum of its encounters, whichever
// side it was; all points together are half the games.
func TestStandingsAreSums(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), 7)
	cfg.Players = append(cfg.Players, always("another", random(3)), always("crashing", crashing(4)))
	r := mustRun(t, cfg)
	points, games := 0.0, 0
	for i, s := range r.Standings {
		if s.Rank != i+1 || r.Players[s.Player] != s.Name {
			t.Errorf("place %d: %+v", i, s)
		}
		if i > 0 {
			if before, _ := r.Standings[i-1].Games.Score(); before < s.Games.Points()/float64(s.Games.Games()) {
				t.Errorf("place %d is better than the one before:\n%v", i, r)
			}
		}
		var sum [3]int
		for _, e := range r.Encounters {
			for k := range sum {
				if e.A == s.Player {
					sum[k] += e.Games[k]
				}
				if e.B == s.Player {
					sum[k] += e.Games[2-k]
				}
			}
		}
		if s.Games != rating.Trinomial(sum) || s.Pairs.Games() != s.Games {
			t.Errorf("%s: games %v, encounters sum to %v", s.Name, s.Games, sum)
		}
		points += s.Games.Points()
		games += s.Games.Games()
	}
	if games != 2*2*7*6 || points != float64(games)/2 {
		t.Errorf("%v points in %d games", points, games)
	}
	if n := failures(r); n[3] == 0 || n[0]+n[1]+n[2] != 0 {
		t.Errorf("failures %v, expected only the last player's", n)
	}
}

func TestOverhead(t *testing.T) {
	if _, ok := (Timing{}).Overhead(); ok {
		t.Error("overhead of nothing")
	}
	spent := Timing{Pairs: 1, Playing: 102 * time.Second, Searching: 100 * time.Second}
	if x, ok := spent.Overhead(); !ok || x != 0.02 {
		t.Errorf("overhead %v, %v, want 0.02", x, ok)
	}
}

// On a clock that only players move, the runner takes no time.
func TestTimingIsThePlayers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(name string) Contestant {
			return always(name, func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
				time.Sleep(2 * time.Millisecond)
				return random(1)(ctx, line, lim)
			})
		}
		cfg := testConfig(slow("a"), slow("b"), 1)
		cfg.Game.MaxPlies = 20
		r := mustRun(t, cfg)
		if x, ok := r.Timing.Overhead(); !ok || x != 0 || r.Timing.Pairs != 1 || r.Timing.Searching < 2*2*time.Millisecond {
			t.Errorf("timing %+v", r.Timing)
		}
	})
}
