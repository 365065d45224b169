package match

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
)

// TestCannotBegin: a player that lacks a way to be given an opening ends the match, which
// is no pair that it has lost. One that cannot be given a single odd position loses its games.
func TestCannotBegin(t *testing.T) {
	const (
		shuffled = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1[] w KQkq - 0 1"
		hands    = "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ1PPP/R3K2R[Pp] w KQkq - 0 11"
		promoted = "r3k2r/pppq1ppp/2n2n2/8/8/2N2N2/PPPQ~1PPP/R3K2R[Pp] w KQkq - 0 11"
		holding  = "setboard#1: print | obey; P@e4#1: print Illegal move: P@e4; usermove#1: print Illegal move (no such piece): P@e4"
	)
	for _, test := range []struct {
		name, protocol, script, settings, fen string
		want                                  string // part of the error; "": the pair is played
		lost                                  int    // games of it, by failing
	}{
		{"Chess960", "uci", "", "", shuffled, "needs the option UCI_Chess960=true", 0},
		{"Chess960 as an option", "uci", "", ",uci_chess960=true", shuffled, "", 0},
		{"another game as Chess960", "uci", "", ",UCI_Chess960=true", hands, "", 0},
		{"Chess960 by CECP", "xboard", "", "", shuffled, "(Chess960 true)", 0},
		{"no setboard", "xboard", "protover: print feature ping=1 usermove=1 nps=1 done=1", "", hands, "no feature setboard=1", 0},
		{"no hands", "xboard", "usermove: print Illegal move: P@e4", "", hands, "neither in setboard nor by holding", 0},
		{"hands by holding", "xboard", holding, "", hands, "", 0},
		{"promoted by holding", "xboard", holding, "", promoted, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			start, err := chess.ParseFEN960(chess.Crazyhouse, test.fen)
			if test.fen != shuffled {
				start, err = chess.ParseFEN(chess.Crazyhouse, test.fen)
			}
			if err != nil {
				t.Fatal(err)
			}
			engine := strings.Replace(clitest.MockPlayer(test.script, test.settings), "uci:", test.protocol+":", 1)
			cfg := match.Config{
				Players: contestants(t, engine, "material"), Variant: chess.Crazyhouse, Pairs: 1,
				Openings: match.Openings{ID: "one", Opening: func(int) (game.Opening, error) { return game.Opening{Start: start}, nil }},
				Game:     game.Config{MaxPlies: 16}, Log: filepath.Join(t.TempDir(), "log"),
			}
			_, err = match.Run(t.Context(), cfg)
			pairs := pairsOf(t, cfg.Log)
			if test.want != "" {
				if !errors.Is(err, match.ErrCannotBegin) || !strings.Contains(err.Error(), ": mock: ") || !strings.Contains(err.Error(), test.want) || len(pairs) != 0 {
					t.Errorf("found %d pairs, error %v, expected none and %q", len(pairs), err, test.want)
				}
				return
			}
			if err != nil || len(pairs) != 1 {
				t.Fatalf("found %d pairs, error %v, expected one", len(pairs), err)
			}
			lost := 0
			for _, g := range pairs[0].Games {
				if g.Failed == "A" && strings.Contains(g.Error, "promoted pawn") {
					lost++
				} else if g.Failed != "" {
					t.Errorf("found the failure %s", g.Error)
				}
			}
			if lost != test.lost {
				t.Errorf("found %d games lost for the opening, expected %d", lost, test.lost)
			}
		})
	}
}
