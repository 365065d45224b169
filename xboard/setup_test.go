package xboard

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/search"
)

// syncBuffer is a text that two goroutines use.
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

// echo is a script that shows the commands named.
func echo(words ...string) string {
	return strings.Join(words, ": echo | obey; ") + ": echo | obey"
}

// TestClientCommands: what the engine is sent for four searches of two games.
func TestClientCommands(t *testing.T) {
	var said syncBuffer
	cfg := mockConfig(echo("xboard", "protover", "accepted", "rejected", "option", "memory", "new", "variant", "easy", "post", "force",
		"usermove", "level", "st", "sd", "nps", "time", "otim", "go", "setboard", "result"))
	cfg.Stderr = &said
	cfg.Options = map[string]string{"skill level": "7", "MEMORY": "64", "learn - not": "true", "clear": ""}
	c := start(t, cfg)
	line := startLine()
	clock := search.Limits{Time: [2]time.Duration{90 * time.Second, 61 * time.Second}, Inc: [2]time.Duration{100 * time.Millisecond, 0}}
	play := func(lim search.Limits) {
		t.Helper()
		r, err := c.Search(t.Context(), line, lim)
		if err != nil {
			t.Fatal(err)
		}
		line.Push(r.Move)
	}
	play(clock)
	first := line.Pos().FEN()
	m, err := line.Pos().ParseUCI("g8f6")
	if err != nil {
		t.Fatal(first, err)
	}
	line.Push(m)
	play(clock)
	play(search.Limits{Time: [2]time.Duration{0, 90 * time.Second}}) // the other has no clock
	if err := c.NewGame(); err != nil {
		t.Fatal(err)
	}
	line = startLine()
	play(search.Limits{Nodes: 500, Depth: 3})
	c.Close()
	const begin = "new\nvariant crazyhouse\neasy\npost\nforce\n"
	want := "xboard\nprotover 2\naccepted ping\naccepted setboard\naccepted usermove\naccepted colors\naccepted sigint\naccepted myname\n" +
		"accepted variants\naccepted memory\naccepted nps\nrejected shiny\naccepted option\naccepted option\naccepted option\naccepted done\n" +
		"memory 64\noption Clear\noption Learn - not=1\noption Skill Level=7\n" + begin +
		"force\nlevel 0 1:30 0.1\ntime 9000\notim 6100\ngo\n" +
		"force\nusermove g8f6\ntime 9000\notim 6100\ngo\n" +
		"force\nlevel 0 1:30 0\ntime 9000\notim 9000\ngo\n" +
		"result * {none}\n" + begin + "force\nnps 500\nst 1\nsd 3\ntime 10000\notim 10000\ngo\n"
	if said.String() != want {
		t.Errorf("commands:\n%s\nexpected:\n%s", said.String(), want)
	}
}

// TestClientLateResult: what an engine says of a game that is over is not taken for an
// answer in the next, whether it knows ping or not.
func TestClientLateResult(t *testing.T) {
	for _, script := range []string{"", "protover: print feature usermove=1 setboard=1 done=1; ping: exit 3; "} {
		c := start(t, mockConfig(script+"result: print 1-0 {White mates}"))
		for range 3 {
			if err := c.NewGame(); err != nil {
				t.Fatal(err)
			}
			line := startLine()
			for range 2 {
				r, err := c.Search(t.Context(), line, depthOne)
				if err != nil {
					t.Fatal(err)
				}
				line.Push(r.Move)
			}
		}
	}
}

func parse(t *testing.T, fen string) chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestClientPositions: each way in which an engine can be told a position, and none.
func TestClientPositions(t *testing.T) {
	const (
		hands    = "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[BBPbpp] b KQkq - 3 11"
		noHands  = "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[] b KQkq - 3 11"
		promoted = "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ~1PPP/R3K2R[Pp] b KQkq - 3 11"
		pingless = "protover: print feature setboard=1 done=1; ping: exit 3; "
		blind    = "setboard#1: print | obey; P@e4#1: print Illegal move: P@e4; usermove#1: print Illegal move (no such piece): P@e4; "
	)
	for name, test := range map[string]struct {
		script, fen, text string // what must have been sent, or must be said by the error
		want              error
	}{
		"hands in brackets":    {"", hands, "setboard r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[BBPbpp] b KQkq - 3 11", nil},
		"promoted":             {"", promoted, "PPPQ~1PPP/R3K2R[Pp] b KQkq - 3 11", nil},
		"without hands":        {"", noHands, "setboard r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R b KQkq - 3 11", nil},
		"holding":              {blind, hands, "holding [BBP] [BPP]", nil},
		"holding and promoted": {blind, promoted, "promoted pawn", ErrPosition},
		"neither":              {"usermove: print Illegal move: P@e4", hands, "neither in setboard nor by holding", ErrPosition},
		"no setboard":          {"protover: print feature ping=1 usermove=1 done=1", noHands, "found no feature setboard=1", ErrPosition},
		"refuses it":           {"setboard: print tellusererror Illegal position", noHands, `it answered "tellusererror`, ErrPosition},
		"without ping":         {pingless, hands, "[BBPbpp] b KQkq - 3 11", nil},
		"answers nothing":      {pingless + "a1a1: print", hands, "found no answer within 1s", ErrPosition},
		"holding without ping": {pingless + blind, hands, "holding [BBP] [BPP]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said syncBuffer
			script := test.script
			if !strings.Contains(script, "setboard: print") {
				script += "; " + echo("setboard", "holding", "force")
			}
			cfg := mockConfig(script)
			cfg.Stderr = &said
			c := start(t, cfg)
			line := chess.NewLine(parse(t, test.fen))
			for range 3 {
				r, err := c.Search(t.Context(), line, depthOne)
				if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.text) {
					t.Fatalf("error %v, expected %v", err, test.want)
				}
				if err != nil {
					break
				}
				line.Push(r.Move)
			}
			c.Close()
			if test.want == nil && !strings.Contains(said.String(), test.text+"\nforce\n") {
				t.Errorf("sent\n%s\nexpected %q and force", said.String(), test.text)
			}
		})
	}
}

