package xboard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestMain(m *testing.M) {
	mockengine.Main()
	os.Exit(m.Run())
}

const patience = 10 * time.Second

// mockConfig runs the mock engine with a script, with times long enough for a
// busy machine.
func mockConfig(script string) engine.Config {
	command, args := mockengine.Command(script)
	return engine.Config{
		Command: command, Args: args, StartTimeout: patience, ReadyTimeout: patience,
		SearchTimeout: patience, MoveMargin: patience, QuitGrace: patience,
	}
}

func start(t *testing.T, cfg engine.Config) *Client {
	t.Helper()
	c, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func startLine() *chess.Line { return chess.NewLine(chess.Crazyhouse.Start()) }

var depthOne = search.Limits{Depth: 1}

func TestClientPlays(t *testing.T) {
	leak.Check(t)
	c := start(t, mockConfig(""))
	if c.Name() != "Mock 1.0" {
		t.Errorf("name %q", c.Name())
	}
	for range 2 {
		if err := c.NewGame(); err != nil {
			t.Fatal(err)
		}
		line := startLine()
		for range 30 {
			if !line.Pos().HasLegalMove() {
				break
			}
			r, err := c.Search(t.Context(), line, depthOne)
			if err != nil {
				t.Fatal(err)
			}
			if r.Score != 31 || r.Depth != 7 || r.SelDepth != 9 || r.Nodes != 1350 || len(r.PV) != 1 || r.PV[0] != r.Move || r.Elapsed <= 0 {
				t.Fatalf("result %+v", r)
			}
			line.Push(r.Move)
		}
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Search(t.Context(), startLine(), depthOne); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("search after Close: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Errorf("restart after Close: %v", err)
	}
}

// TestClientSearchFailures runs every engine that fails in a search, and then starts
// it again.
func TestClientSearchFailures(t *testing.T) {
	short := func(cfg *engine.Config) {
		cfg.SearchTimeout, cfg.MoveMargin = 50*time.Millisecond, 50*time.Millisecond
	}
	for _, test := range []struct {
		script string
		want   error
		text   string       // part of the message
		reason chess.Reason // by which the game is lost; 0: package game says
		up     bool         // the engine is still usable
		edit   func(*engine.Config)
	}{
		{"go: print assertion failed | exit 134", engine.ErrCrashed, `exit status 134; its last line: "assertion failed"`, 0, false, nil},
		{"go: print 1 2 3 4 e4 | complain out of memory | exit 1", engine.ErrCrashed, `Mock 1.0: exit status 1; on standard error: "out of memory"`, 0, false, nil},
		{"go: kill", engine.ErrCrashed, "signal: killed", 0, false, nil},
		{"go: child | exit 1", engine.ErrCrashed, "exit status 1", 0, false, nil},
		{"go: hang", engine.ErrTimeout, "no move after 50ms, nor 50ms after ?", game.NoAnswer, false, short},
		{"go: print tellusererror no net | hang", engine.ErrTimeout, `nor 50ms after ?; its last line: "tellusererror no net"`, game.NoAnswer, false, short},
		{"go: flood", engine.ErrTimeout, "nor 50ms after ?", game.NoAnswer, false, short},
		{"ping#2: hang", engine.ErrTimeout, "no pong after 50ms, nor 50ms after ?", game.NoAnswer, false, short},
		{"go: think", engine.ErrTimeout, "no move after 50ms", game.NoAnswer, true, func(cfg *engine.Config) { cfg.SearchTimeout = 50 * time.Millisecond }},
		{"go: print move e2e5", engine.ErrIllegalMove, `"e2e5" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print move Nf6", engine.ErrIllegalMove, `"Nf6" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print move \x01\xffmove", engine.ErrProtocol, "not a move", 0, false, nil},
		{"go: print move", engine.ErrProtocol, "without a move", 0, false, nil},
		{"go: print 1-0 {White mates}", engine.ErrProtocol, "claims", 0, true, nil},
		{"go: print 1/2-1/2 {Draw by repetition}", engine.ErrProtocol, "where the game goes on", 0, true, nil},
		{"go: print resign", game.ErrResigned, "resign", 0, true, nil},
		{"go: print 0-1 {White resigns}", game.ErrResigned, "0-1", 0, true, nil},
		{"go: endless", engine.ErrProtocol, "line of more than", 0, false, nil},
	} {
		t.Run(test.script, func(t *testing.T) {
			leak.Check(t)
			cfg := mockConfig(test.script)
			if test.edit != nil {
				test.edit(&cfg)
			}
			c := start(t, cfg)
			_, err := c.Search(t.Context(), startLine(), depthOne)
			fault, ok := errors.AsType[*game.Fault](err)
			if ok != (test.reason != 0) || ok && fault.Reason != test.reason {
				t.Errorf("error %v is the fault %+v, expected reason %d", err, fault, test.reason)
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), "Mock 1.0") {
				t.Fatalf("error %v, expected %v with %q and the engine's name", err, test.want, test.text)
			}
			if err := c.NewGame(); (err == nil) != test.up || err != nil && !errors.Is(err, engine.ErrCrashed) {
				t.Errorf("new game after the failure: %v", err)
			}
			c.Close()
			c.engine = engine.New(mockConfig(""), quotable)
			if err := c.Restart(t.Context()); err != nil {
				t.Fatalf("restart: %v", err)
			}
			if _, err := c.Search(t.Context(), startLine(), depthOne); err != nil {
				t.Errorf("search after restart: %v", err)
			}
		})
	}
}

func TestClientStartFailures(t *testing.T) {
	short := func(c *engine.Config) { c.StartTimeout = 50 * time.Millisecond }
	const plain = "protover: print feature ping=1 done=1"
	for _, test := range []struct {
		script string
		want   error
		text   string
		edit   func(*engine.Config)
	}{
		{"start: print no opening book | exit 3", engine.ErrCrashed, "opening book", nil},
		{"start: hang", engine.ErrTimeout, "no feature", short},
		{"protover: flood", engine.ErrTimeout, "no feature", short},
		{"protover: print feature done=0", engine.ErrTimeout, "no feature done=1 after 1s", func(c *engine.Config) { c.StartTimeout = time.Second }},
		{"ping: hang", engine.ErrTimeout, "no pong after 50ms", func(c *engine.Config) { c.ReadyTimeout = 50 * time.Millisecond }},
		{"variant: print Error (unknown variant): variant crazyhouse", engine.ErrProtocol, "unknown variant", nil},
		{"option: print Error (Skill Level: found 99, expected at most 20): option Skill Level=99", engine.ErrOption, "expected at most 20", func(c *engine.Config) { c.Options = map[string]string{"Skill Level": "99"} }},
		{"memory: print Error (too large): memory 999999", engine.ErrOption, "too large", func(c *engine.Config) { c.Options = map[string]string{"memory": "999999"} }},
		{`protover: print feature variants="normal,atomic" done=1`, engine.ErrVariant, `lists normal, atomic, wanted "crazyhouse"`, nil},
		{"", engine.ErrVariant, "Chess960", func(c *engine.Config) { c.Chess960 = true }},
		{plain, engine.ErrOption, `no "Hash", nor any other`, func(c *engine.Config) { c.Options = map[string]string{"Hash": "1"} }},
		{"", engine.ErrOption, `the nearest is "Skill Level"; it has Clear, Learn - not, Skill Level, memory`, func(c *engine.Config) {
			c.Options = map[string]string{"SkillLevel": "1"}
		}},
		{"", engine.ErrOption, "more than one line", func(c *engine.Config) { c.Options = map[string]string{"memory": "1\nquit"} }},
		{"", engine.ErrStart, "nowhere", func(c *engine.Config) { c.Command = filepath.Join(os.TempDir(), "nowhere", "engine") }},
	} {
		t.Run(test.script+"/"+test.text, func(t *testing.T) {
			leak.Check(t)
			cfg := mockConfig(test.script)
			if test.edit != nil {
				test.edit(&cfg)
			}
			c, err := Start(t.Context(), cfg)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, expected %v with %q", err, test.want, test.text)
			}
			if c != nil {
				t.Error("a client came with the error")
			}
		})
	}
}

// TestClientContext: the end of the context has the engine move, and leaves it
// usable.
func TestClientContext(t *testing.T) {
	leak.Check(t)
	c := start(t, mockConfig("go: think"))
	for _, lim := range []search.Limits{{Infinite: true}, {}, {Depth: 90}} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		r, err := c.Search(ctx, startLine(), lim)
		cancel()
		if err != nil || r.Move == chess.NoMove {
			t.Fatalf("limits %+v: %+v, %v", lim, r, err)
		}
		if _, err := c.Search(ctx, startLine(), lim); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("search with an ended context: %v", err)
		}
	}
}

