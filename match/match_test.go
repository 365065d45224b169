package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

func testConfig(a, b Contestant, pairs int) Config {
	return Config{
		Players: []Contestant{a, b}, Variant: chess.Crazyhouse, Openings: RandomOpenings(chess.Crazyhouse, 5, 2, 7),
		Pairs: pairs, Game: game.Config{MaxPlies: 60}, Seed: 9, RunID: "test",
	}
}

func mustRun(t *testing.T, cfg Config) Result {
	t.Helper()
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settled is what of a result must not depend on concurrency.
func settled(r Result) Result {
	r.Encounters = slices.Clone(r.Encounters)
	for i := range r.Encounters {
		r.Encounters[i].Ahead = rating.Pentanomial{}
	}
	r.Timing = Timing{}
	return r
}

// failures returns the games each player lost by failing, in the order of the
// players.
func failures(r Result) []int {
	n := make([]int, len(r.Players))
	for _, s := range r.Standings {
		n[s.Player] = s.Failures.Total()
	}
	return n
}

func TestResultDoesNotDependOnConcurrency(t *testing.T) {
	for name, sprt := range map[string]*rating.SPRT{
		"fixed length": nil,
		"sequential":   {Elo0: 0, Elo1: 200, Alpha: 0.05, Beta: 0.05},
	} {
		cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), 30)
		cfg.SPRT = sprt
		one := mustRun(t, cfg)
		cfg.Concurrency = 4
		four := mustRun(t, cfg)
		if !reflect.DeepEqual(settled(one), settled(four)) {
			t.Errorf("%s: one pair at a time\n%v\nfour\n%v", name, one, four)
		}
		if one.Finished() != one.Pairs() {
			t.Errorf("%s: one at a time left %d pairs ahead", name, one.Finished()-one.Pairs())
		}
		if sprt == nil && one.Pairs() != 30 {
			t.Errorf("%s: %d pairs", name, one.Pairs())
		}
		if sprt != nil && (one.Verdict != rating.AcceptH1 || one.Pairs() >= 30) {
			t.Errorf("%s: not stopped in time\n%v", name, four)
		}
	}
}

// The two games of a pair have the same opening and colours swapped; other
// pairs have other openings; games are a function of the seed.
func TestPairsShareTheirOpening(t *testing.T) {
	play := func() (openings []string, moves string) {
		cfg := testConfig(always("a", random(1)), always("b", random(2)), 6)
		cfg.OnPair = func(p Pair, games [2]*game.Game, _ Result) {
			openings = append(openings, p.Opening)
			for i, g := range games {
				var plies []chess.Move
				for _, ply := range g.Plies {
					plies = append(plies, ply.Move)
				}
				moves += fmt.Sprint(plies)
				plies = plies[:len(plies)-p.Games[i].Plies]
				if got, err := OpeningText(game.Opening{Start: g.Start, Moves: plies}); got != p.Opening {
					t.Errorf("pair %d game %d began with %s (%v), want %s", p.Number, i, got, err, p.Opening)
				}
			}
			if got := [2][2]string{games[0].Nets, games[1].Nets}; got != [2][2]string{{"net-of-a", "net-of-b"}, {"net-of-b", "net-of-a"}} {
				t.Errorf("pair %d: nets %v", p.Number, got)
			}
		}
		mustRun(t, cfg)
		return openings, moves
	}
	openings, moves := play()
	different := make(map[string]bool)
	for _, o := range openings {
		different[o] = true
	}
	if len(openings) != 6 || len(different) != 6 {
		t.Errorf("openings %q", openings)
	}
	if _, again := play(); again != moves {
		t.Error("the same match was played differently")
	}
}