// TestClientStartedAgain: an engine that plays one game only is started again after one that
// it gave up, and after it was probed.
func TestClientStartedAgain(t *testing.T) {
	const features = "protover: print feature ping=1 usermove=1 setboard=1 reuse=0 done=1; "
	c := start(t, mockConfig(features+"go: print resign; new#2: exit 3"))
	if _, err := c.Search(t.Context(), startLine(), depthOne); !errors.Is(err, game.ErrResigned) {
		t.Fatalf("found error %v, expected a resignation", err)
	}
	if err := c.NewGame(); err != nil {
		t.Errorf("after a resignation: %v", err)
	}
	hands := parse(t, "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[BBPbpp] b KQkq - 3 11")
	c = start(t, mockConfig(features+"new#3: exit 3")) // the probe is a game after the first
	if _, err := c.Search(t.Context(), chess.NewLine(hands), depthOne); err != nil {
		t.Errorf("after a probe: %v", err)
	}
	c = start(t, mockConfig(features+"new#3: exit 3; usermove: print Illegal move: P@e4"))
	if _, err := c.Search(t.Context(), chess.NewLine(hands), depthOne); !errors.Is(err, ErrNoHands) {
		t.Errorf("after two probes: error %v, expected %v", err, ErrNoHands)
	}
}

// TestClientDialects: engines that want their moves otherwise, or their games, play
// a game like any other.
func TestClientDialects(t *testing.T) {
	for _, features := range []string{"san=1 ping=1 usermove=1", "ping=1", "san=1", "ping=1 time=0 usermove=1", "ping=1 reuse=0 myname=\"X\"", "done=0 ping=1"} {
		t.Run(features, func(t *testing.T) {
			t.Parallel()
			script := "protover: print feature " + features + " | print feature done=1"
			if strings.Contains(features, "reuse=0") {
				script += "; new#3: exit 3" // the first two come before a move
			}
			c := start(t, mockConfig(script))
			for range 2 {
				if err := c.NewGame(); err != nil {
					t.Fatal(err)
				}
				line := startLine()
				for range 40 {
					if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
						break
					}
					r, err := c.Search(t.Context(), line, depthOne)
					if err != nil {
						t.Fatal(err)
					}
					line.Push(r.Move)
					if replies := (chess.MoveList{}); line.Pos().HasLegalMove() {
						line.Pos().Legal(&replies)
						line.Push(replies.Moves[line.Len()%replies.N])
					}
				}
			}
		})
	}
}

// TestClientWithoutDone: an engine that never says done=1 is awaited for a while only.
func TestClientWithoutDone(t *testing.T) {
	t.Parallel()
	c := start(t, mockConfig("protover: print feature ping=1"))
	if _, err := c.Search(t.Context(), startLine(), depthOne); err != nil {
		t.Error(err)
	}
}

// TestClientRefusedMove: an engine that thinks a legal move illegal cannot go on.
func TestClientRefusedMove(t *testing.T) {
	for _, features := range []string{"ping=1 usermove=1 setboard=1", "usermove=1"} {
		c := start(t, mockConfig("protover: print feature "+features+" done=1; usermove: print Illegal move: e2e4"))
		line := startLine()
		m, err := line.Pos().ParseUCI("e2e4")
		if err != nil {
			t.Fatal(err)
		}
		line.Push(m)
		if _, err := c.Search(t.Context(), line, depthOne); !errors.Is(err, engine.ErrProtocol) || !strings.Contains(err.Error(), `refuses what is legal: "Illegal move: e2e4"`) {
			t.Errorf("%s: error %v", features, err)
		}
	}
}

// TestClientForgetsDepth: what sd has said is unsaid by another process only.
func TestClientForgetsDepth(t *testing.T) {
	var said syncBuffer
	cfg := mockConfig(echo("protover", "sd"))
	cfg.Stderr = &said
	c := start(t, cfg)
	for _, lim := range []search.Limits{{Depth: 3}, {Depth: 4}, {MoveTime: time.Second}} {
		if _, err := c.Search(t.Context(), startLine(), lim); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	if want := "protover 2\nsd 3\nsd 4\nprotover 2\n"; said.String() != want {
		t.Errorf("commands %q, expected %q", said.String(), want)
	}
}
