package uci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/search"
)

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
	if _, err := c.Search(t.Context(), line, depthOne); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("search after Close: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Errorf("restart after Close: %v", err)
	}
}

func TestClientMultiPV(t *testing.T) {
	c := start(t, mockConfig(""))
	r, err := c.Search(t.Context(), startLine(), search.Limits{Depth: 1, MultiPV: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lines) != 2 || r.Lines[0].Score != r.Score || r.Lines[0].PV[0] != r.Move ||
		r.Lines[1].Score != search.MatedAfter(4) || len(r.Lines[1].PV) != 1 {
		t.Errorf("result %+v", r)
	}
}

// TestClientWithoutMultiPV: an engine that cannot be asked for several lines has none.
func TestClientWithoutMultiPV(t *testing.T) {
	c := start(t, mockConfig("uci: print option name UCI_Variant type combo default chess var chess var crazyhouse | print uciok"))
	if r, err := c.Search(t.Context(), startLine(), search.Limits{Depth: 1, MultiPV: 2}); err != nil || r.Lines != nil {
		t.Errorf("%+v, %v, expected no lines", r, err)
	}
}

// TestClientSearchFailures runs every engine that fails in a search, and then
// starts it again.
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
		{"go: print assertion failed: king in hand | exit 134", engine.ErrCrashed, `exit status 134; its last line: "assertion failed: king in hand"`, 0, false, nil},
		{"position: print bad position | exit 1", engine.ErrCrashed, `its last line: "bad position"`, 0, false, nil},
		{"go: print info depth 1 | exit 1", engine.ErrCrashed, "Mock 1.0: exit status 1", 0, false, nil},
		{"go: complain out of memory | exit 1", engine.ErrCrashed, `on standard error: "out of memory"`, 0, false, nil},
		{"go: print info depth 1 score cp 3 pv e2e4 | kill", engine.ErrCrashed, "signal: killed", 0, false, nil},
		{"go: close | hang", engine.ErrCrashed, "still runs", 0, false, nil},
		{"go: child | exit 1", engine.ErrCrashed, "exit status 1", 0, false, nil},
		{hanging, engine.ErrTimeout, "after stop", game.NoAnswer, false, short},
		{"go: flood", engine.ErrTimeout, "after stop", game.NoAnswer, false, short},
		{"isready#2: hang", engine.ErrTimeout, "no readyok after 50ms, nor 50ms after stop", game.NoAnswer, false, short},
		{"isready#2: flood", engine.ErrTimeout, "no readyok after 50ms, nor 50ms after stop", game.NoAnswer, false, short},
		{untilStop, engine.ErrTimeout, "no bestmove after 50ms", game.NoAnswer, true, func(cfg *engine.Config) { cfg.SearchTimeout = 50 * time.Millisecond }},
		{illegal, engine.ErrIllegalMove, `"e2e5" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print info string net missing | print bestmove 0000", engine.ErrIllegalMove, `; its last line: "info string net missing"`, game.IllegalMove, true, nil},
		{"go: print info string thinking of nothing | hang", engine.ErrTimeout, `nor 50ms after stop; its last line: "info string thinking of nothing"`, game.NoAnswer, false, short},
		{"go: print bestmove (none)", engine.ErrIllegalMove, `"(none)" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print bestmove 0000", engine.ErrIllegalMove, `"0000" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print bestmove NULL ponder NULL", engine.ErrIllegalMove, `"NULL" in rnbqkbnr/`, game.IllegalMove, true, nil},
		{"go: print bestmove \x01\xffmove", engine.ErrProtocol, "not a move", 0, false, nil},
		{"go: print bestmove", engine.ErrProtocol, "without a move", 0, false, nil},
		{"go: endless", engine.ErrProtocol, "line of more than", 0, false, nil},
	} {
		t.Run(test.script, func(t *testing.T) {
			leak.Check(t)
			cfg := mockConfig(test.script)
			if test.edit != nil {
				test.edit(&cfg)
			}
			c := start(t, cfg)
			began := time.Now()
			_, err := c.Search(t.Context(), startLine(), depthOne)
			checkFault(t, err, test.reason)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), "Mock 1.0") {
				t.Fatalf("error %v, expected %v with %q and the engine's name", err, test.want, test.text)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
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

// checkFault fails unless err loses a game by the given reason; 0 is none.
func checkFault(t *testing.T, err error, want chess.Reason) {
	t.Helper()
	fault, ok := errors.AsType[*game.Fault](err)
	if ok != (want != 0) || ok && fault.Reason != want {
		t.Errorf("error %v is the fault %+v, expected reason %d", err, fault, want)
	}
}

// TestClientMeasuresSearch: the time of a search is that of the engine alone.
func TestClientMeasuresSearch(t *testing.T) {
	const pause = 60 * time.Millisecond
	c := start(t, mockConfig("go: sleep 60ms | obey"))
	began := time.Now()
	r, err := c.Search(t.Context(), startLine(), depthOne)
	if whole := time.Since(began); err != nil || r.Elapsed < pause || r.Elapsed > whole || r.SelDepth != 9 {
		t.Errorf("%+v, %v: expected %v to %v", r, err, pause, whole)
	}
}

// TestClientNoticesDeathBetweenSearches: the next call says so, whichever it is.
func TestClientNoticesDeathBetweenSearches(t *testing.T) {
	for _, call := range []func(c *Client) error{
		func(c *Client) error { return c.NewGame() },
		func(c *Client) error { _, err := c.Search(t.Context(), startLine(), depthOne); return err },
	} {
		c := start(t, mockConfig("go: obey | exit 9"))
		if _, err := c.Search(t.Context(), startLine(), depthOne); err != nil {
			t.Fatal(err)
		}
		if err := call(c); !errors.Is(err, engine.ErrCrashed) || !strings.Contains(err.Error(), "exit status 9") {
			t.Errorf("error %v", err)
		}
	}
}

func TestIllegalMoveError(t *testing.T) {
	c := start(t, mockConfig(illegal))
	line := startLine()
	_, err := c.Search(t.Context(), line, depthOne)
	illegal, ok := errors.AsType[*engine.IllegalMoveError](err)
	if !ok || illegal.Move != "e2e5" || illegal.FEN != line.Pos().FEN() || illegal.Engine != "Mock 1.0" {
		t.Errorf("error %#v", err)
	}
}

func TestClientStartFailures(t *testing.T) {
	for _, test := range []struct {
		script string
		want   error
		text   string
		edit   func(*engine.Config)
	}{
		{"start: print ERROR: cannot find my opening book | exit 3", engine.ErrCrashed, "opening book", nil},
		{"start: hang", engine.ErrTimeout, "no uciok after 50ms", func(c *engine.Config) { c.StartTimeout = 50 * time.Millisecond }},
		{"uci: hang", engine.ErrTimeout, "no uciok after 50ms", func(c *engine.Config) { c.StartTimeout = 50 * time.Millisecond }},
		{"uci: flood", engine.ErrTimeout, "no uciok after 50ms", func(c *engine.Config) { c.StartTimeout = 50 * time.Millisecond }},
		{"isready: hang", engine.ErrTimeout, "no readyok after 50ms", func(c *engine.Config) { c.ReadyTimeout = 50 * time.Millisecond }},
		{"setoption: complain what is crazyhouse? | exit 1", engine.ErrCrashed, "what is crazyhouse?", nil},
		{noVariants, engine.ErrVariant, "no option UCI_Variant", nil},
		{chessOnly, engine.ErrVariant, `lists chess, atomic, wanted "crazyhouse"`, nil},
		{noVariants, engine.ErrVariant, "no option UCI_Chess960", func(c *engine.Config) { c.Variant, c.Chess960 = chess.Chess, true }},
		{"uci: print uciok", engine.ErrOption, "nor any other", func(c *engine.Config) {
			c.Variant, c.Options = chess.Chess, map[string]string{"Hash": "1"}
		}},
		{"", engine.ErrOption, `no "SkillLevel", the nearest is "Skill Level"; it has MultiPV, Skill Level, UCI_Chess960, UCI_Variant`, func(c *engine.Config) {
			c.Options = map[string]string{"SkillLevel": "1"}
		}},
		{"", engine.ErrOption, "more than one line", func(c *engine.Config) {
			c.Options = map[string]string{"Skill Level": "1\nquit"}
		}},
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

func TestPlainChessNeedsNoVariantOption(t *testing.T) {
	cfg := mockConfig(noVariants)
	cfg.Variant = chess.Chess
	c := start(t, cfg)
	if _, err := c.Search(t.Context(), startLine(), depthOne); !errors.Is(err, engine.ErrVariant) {
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
	cfg := mockConfig("setoption: echo | obey; ucinewgame: echo")
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

// Every game begins with the number of threads, which makes engines forget what
// they keep in them.
func TestNewGameRenewsThreads(t *testing.T) {
	var stderr syncBuffer
	cfg := mockConfig("uci: print option name Threads type spin default 1 min 1 max 8 | " +
		"print option name UCI_Variant type combo default chess var chess var crazyhouse | print uciok; setoption: echo; ucinewgame: echo")
	cfg.Stderr = &stderr
	cfg.Options = map[string]string{"threads": "1"}
	c := start(t, cfg)
	for range 2 {
		if err := c.NewGame(); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	const threads = "setoption name Threads value 1\n"
	want := "setoption name UCI_Variant value crazyhouse\n" + threads + threads + "ucinewgame\n" + threads + "ucinewgame\n"
	if stderr.String() != want {
		t.Errorf("commands:\n%s\nexpected:\n%s", stderr.String(), want)
	}
}

// TestClientContext: the end of the context stops the search, which still
// answers, and leaves the engine usable.
func TestClientContext(t *testing.T) {
	leak.Check(t)
	c := start(t, mockConfig(untilStop))
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
	cfg := mockConfig(untilStop)
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
		checkFault(t, err, game.TimeForfeit)
		if !errors.Is(err, engine.ErrTimeout) || took < 200*time.Millisecond || took > 5*time.Second {
			t.Errorf("limits %+v: %v after %v", lim, err, took)
		}
	}
}

func TestClientDropsNoise(t *testing.T) {
	noise := strings.Repeat("print info string 7 | print noise \x01 7 | print info depth zebra score cp 9z pv | print | ", 300)
	for _, script := range []string{"go: " + noise + "obey", "go: obey | obey"} {
		c := start(t, mockConfig(script))
		line := startLine()
		for range 4 { // a second bestmove must not answer the next search
			r, err := c.Search(t.Context(), line, depthOne)
			if err != nil {
				t.Fatalf("%.20s: %v", script, err)
			}
			line.Push(r.Move)
		}
	}
}

func TestClientKillsWhatDoesNotQuit(t *testing.T) {
	leak.Check(t)
	cfg := mockConfig("quit: hang")
	cfg.QuitGrace = 50 * time.Millisecond
	c := start(t, cfg)
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
}

func TestClientNoLegalMoves(t *testing.T) {
	c := start(t, mockConfig(""))
	mated, err := chess.ParseFEN(chess.Crazyhouse, "7k/6Q1/6K1/8/8/8/8/8[] b - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), chess.NewLine(mated), depthOne); !errors.Is(err, search.ErrNoLegalMoves) {
		t.Errorf("error %v", err)
	}
}

// TestClientReadsUpperCasePromotions: engines write the letter of a promotion in either case.
func TestClientReadsUpperCasePromotions(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "8/P6k/8/8/8/8/8/K7[] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, mockConfig("go: print info depth 1 score cp 900 pv a7a8Q h7g7 | print bestmove a7a8Q"))
	r, err := c.Search(t.Context(), chess.NewLine(p), depthOne)
	if err != nil || p.UCI(r.Move) != "a7a8q" || len(r.PV) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestClientNeedsChess960(t *testing.T) {
	c := start(t, mockConfig(""))
	p, err := chess.ParseFEN960(chess.Crazyhouse, "1r2k1r1/8/8/8/8/8/8/1R2K1R1[] w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Search(t.Context(), chess.NewLine(p), depthOne); !errors.Is(err, engine.ErrVariant) {
		t.Errorf("error %v", err)
	}
}