func TestFailingPlayerLoses(t *testing.T) {
	for _, c := range []struct {
		name   string
		player answer
		reason chess.Reason
		word   string
	}{
		{"crash", crashing(6), game.EngineFailure, errCrash.Error()},
		{"illegal move", cheating, game.IllegalMove, "illegal"},
		{"no answer", sleeping, game.TimeForfeit, "no move in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var made atomic.Int32
			bad := always("bad", c.player)
			bad.New = func() (game.Player, error) { made.Add(1); return c.player, nil }
			cfg := testConfig(always("good", random(1)), bad, 4)
			cfg.MoveTimeout = 20 * time.Millisecond
			cfg.Concurrency = 2
			cfg.PGN = filepath.Join(t.TempDir(), "games.pgn")
			failed := 0
			cfg.OnPair = func(p Pair, games [2]*game.Game, _ Result) {
				for i, g := range p.Games {
					if g.Failed == "" {
						continue
					}
					failed++
					if g.Failed != "B" || p.Outcome(i) != rating.Win || g.Reason != game.ReasonText(c.reason) || !strings.Contains(g.Error, c.word) {
						t.Errorf("game %+v", g)
					}
					if games[i].Reason != c.reason {
						t.Errorf("game ended by %v, want %v", games[i].Reason, c.reason)
					}
				}
			}
			r := mustRun(t, cfg)
			if failed < 3 || !slices.Equal(failures(r), []int{0, failed}) || r.Endings[game.ReasonText(c.reason)] != failed {
				t.Errorf("%d failures seen, result\n%v", failed, r)
			}
			if r.Pairs() != 4 || int(made.Load()) < failed {
				t.Errorf("%d pairs, %d players made for %d failures", r.Pairs(), made.Load(), failed)
			}
			if n := strings.Count(string(readFile(t, cfg.PGN)), "[Result "); n != 8 {
				t.Errorf("%d games in the PGN", n)
			}
		})
	}
}

// closer is a player that counts its ends.
type closer struct {
	answer
	closed *atomic.Int32
}

func (c closer) Close() error { c.closed.Add(1); return nil }

func TestPlayersAreClosed(t *testing.T) {
	var made, closed atomic.Int32
	bad := always("bad", nil)
	bad.New = func() (game.Player, error) {
		made.Add(1)
		return closer{crashing(5), &closed}, nil
	}
	cfg := testConfig(always("good", random(1)), bad, 5)
	cfg.Concurrency = 3
	mustRun(t, cfg)
	if made.Load() < 5 || closed.Load() != made.Load() {
		t.Errorf("%d players made, %d closed", made.Load(), closed.Load())
	}
}

func TestPlayerThatCannotBeMade(t *testing.T) {
	errBroken := errors.New("file not found")
	for _, good := range []int{0, 1, 2} { // times New works
		bad := always("bad", crashing(2))
		calls := 0
		bad.New = func() (game.Player, error) {
			if calls++; calls > good {
				return nil, errBroken
			}
			return crashing(0), nil
		}
		r, err := Run(context.Background(), testConfig(bad, always("good", random(1)), 9))
		if !errors.Is(err, ErrNoPlayer) || !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("made %d times: error %v", good, err)
		}
		if want := max(0, good-1); r.Pairs() != want {
			t.Errorf("made %d times: %d pairs, want %d", good, r.Pairs(), want)
		}
	}
}

// A match stopped at any pair and run again gives what a straight run gives.
func TestResume(t *testing.T) {
	cfg := testConfig(always("greedy", greedy(1)), always("random", random(2)), 12)
	cfg.SPRT = &rating.SPRT{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.05}
	straight := mustRun(t, cfg)
	for stop := range 5 {
		cfg := cfg
		cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
		cfg.Concurrency = 2
		ctx, cancel := context.WithCancel(context.Background())
		played := make(map[int]int)
		var mu sync.Mutex
		cfg.OnPair = func(p Pair, _ [2]*game.Game, _ Result) {
			mu.Lock()
			defer mu.Unlock()
			if played[p.Number]++; len(played) > stop {
				cancel()
			}
		}
		cfg.OnResume = func(Result) { t.Error("resumed without a log") }
		if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d pairs: %v", stop, err)
		}
		cfg.OnResume = nil
		if data, err := os.ReadFile(cfg.Log); err != nil || os.WriteFile(cfg.Log, data[:len(data)-stop], 0o644) != nil {
			t.Fatal(err) // the last line may be torn, then its pair is played again
		}
		cfg.OnPair = func(p Pair, _ [2]*game.Game, _ Result) { played[p.Number]++ }
		if r := mustRun(t, cfg); !reflect.DeepEqual(settled(r), settled(straight)) {
			t.Errorf("stopped after %d pairs and resumed:\n%v\nstraight:\n%v", stop, r, straight)
		}
		again := 0
		for _, n := range played {
			again += n - 1
		}
		if again > min(stop, 1) {
			t.Errorf("stopped after %d pairs: %d pairs played twice", stop, again)
		}
		cfg.Players = slices.Clone(cfg.Players)
		cfg.Players[0].New = func() (game.Player, error) { t.Error("player made for a match that is over"); return nil, errCrash }
		var resumed []int // pairs of the log
		cfg.OnResume = func(r Result) { resumed = append(resumed, r.Pairs()) }
		r := mustRun(t, cfg)
		if !slices.Equal(resumed, []int{r.Pairs()}) {
			t.Errorf("resumed with %v pairs, expected once with %d", resumed, r.Pairs())
		}
		if !reflect.DeepEqual(settled(r), settled(straight)) {
			t.Errorf("read from the log:\n%v\nstraight:\n%v", r, straight)
		}
	}
}

