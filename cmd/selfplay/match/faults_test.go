package match

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// contestants loads players that search 50 nodes if they have no limits.
func contestants(t *testing.T, texts ...string) []match.Contestant {
	t.Helper()
	specs, err := cli.ParsePlayers(texts)
	if err != nil {
		t.Fatal(err)
	}
	makers, err := player.LoadAll(t.Context(), specs, chess.Crazyhouse, player.Defaults{Limits: search.Limits{Nodes: 50}, HashMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	var all []match.Contestant
	for _, m := range makers {
		all = append(all, match.NewContestant(m))
	}
	return all
}

// faultMatch has the mock engine play a pair against a healthy player. It
// returns the log's lines, the PGN, and how often the engine was started.
func faultMatch(t *testing.T, script, settings string) (log []string, pgn string, starts int, err error) {
	t.Helper()
	players := contestants(t, clitest.MockPlayer(script, settings), "material")
	var started atomic.Int32
	start := players[0].New
	players[0].New = func() (game.Player, error) {
		started.Add(1)
		return start()
	}
	dir := t.TempDir()
	cfg := match.Config{
		Players: players, Variant: chess.Crazyhouse, Openings: match.RandomOpenings(chess.Crazyhouse, 1, 4, 5), Pairs: 1,
		Game: game.Config{MaxPlies: 16}, Log: filepath.Join(dir, "log"), PGN: filepath.Join(dir, "pgn"),
	}
	_, err = match.Run(t.Context(), cfg)
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(text)
	}
	log = strings.Split(strings.TrimSpace(read(cfg.Log)), "\n")
	return log[1:], read(cfg.PGN), int(started.Load()), err
}

// always is how often an engine is started that fails in both games.
const always = 2

// TestEngineFaults plays matches with an engine that fails in every way there
// is. It loses the game for that reason, with its words in log and PGN, is
// started again, and the match is played to its end.
func TestEngineFaults(t *testing.T) {
	const quick = ",timeout=1s,margin=100ms" // the start of an engine takes part of it
	for _, test := range []struct {
		name, script, settings string
		reason                 string // "": no game is lost by failing
		text                   string // part of the error
		starts                 int
	}{
		{"hangs in ucinewgame", "ucinewgame#2: hang", quick, "no answer", "no readyok after 1s", 0},
		{"hangs in isready", "isready#4: hang", quick, "no answer", "no readyok after 1s", always},
		{"hangs, no clock", "go#2: hang", quick, "no answer", "no bestmove after 1s, nor 100ms after stop", always},
		{"hangs, clock", "go#2: hang", ",tc=0.2+0.01,margin=100ms", "time forfeit", "nor 100ms after stop", always},
		{"hangs, movetime", "go#2: hang", ",movetime=200ms,margin=100ms", "time forfeit", "no bestmove after 300ms, nor 100ms after stop", always},
		{"answers only stop", "go#2: think", quick, "no answer", "no bestmove after 1s", always},
		{"oversteps its clock", "go#2: sleep 400ms | obey", ",tc=0.2", "time forfeit", "clock overstepped", 1},
		{"crashes", "go#2: print assertion failed | exit 134", "", "engine failure", `exit status 134; its last line: \"assertion failed\"`, always},
		{"crashes on standard error", "go#2: complain out of memory | exit 1", "", "engine failure", `on standard error: \"out of memory\"`, always},
		{"is killed", "go#2: kill", "", "engine failure", "signal: killed", always},
		{"dies between moves", "go#2: obey | exit 9", "", "engine failure", "exit status 9", always},
		{"prints garbage", "go: print \x01\x7f%s | print info depth x score cp | print bestmovee2e4 | print info pv | obey", "", "", "", 1},
		{"plays garbage", "go#2: print bestmove ?!", "", "engine failure", "not a move", always},
		{"plays an illegal move", "go#2: print bestmove a1a1", "", "illegal move", `played \"a1a1\" in `, always},
		{"plays (none)", "go#2: print bestmove (none)", "", "illegal move", `played \"(none)\" in `, always},
		{"plays 0000", "go#2: print bestmove 0000", "", "illegal move", `played \"0000\" in `, always},
		{"plays nothing", "go#2: print bestmove", "", "engine failure", "bestmove without a move", always},
		{"answers twice", "go: obey | obey", "", "", "", 1},
		{"floods", "go#2: flood", quick, "no answer", "no bestmove after 1s", always},
		{"writes an endless line", "go#2: endless", "", "engine failure", "line of more than", always},
		{"closes its output", "go#2: close | hang", "", "engine failure", "closed its output but still runs", always},
		{"leaves a child with its pipe", "go#2: child | exit 1", "", "engine failure", "exit status 1", always},
		{"is slow to quit", "quit: sleep 300ms | obey", "", "", "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			log, pgn, starts, err := faultMatch(t, test.script, test.settings)
			if err != nil || len(log) != 1 {
				t.Fatalf("%d lines in the log, %v", len(log), err)
			}
			if test.starts > 0 && starts != test.starts {
				t.Errorf("the engine was started %d times, expected %d", starts, test.starts)
			}
			lost := 0
			for i, line := range log {
				t.Log(line)
				if a := strings.Count(line, `"failed":"A"`); strings.Count(line, `"failed"`) != a ||
					strings.Count(line, fmt.Sprintf(`"reason":%q`, test.reason)) != a || a > 0 && !strings.Contains(line, test.text) {
					t.Errorf("pair %d: expected %q with %q", i, test.reason, test.text)
				} else {
					lost += a
				}
			}
			if lost == 0 != (test.reason == "") || test.starts == always && lost != always {
				t.Errorf("%d games lost by failing", lost)
			}
			if n := strings.Count(pgn, `[Failure "`); n != lost || strings.Count(pgn, "[Result ") != 2 {
				t.Errorf("%d failures in the PGN, expected %d:\n%s", n, lost, pgn)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestEngineThatCannotStart: such an engine is an error before the first game,
// not games lost.
func TestEngineThatCannotStart(t *testing.T) {
	for script, want := range map[string]string{
		"start: complain no net | exit 3":    "no net",
		"start: hang":                        "no uciok after 1s",
		"uci: hang":                          "no uciok after 1s",
		"isready: hang":                      "no readyok after 1s",
		"uci: print id name X | print uciok": "no option UCI_Variant",
		"setoption: complain crazyhouse? never | exit 1": "crazyhouse? never",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			log, pgn, _, err := faultMatch(t, script, ",timeout=1s")
			if !errors.Is(err, match.ErrNoPlayer) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, expected %q", err, want)
			}
			if len(log) > 0 || pgn != "" {
				t.Errorf("games were played: %q\n%s", log, pgn)
			}
		})
	}
	nearest := clitest.MockPlayer("", ",SkilLevel=3")
	players := contestants(t, nearest, "uci:/nowhere/engine")
	for i, want := range []string{`no "SkilLevel", the nearest is "Skill Level"`, "/nowhere/engine"} {
		if _, err := players[i].New(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// TestUnevenLimits: each player of a match searches by its own limits.
func TestUnevenLimits(t *testing.T) {
	_, pgn, _, err := faultMatch(t, "go: sleep 5ms | obey", ",tc=1:00+0.5")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`[WhiteTimeControl "60+0.5"]`, `[BlackTimeControl "-"]`, `[BlackTimeControl "60+0.5"]`, `[WhiteTimeControl "-"]`,
		`[Limits "wtime 60000 winc 500 btime 60000 binc 500 against nodes 50"]`, `[Limits "nodes 50 against wtime`,
	} {
		if !strings.Contains(pgn, want) {
			t.Errorf("no %s in\n%s", want, pgn)
		}
	}
	// The engine's comments have the time of each move, and the clock after it, which
	// gains the increment.
	games := strings.Split(strings.ReplaceAll(pgn, "\n", " "), "[Event ")[1:]
	for i, text := range games {
		moves := regexp.MustCompile(`\{\+0\.31/7 ([0-9.]+)s, n=1350, sd=9, tl=([0-9.]+)s\}`).FindAllStringSubmatch(text, -1)
		if len(moves) < 5 {
			t.Errorf("game %d: found %d moves on the clock, expected 5 or more", i, len(moves))
		}
		clock := 60.0
		for _, m := range moves {
			spent, left := seconds(t, m[1]), seconds(t, m[2])
			if spent < 0.005 {
				t.Errorf("game %d: found a move of %v s, expected the 5 ms that the engine sleeps at least", i, spent)
			}
			if want := clock + 0.5 - spent; math.Abs(want-left) > 0.002 { // all are rounded to 1 ms
				t.Errorf("game %d: found %v s on the clock after a move of %v s, expected %.3f", i, left, spent, want)
			}
			clock = left
		}
	}
}

func seconds(t *testing.T, text string) float64 {
	t.Helper()
	s, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