// TestClientWatchesTheClock: a search with a limit of time is given that and the
// margin.
func TestClientWatchesTheClock(t *testing.T) {
	cfg := mockConfig("go: think")
	cfg.MoveMargin = 50 * time.Millisecond
	c := start(t, cfg)
	lim := search.Limits{Time: [2]time.Duration{50 * time.Millisecond, time.Hour}, Inc: [2]time.Duration{50 * time.Millisecond, 0}}
	began := time.Now()
	_, err := c.Search(t.Context(), startLine(), lim)
	fault, ok := errors.AsType[*game.Fault](err)
	if took := time.Since(began); !ok || fault.Reason != game.TimeForfeit || !errors.Is(err, engine.ErrTimeout) || took < 150*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
}

// TestClientDropsNoise: what is not of the protocol, or comes too late, does not matter.
func TestClientDropsNoise(t *testing.T) {
	noise := strings.Repeat("print # 7 | print offer draw | print Error (unknown command): easy | print \x01 7 | print 1 x 3 4 | print pong 99 | print | ", 300)
	for _, script := range []string{"go: " + noise + "obey", "go: obey | print move a2a3 | print 1-0 {really}", "ping: sleep 20ms | obey"} {
		c := start(t, mockConfig(script))
		line := startLine()
		for range 4 {
			r, err := c.Search(t.Context(), line, depthOne)
			if err != nil {
				t.Fatalf("%.20s: %v", script, err)
			}
			line.Push(r.Move)
		}
	}
}

func TestClientRefusesPositions(t *testing.T) {
	c := start(t, mockConfig(""))
	shuffled, err := chess.ParseFEN960(chess.Crazyhouse, "1r2k1r1/8/8/8/8/8/8/1R2K1R1[] w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	mated := parse(t, "7k/6Q1/6K1/8/8/8/8/8[] b - - 0 1")
	for want, p := range map[error]chess.Position{search.ErrNoLegalMoves: mated, engine.ErrVariant: shuffled} {
		if _, err := c.Search(t.Context(), chess.NewLine(p), depthOne); !errors.Is(err, want) {
			t.Errorf("%s: error %v, expected %v", p.FEN(), err, want)
		}
	}
	if _, err := c.Search(t.Context(), chess.NewLine(chess.Chess.Start()), depthOne); !errors.Is(err, engine.ErrVariant) {
		t.Errorf("chess: error %v", err)
	}
}