func TestResumeRefusesAnotherMatch(t *testing.T) {
	cfg := testConfig(always("a", random(1)), always("b", random(2)), 2)
	cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
	mustRun(t, cfg)
	for word, change := range map[string]func(*Config){
		"seed":              func(c *Config) { c.Seed++ },
		"player 1.net":      func(c *Config) { c.Players[0].Net = "another" },
		"player 2.limits":   func(c *Config) { c.Players[1].Limits.Nodes++ },
		"player 1.settings": func(c *Config) { c.Players[0].Settings = "hash 64 MB" },
		"openings":          func(c *Config) { c.Openings = RandomOpenings(chess.Crazyhouse, 6, 2, 7) },
		"max plies":         func(c *Config) { c.Game.MaxPlies++ },
		"variant":           func(c *Config) { c.Variant = chess.Chess },
		"move timeout":      func(c *Config) { c.MoveTimeout = time.Hour },
		"pair 0 began": func(c *Config) {
			c.Openings.Opening = func(int) (game.Opening, error) { return game.Opening{Start: chess.Crazyhouse.Start()}, nil }
		},
	} {
		other := cfg
		other.Players = slices.Clone(cfg.Players)
		change(&other)
		if _, err := Run(context.Background(), other); !errors.Is(err, ErrOtherSchedule) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s changed: error %v", word, err)
		}
	}
	cfg.Pairs, cfg.Concurrency, cfg.SPRT = 3, 2, &rating.SPRT{Elo1: 300, Alpha: 0.001, Beta: 0.001}
	if r := mustRun(t, cfg); r.Pairs() != 3 {
		t.Errorf("a longer match: %v", r)
	}
	cfg.Pairs = 1
	if r := mustRun(t, cfg); r.Pairs() != 1 {
		t.Errorf("a shorter match: %v", r)
	}
}

func TestConfigErrors(t *testing.T) {
	good := testConfig(always("a", random(1)), always("b", random(2)), 1)
	for name, change := range map[string]func(*Config){
		"variant":     func(c *Config) { c.Variant = nil },
		"openings":    func(c *Config) { c.Openings = Openings{} },
		"pairs":       func(c *Config) { c.Pairs = 0 },
		"concurrency": func(c *Config) { c.Concurrency = -1 },
		"timeout":     func(c *Config) { c.MoveTimeout = -1 },
		"same name":   func(c *Config) { c.Players[1].Name = "a" },
		"no name":     func(c *Config) { c.Players[1].Name = "" },
		"no UTF-8":    func(c *Config) { c.Players[1].Name = "\xd1" },
		"settings":    func(c *Config) { c.Players[0].Settings = "\xff" },
		"no player":   func(c *Config) { c.Players[0].New = nil },
		"no limits":   func(c *Config) { c.Players[0].Limits.Nodes = 0 },
		"clock":       func(c *Config) { c.Players[0].Limits.Time[1] = time.Second },
		"moves to go": func(c *Config) { c.Players[0].Limits.MovesToGo = 40 },
		"infinite":    func(c *Config) { c.Players[0].Limits.Infinite = true },
	} {
		cfg := good
		cfg.Players = slices.Clone(good.Players)
		change(&cfg)
		if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: error %v, want ErrConfig", name, err)
		}
	}
	good.Players[1].Name = "net\xd1"
	if _, err := Run(context.Background(), good); err == nil || !strings.Contains(err.Error(), `player 2 ("net\xd1"): found "net\xd1", expected UTF-8`) {
		t.Errorf("a name that is no text: error %v", err)
	}
	good.Players[1].Name = "b"
	good.SPRT = &rating.SPRT{}
	if _, err := Run(context.Background(), good); !errors.Is(err, rating.ErrSPRT) {
		t.Errorf("SPRT: error %v", err)
	}
}

