package match

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// bookMatch is a match of players that always play alike, from a book of three openings.
func bookMatch(t *testing.T, pairs int) Config {
	t.Helper()
	cfg := testConfig(always("greedy", greedy(1)), always("greedy too", greedy(4)), pairs)
	cfg.Openings = readBook(t, chess.Crazyhouse, `rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq -
rnbqkbnr/ppp1pppp/8/3p4/3PP3/8/PPP2PPP/RNBQKBNR[Pn] b KQkq -
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -
`, 1)
	return cfg
}

// No opening of a book is played again by players that would play the same games: a match of
// more pairs ends there, and so does a sequential test.
func TestBookIsPlayedOnce(t *testing.T) {
	for pairs, want := range map[int]int{2: 2, 3: 3, 4: 3} {
		if r := mustRun(t, bookMatch(t, pairs)); r.Pairs() != want {
			t.Errorf("a match of %d pairs, expected %d:\n%v", pairs, want, r)
		}
	}
	cfg := bookMatch(t, 4)
	cfg.SPRT = &rating.SPRT{Elo0: 0, Elo1: 5, Alpha: 0.05, Beta: 0.05}
	for _, concurrency := range []int{1, 4} {
		cfg.Concurrency = concurrency
		if r := mustRun(t, cfg); r.Finished() != 3 || r.Verdict != rating.Continue || cfg.Games() != 6 {
			t.Errorf("a sequential test: %d games expected\n%v", cfg.Games(), r)
		}
	}
}

// Where players may play other games from the same opening, and where there is no end of
// openings, a match is as long as it is asked to be.
func TestBound(t *testing.T) {
	good := bookMatch(t, 100)
	if n := good.Bound(); n != 3 {
		t.Fatalf("within nodes: bound %d, expected 3", n)
	}
	for name, change := range map[string]func(*Config){
		"a time a move":     func(c *Config) { c.Players[1].Limits = search.Limits{Nodes: 9, MoveTime: time.Second} },
		"a clock":           func(c *Config) { c.Players[0].Limits = search.Limits{Time: [2]time.Duration{1e9, 1e9}} },
		"threads":           func(c *Config) { c.Players[0].Threads = 2 },
		"random moves":      func(c *Config) { c.Game.Noise = game.Noise{Plies: 4, Prob: 0.1} },
		"random openings":   func(c *Config) { c.Openings = RandomOpenings(chess.Crazyhouse, 1, 2, 7) },
		"openings as ever":  func(c *Config) { c.Openings.Distinct = 0 },
		"one of many games": func(c *Config) { c.Openings.Distinct = 100 },
	} {
		cfg := good
		cfg.Players = slices.Clone(good.Players)
		change(&cfg)
		if err := cfg.validate(); err != nil || cfg.Games() != 200 {
			t.Errorf("%s: %d games, error %v", name, cfg.Games(), err)
		}
	}
	good.Players[0].Limits, good.Players[1].Limits = search.Limits{Depth: 3}, search.Limits{Depth: 2, Nodes: 50}
	if n := good.Bound(); n != 3 {
		t.Errorf("within a depth: bound %d, expected 3", n)
	}
}

// A ladder plays no opening twice against an opponent, and goes on against the others.
func TestLadderOfABook(t *testing.T) {
	l := testLadder(t, 420)
	l.Margin, l.Pairs = 1, 2
	l.Match.Openings = bookMatch(t, 3).Openings
	l.Anchors[0].Limits = search.Limits{MoveTime: time.Second} // who may play on
	l.Most = 40
	r, err := l.Rate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range r.Scores {
		if games := s.Games; i > 0 && games != 6 || i == 0 && games != 2*(40-9) {
			t.Errorf("%d games against %s", games, s.Anchor)
		}
	}
	l = testLadder(t, 420)
	l.Margin, l.Match.Openings = 1, bookMatch(t, 3).Openings
	l.Pairs = 2
	if r, err := l.Rate(context.Background()); err != nil || r.Games != 4*6 {
		t.Errorf("a ladder that has played all openings: %d games, error %v", r.Games, err)
	}
	l.Pairs = 4
	if r, err := l.Rate(context.Background()); err != nil || r.Games != 4*6 {
		t.Errorf("a ladder that begins with more: %d games, error %v", r.Games, err)
	}
}
