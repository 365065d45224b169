package uci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func start(t *testing.T, cfg ClientConfig) *Client {
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

// checkGoroutines fails if more goroutines run at the end of the test than now.
func checkGoroutines(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
	})
}

func TestClientPlays(t *testing.T) {
	checkGoroutines(t)
	c := start(t, mockConfig("good"))
	if c.Name() != "Mock 1.0" {
		t.Errorf("name %q", c.Name())
	}
	line := startLine()
	for range 2 {
		if err := c.NewGame(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if !line.Pos().HasLegalMove() {
				break
			}
			r, err := c.Search(t.Context(), line, depthOne)
			if err != nil {
				t.Fatal(err)
			}
			if r.Score != 31 || r.Depth != 7 || r.Nodes != 1350 || len(r.PV) != 1 || r.PV[0] != r.Move || r.Lines != nil {
				t.Fatalf("result %+v", r)
			}
			line.Push(r.Move)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Search(t.Context(), line, depthOne); !errors.Is(err, ErrClosed) {
		t.Errorf("search after Close: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Errorf("restart after Close: %v", err)
	}
}

func TestClientMultiPV(t *testing.T) {
	c := start(t, mockConfig("good"))
	r, err := c.Search(t.Context(), startLine(), search.Limits{Depth: 1, MultiPV: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lines) != 2 || r.Lines[0].Score != r.Score || r.Lines[0].PV[0] != r.Move ||
		r.Lines[1].Score != search.MatedAfter(4) || len(r.Lines[1].PV) != 1 {
		t.Errorf("result %+v", r)
	}
}

// TestClientSearchFailures runs every engine that fails in a search, and then
// starts it again.
func TestClientSearchFailures(t *testing.T) {
	short := func(cfg *ClientConfig) {
		cfg.SearchTimeout, cfg.MoveMargin = 50*time.Millisecond, 50*time.Millisecond
	}
	for _, test := range []struct {
		mode string
		want error
		text string // part of the message
		up   bool   // the engine is still usable
		edit func(*ClientConfig)
	}{
		{"crash", ErrCrashed, "king in hand", false, nil},
		{"crash", ErrCrashed, "exit status 134", false, nil},
		{"close-output", ErrCrashed, "still runs", false, nil},
		{"holder", ErrCrashed, "exit status 1", false, nil},
		{"hang", ErrTimeout, "after stop", false, short},
		{"until-stop", ErrTimeout, "no bestmove after 50ms", true, func(cfg *ClientConfig) { cfg.SearchTimeout = 50 * time.Millisecond }},
		{"illegal", ErrIllegalMove, `"e2e5" in rnbqkbnr/`, true, nil},
		{"none", ErrIllegalMove, `"(none)" in rnbqkbnr/`, true, nil},
		{"garbage", ErrProtocol, "not a move", false, nil},
		{"bare", ErrProtocol, "without a move", false, nil},
		{"endless-line", ErrProtocol, "line of more than", false, nil},
	} {
		t.Run(test.mode, func(t *testing.T) {
			checkGoroutines(t)
			cfg := mockConfig(test.mode)
			if test.edit != nil {
				test.edit(&cfg)
			}
			c := start(t, cfg)
			began := time.Now()
			_, err := c.Search(t.Context(), startLine(), depthOne)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), "Mock 1.0") {
				t.Fatalf("error %v, expected %v with %q and the engine's name", err, test.want, test.text)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if err := c.NewGame(); (err == nil) != test.up || err != nil && !errors.Is(err, ErrCrashed) {
				t.Errorf("new game after the failure: %v", err)
			}
			c.cfg = mockConfig("good").withDefaults()
			if err := c.Restart(t.Context()); err != nil {
				t.Fatalf("restart: %v", err)
			}
			if _, err := c.Search(t.Context(), startLine(), depthOne); err != nil {
				t.Errorf("search after restart: %v", err)
			}
		})
	}
}

// TestClientNoticesDeathBetweenSearches: the next call says so, whichever it is.
func TestClientNoticesDeathBetweenSearches(t *testing.T) {
	for _, call := range []func(c *Client) error{
		func(c *Client) error { return c.NewGame() },
		func(c *Client) error { _, err := c.Search(t.Context(), startLine(), depthOne); return err },
	} {
		for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
			c := start(t, mockConfig("die-after-move"))
			if _, err := c.Search(t.Context(), startLine(), depthOne); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			if err := call(c); !errors.Is(err, ErrCrashed) || !strings.Contains(err.Error(), "exit status 9") {
				t.Errorf("after %v: %v", wait, err)
			}
		}
	}
}

func TestIllegalMoveError(t *testing.T) {
	c := start(t, mockConfig("illegal"))
	line := startLine()
	_, err := c.Search(t.Context(), line, depthOne)
	illegal, ok := errors.AsType[*IllegalMoveError](err)
	if !ok || illegal.Move != "e2e5" || illegal.FEN != line.Pos().FEN() || illegal.Engine != "Mock 1.0" {
		t.Errorf("error %#v", err)
	}
}

func TestClientStartFailures(t *testing.T) {
	for _, test := range []struct {
		mode string
		want error
		text string
		edit func(*ClientConfig)
	}{
		{"exit-at-once", ErrCrashed, "opening book", nil},
		{"never-uciok", ErrTimeout, "no uciok after 50ms", func(c *ClientConfig) { c.StartTimeout = 50 * time.Millisecond }},
		{"never-ready", ErrTimeout, "no readyok after 50ms", func(c *ClientConfig) { c.ReadyTimeout = 50 * time.Millisecond }},
		{"no-variants", ErrVariant, "no option UCI_Variant", nil},
		{"chess-only", ErrVariant, `lists chess, atomic, wanted "crazyhouse"`, nil},
		{"no-variants", ErrVariant, "no option UCI_Chess960", func(c *ClientConfig) { c.Variant, c.Chess960 = chess.Chess, true }},
		{"good", ErrOption, `no "Tempo"; it has MultiPV, Skill Level, UCI_Chess960, UCI_Variant`, func(c *ClientConfig) {
			c.Options = map[string]string{"Tempo": "1"}
		}},
		{"good", ErrOption, "more than one line", func(c *ClientConfig) {
			c.Options = map[string]string{"Skill Level": "1\nquit"}
		}},
		{"good", ErrStart, "nowhere", func(c *ClientConfig) { c.Command = filepath.Join(os.TempDir(), "nowhere", "engine") }},
	} {
		t.Run(test.mode+"/"+test.text, func(t *testing.T) {
			checkGoroutines(t)
			cfg := mockConfig(test.mode)
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

func TestPlainChessNeedsNoVariantOption(t *testing.T) {
	cfg := mockConfig("no-variants")
	cfg.Variant = chess.Chess
	c := start(t, cfg)
	if _, err := c.Search(t.Context(), startLine(), depthOne); !errors.Is(err, ErrVariant) {
		t.Errorf("crazyhouse position: %v", err)
	}
}

// syncBuffer is a bytes.Buffer for two goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestClientSetsOptions(t *testing.T) {
	var stderr syncBuffer
	cfg := mockConfig("echo")
	cfg.Stderr, cfg.Chess960 = &stderr, true
	cfg.Options = map[string]string{"skill level": "7", "MultiPV": "3"}
	c := start(t, cfg)
	if err := c.NewGame(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	want := "setoption name UCI_Variant value crazyhouse\nsetoption name UCI_Chess960 value true\n" +
		"setoption name MultiPV value 3\nsetoption name Skill Level value 7\nucinewgame\n"
	if stderr.String() != want {
		t.Errorf("commands:\n%s\nexpected:\n%s", stderr.String(), want)
	}
}

// TestClientContext: the end of the context stops the search, which still
// answers, and leaves the engine usable.
func TestClientContext(t *testing.T) {
	checkGoroutines(t)
	c := start(t, mockConfig("until-stop"))
	for _, lim := range []search.Limits{{Infinite: true}, {}, {Depth: 90}} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		r, err := c.Search(ctx, startLine(), lim)
		cancel()
		if err != nil || r.Move == chess.NoMove {
			t.Fatalf("limits %+v: %+v, %v", lim, r, err)
		}
		if _, err := c.Search(ctx, startLine(), lim); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("search with an ended context: %v", err)
		}
	}
	if _, err := c.Search(t.Context(), startLine(), search.Limits{Depth: 1, Ponder: true}); err == nil {
		t.Error("pondering was not refused")
	}
}

// TestClientWatchesTheClock: a search with a limit of time is given that and
// the margin.
func TestClientWatchesTheClock(t *testing.T) {
	cfg := mockConfig("until-stop")
	cfg.MoveMargin = 100 * time.Millisecond
	c := start(t, cfg)
	for _, lim := range []search.Limits{
		{MoveTime: 100 * time.Millisecond},
		{Time: [2]time.Duration{50 * time.Millisecond, time.Hour}, Inc: [2]time.Duration{50 * time.Millisecond, 0}},
		{Time: [2]time.Duration{100 * time.Millisecond, time.Hour}, MoveTime: time.Hour},
	} {
		began := time.Now()
		_, err := c.Search(t.Context(), startLine(), lim)
		took := time.Since(began)
		if !errors.Is(err, ErrTimeout) || took < 200*time.Millisecond || took > 5*time.Second {
			t.Errorf("limits %+v: %v after %v", lim, err, took)
		}
	}
}

func TestClientDropsNoise(t *testing.T) {
	for _, mode := range []string{"noise", "twice"} {
		c := start(t, mockConfig(mode))
		line := startLine()
		for range 4 { // a second bestmove must not answer the next search
			r, err := c.Search(t.Context(), line, depthOne)
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			line.Push(r.Move)
		}
	}
}

func TestClientKillsWhatDoesNotQuit(t *testing.T) {
	checkGoroutines(t)
	cfg := mockConfig("ignore-quit")
	cfg.QuitGrace = 50 * time.Millisecond
	c := start(t, cfg)
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestClientNoLegalMoves(t *testing.T) {
	c := start(t, mockConfig("good"))
	mated, err := chess.ParseFEN(chess.Crazyhouse, "7k/6Q1/6K1/8/8/8/8/8[] b - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), chess.NewLine(mated), depthOne); !errors.Is(err, search.ErrNoLegalMoves) {
		t.Errorf("error %v", err)
	}
}

func TestClientNeedsChess960(t *testing.T) {
	c := start(t, mockConfig("good"))
	p, err := chess.ParseFEN960(chess.Crazyhouse, "1r2k1r1/8/8/8/8/8/8/1R2K1R1[] w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), chess.NewLine(p), depthOne); !errors.Is(err, ErrVariant) {
		t.Errorf("error %v", err)
	}
}