func TestStoppedMatch(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := Run(ctx, testConfig(always("a", sleeping), always("b", sleeping), 2))
	if !errors.Is(err, context.DeadlineExceeded) || r.Pairs() != 0 || !slices.Equal(failures(r), []int{0, 0}) {
		t.Errorf("error %v, result %v", err, r)
	}
}

// A bad opening and settings that package game refuses end the match.
func TestErrorsOfGame(t *testing.T) {
	errEngine := errors.New("engine gone")
	for want, change := range map[error]func(*Config){
		game.ErrConfig: func(c *Config) { c.Game.WinPlies = -1 },
		errEngine: func(c *Config) {
			c.Openings.Opening = func(int) (game.Opening, error) { return game.Opening{}, errEngine }
		},
		game.ErrOpening: func(c *Config) {
			c.Openings.Opening = func(int) (game.Opening, error) {
				return game.Opening{Start: chess.Crazyhouse.Start(), Moves: []chess.Move{chess.NoMove}}, nil
			}
		},
	} {
		cfg := testConfig(always("a", random(1)), always("b", random(2)), 2)
		change(&cfg)
		if _, err := Run(context.Background(), cfg); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
}

// Every player has the clock of its own limits, whatever colour it plays.
func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clocked := func(name string, left time.Duration, pause time.Duration) Contestant {
			c := always(name, func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
				side := line.Pos().SideToMove()
				if lim.Time[side] > left+time.Second || lim.Nodes != 0 || lim.Inc[side] != time.Microsecond {
					t.Errorf("%s has the limits %+v", name, lim)
				}
				time.Sleep(pause)
				return random(1)(ctx, line, lim)
			})
			c.Limits = search.Limits{Time: [2]time.Duration{left, left}, Inc: [2]time.Duration{time.Microsecond, time.Microsecond}}
			return c
		}
		cfg := testConfig(clocked("fast", time.Hour, 0), clocked("slow", 10*time.Millisecond, 3*time.Millisecond), 2)
		cfg.FailureEnds = true // to be slow is no failure
		r := mustRun(t, cfg)
		if !slices.Equal(failures(r), []int{0, 4}) || r.Endings["time forfeit"] != 4 || r.Encounters[0].Games != (rating.Trinomial{0, 0, 4}) {
			t.Errorf("result %v, endings %v", r, r.Endings)
		}
	})
}

func TestGate(t *testing.T) {
	sprt := &rating.SPRT{Elo0: 0, Elo1: 100, Alpha: 0.05, Beta: 0.05}
	strong, weak := always("strong", greedy(1)), always("weak", random(2))
	broken := always("broken", crashing(3))
	for _, c := range []struct {
		name                 string
		candidate, incumbent Contestant
		pairs                int
		undecided            UndecidedRule
		passed               bool
		word                 string
	}{
		{"stronger", strong, weak, 60, UndecidedFail, true, "H1"},
		{"weaker", weak, strong, 60, UndecidedElo, false, "H0"},
		{"undecided by Elo", strong, weak, 3, UndecidedElo, true, "% of the points"},
		{"undecided by LLR", strong, weak, 3, UndecidedLLR, true, "LLR"},
		{"undecided fails", strong, weak, 3, UndecidedFail, false, "undecided after 3"},
		{"weaker undecided", weak, strong, 3, UndecidedElo, false, "% of the points"},
		{"broken candidate", broken, weak, 3, UndecidedElo, false, "candidate failed in 3 of 6"},
		{"broken incumbent", strong, broken, 60, UndecidedElo, false, "incumbent failed"},
	} {
		cfg := GateConfig{Config: testConfig(c.candidate, c.incumbent, c.pairs), Undecided: c.undecided}
		cfg.SPRT = sprt
		g, err := Gate(context.Background(), cfg)
		if err != nil || g.Passed != c.passed || !strings.Contains(g.Reason, c.word) {
			t.Errorf("%s: passed %v because %q, error %v\n%v", c.name, g.Passed, g.Reason, err, g.Result)
		}
	}
	cfg := GateConfig{Config: testConfig(strong, weak, 3)}
	if _, err := Gate(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("gate without SPRT: %v", err)
	}
	cfg.SPRT, cfg.Undecided = sprt, 7
	if _, err := Gate(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("gate without rule: %v", err)
	}
}
