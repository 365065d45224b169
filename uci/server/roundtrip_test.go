package server

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// serveFlag makes the test binary the engine of this package.
const serveFlag = "-uci-serve"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveFlag {
		if Serve(context.Background(), os.Stdin, os.Stdout, Options{Version: "test"}) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start starts this package's own engine, with times long enough for a busy machine.
func start(t *testing.T, cfg engine.Config) *uci.Client {
	t.Helper()
	c, err := uci.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func engineConfig() engine.Config {
	const patience = 10 * time.Second
	return engine.Config{
		Command: os.Args[0], Args: []string{serveFlag}, StartTimeout: patience, ReadyTimeout: patience,
		SearchTimeout: patience, MoveMargin: patience, QuitGrace: patience,
	}
}

// playOut plays a game between two clients from start until it is over or has
// maxPlies moves, and returns its length.
func playOut(t *testing.T, players [2]*uci.Client, start chess.Position, lim search.Limits, maxPlies int) int {
	t.Helper()
	for _, p := range players {
		if err := p.NewGame(); err != nil {
			t.Fatal(err)
		}
	}
	line := chess.NewLine(start)
	for line.Len() < maxPlies {
		if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
			break
		}
		r, err := players[line.Pos().SideToMove()].Search(t.Context(), line, lim)
		if err != nil {
			t.Fatalf("ply %d: %v", line.Len(), err)
		}
		if len(r.PV) == 0 || r.PV[0] != r.Move || lim.Nodes > 0 && r.Nodes == 0 {
			t.Fatalf("ply %d: result %+v", line.Len(), r)
		}
		line.Push(r.Move)
	}
	return line.Len()
}

// TestRoundTrip lets the client drive the server through whole games.
func TestRoundTrip(t *testing.T) {
	for _, test := range []struct {
		name     string
		variant  *chess.Variant
		chess960 bool
		fen      string
	}{
		{"crazyhouse", chess.Crazyhouse, false, chess.Crazyhouse.StartFEN},
		{"chess", chess.Chess, false, chess.Chess.StartFEN},
		{"crazyhouse960", chess.Crazyhouse, true, "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB[] w KQkq - 0 1"},
		{"black to move", chess.Crazyhouse, false, "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[BBPPbbpp] b KQkq - 3 11"},
	} {
		t.Run(test.name, func(t *testing.T) {
			leak.Check(t)
			cfg := engineConfig()
			cfg.Variant, cfg.Chess960 = test.variant, test.chess960
			cfg.Options = map[string]string{"Hash": "2", "Threads": "1"}
			players := [2]*uci.Client{start(t, cfg), start(t, cfg)}
			if players[0].Name() != "selfplay test" {
				t.Errorf("name %q", players[0].Name())
			}
			p, err := parseFor(test.variant, test.chess960, test.fen)
			if err != nil {
				t.Fatal(err)
			}
			if n := playOut(t, players, p, search.Limits{Nodes: 300}, 300); n < 10 {
				t.Errorf("the game ended after %d plies", n)
			}
			clock := 300 * time.Millisecond
			playOut(t, players, p, search.Limits{Time: [2]time.Duration{clock, clock}}, 12)
			playOut(t, players, p, search.Limits{MoveTime: 5 * time.Millisecond, MultiPV: 3}, 6)
			for _, c := range players {
				c.Close()
			}
		})
	}
}

func parseFor(v *chess.Variant, chess960 bool, fen string) (chess.Position, error) {
	if chess960 {
		return chess.ParseFEN960(v, fen)
	}
	return chess.ParseFEN(v, fen)
}

// TestRoundTripIsDeterministic: the same game twice, move by move.
func TestRoundTripIsDeterministic(t *testing.T) {
	c := start(t, engineConfig())
	var first []chess.Move
	for round := range 2 {
		if err := c.NewGame(); err != nil {
			t.Fatal(err)
		}
		line := chess.NewLine(chess.Crazyhouse.Start())
		for line.Len() < 30 {
			r, err := c.Search(t.Context(), line, search.Limits{Nodes: 500})
			if err != nil {
				t.Fatal(err)
			}
			line.Push(r.Move)
			if round == 0 {
				first = append(first, r.Move)
			} else if first[line.Len()-1] != r.Move {
				t.Fatalf("ply %d differs between two equal games", line.Len())
			}
		}
	}
}
