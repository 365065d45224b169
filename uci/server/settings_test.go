package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
)

func TestServeOptions(t *testing.T) {
	s := newSession(t, Options{})
	s.answer()
	if got := s.answer(
		"setoption name Hash value 2", "setoption name hash value 3", "setoption name Threads value 2", "setoption name Clear Hash",
		"setoption name Ponder value true", "setoption name MultiPV value 2", "setoption name Move Overhead value 5",
		"setoption name EvalFile value", "setoption name EvalFile value <empty>", "setoption name UCI_Chess960 value true",
		"setoption name UCI_Chess960 value false", "setoption name UCI_Variant value crazyhouse",
	); len(got) != 0 {
		t.Errorf("answers %q", got)
	}
	s.best("go depth 4")
	s.best("setoption name Hash value 1", "ucinewgame", "setoption name Clear Hash", "go depth 4")
	for command, complaint := range map[string]string{
		"setoption":                               `found "", expected name`,
		"setoption value 3":                       `found "value 3", expected name`,
		"setoption name Tempo value 3":            `found "Tempo", expected one of Hash, Threads`,
		"setoption name Hash value big":           `option Hash: found "big", expected a whole number from 1 to 64`,
		"setoption name Hash value 65":            `option Hash: found "65", expected a whole number from 1 to 64`,
		"setoption name Hash":                     `option Hash: found ""`,
		"setoption name Threads value 0":          `expected a whole number from 1 to 512`,
		"setoption name MultiPV value 257":        `expected a whole number from 1 to 256`,
		"setoption name Move Overhead value -1":   `expected a whole number from 0 to 10000`,
		"setoption name Ponder value yes":         `found "yes", expected true or false`,
		"setoption name UCI_Chess960 value 1":     `expected true or false`,
		"setoption name UCI_Variant value atomic": `option UCI_Variant: `,
	} {
		if got := s.answer(command); len(got) != 1 || !strings.HasPrefix(got[0], "info string ") || !strings.Contains(got[0], complaint) {
			t.Errorf("%s: found %q, expected a complaint with %q", command, got, complaint)
		}
	}
	s.best("go depth 2")
	for path, complaint := range map[string]string{"/no/such file": "/no/such file", "/": "directory without nets"} {
		got := s.answer("setoption name EvalFile value " + path) // at once and at isready
		if len(got) != 2 || !strings.Contains(got[0], "option EvalFile: ") || !strings.Contains(got[1], "no net: EvalFile: ") ||
			!strings.Contains(got[0], complaint) || !strings.Contains(got[1], complaint) {
			t.Errorf("EvalFile %s: found %q, expected complaints with %q", path, got, complaint)
		}
	}
}

func TestServeVariants(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("position startpos moves e2e4 d7d5 e4d5")
	if fen := s.fen(); !strings.Contains(fen, "[P]") {
		t.Errorf("crazyhouse: %s", fen)
	}
	s.answer("setoption name UCI_Variant value chess")
	if fen := s.fen(); fen != chess.Chess.StartFEN {
		t.Errorf("after the change of variant: %s", fen)
	}
	s.answer("position startpos moves e2e4 d7d5 e4d5")
	if fen := s.fen(); strings.Contains(fen, "[") {
		t.Errorf("chess: %s", fen)
	}
	if got := s.best("go depth 3"); strings.Contains(got, "@") {
		t.Errorf("chess: %s", got)
	}
}

func TestServeChess960(t *testing.T) {
	s := newSession(t, Options{})
	s.answer("position fen 4k3/8/8/8/8/8/8/4K2R[] w K - 0 1")
	if got := s.best("go depth 1 searchmoves e1g1"); !strings.HasPrefix(got, "bestmove e1g1") {
		t.Errorf("castling: %s", got)
	}
	s.answer("setoption name UCI_Chess960 value true") // also changes the notation of the position at hand
	if got := s.best("go depth 1 searchmoves e1h1"); !strings.HasPrefix(got, "bestmove e1h1") {
		t.Errorf("castling: %s", got)
	}
	s.send("go depth 2 searchmoves e1h1")
	if all := s.until("bestmove"); !strings.Contains(all[len(all)-2], " pv e1h1 ") {
		t.Errorf("principal variation: %q", all)
	}
	s.answer("position fen 1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1[] w KQkq - 0 1 moves e1b1")
	if fen := s.fen(); fen != "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/2KR2R1[] b gb - 1 1" {
		t.Errorf("after castling: %s", fen)
	}
	if got := s.best("go depth 1 searchmoves e8g8"); !strings.HasPrefix(got, "bestmove e8g8") {
		t.Errorf("castling: %s", got)
	}
}

// writeNet writes a crazyhouse net that always sees the side to move a pawn ahead
// and returns its path.
func writeNet(t *testing.T, name string) string {
	t.Helper()
	n, err := nnue.New(nnue.Narrow(16))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n.Stacks {
		n.Stacks[i].OutBias = 16 * 208
	}
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServeEvalFile(t *testing.T) {
	path := writeNet(t, "a  net.nnue") // two spaces
	s := newSession(t, Options{})
	if got := s.answer("setoption name EvalFile value " + path); len(got) != 0 {
		t.Errorf("loading: %q", got)
	}
	eval := func() string { return strings.Join(s.answer("eval"), "\n") }
	if got := eval(); !strings.Contains(got, "a  net.nnue") || !strings.Contains(got, "\nraw 208\n") || !strings.HasSuffix(got, "\ncentipawns 100") {
		t.Errorf("eval: %s", got)
	}
	s.best("go depth 3")

	broken := filepath.Join(t.TempDir(), "broken.nnue")
	if err := os.WriteFile(broken, []byte("not a net"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := s.answer("setoption name EvalFile value " + broken)
	if len(got) != 2 || !strings.Contains(got[0], "option EvalFile: ") || !strings.Contains(got[1], "info string no net: EvalFile: ") {
		t.Errorf("broken net: %q", got)
	}
	if got := s.answer("eval"); !strings.Contains(got[0], "info string no net: ") {
		t.Errorf("eval after a broken net: %s", got)
	}
	s.send("go depth 3")
	if got := s.until("bestmove"); len(got) != 2 || !strings.Contains(got[0], "info string no move: no net: EvalFile: ") || got[1] != "bestmove 0000" {
		t.Errorf("go after a broken net: %q", got)
	}

	// A net for another variant is an error, whichever is set first, until that variant is set.
	s.answer("setoption name UCI_Variant value chess", "setoption name EvalFile value "+path)
	if got := s.best("go depth 1"); got != "bestmove 0000" {
		t.Errorf("crazyhouse net for chess: %s", got)
	}
	s.answer("setoption name UCI_Variant value crazyhouse")
	if got := eval(); !strings.HasSuffix(got, "centipawns 100") {
		t.Errorf("eval after the change of variant: %s", got)
	}
	netFirst := s.answer("setoption name UCI_Variant value chess")
	variantFirst := s.answer("setoption name EvalFile value " + path)
	if len(netFirst) != 1 || !strings.Contains(netFirst[0], "no net: EvalFile: ") || netFirst[0] != variantFirst[len(variantFirst)-1] {
		t.Errorf("isready after a crazyhouse net and chess: %q, after chess and the net: %q", netFirst, variantFirst)
	}
	for range 2 { // the second time the net is read in crazyhouse
		s.send("go depth 3")
		if got := s.until("bestmove"); len(got) != 2 || !strings.Contains(got[0], "no move: no net: EvalFile: ") || got[1] != "bestmove 0000" {
			t.Errorf("net in another variant: %q", got)
		}
		if got := s.answer("eval"); !strings.Contains(got[0], "no net: EvalFile: ") {
			t.Errorf("eval in another variant: %q", got)
		}
		s.answer("setoption name UCI_Variant value crazyhouse", "setoption name UCI_Variant value chess")
	}
	s.answer("setoption name UCI_Variant value crazyhouse", "setoption name EvalFile value <empty>")
	if got := eval(); !strings.HasPrefix(got, "evaluation by material") {
		t.Errorf("eval: %s", got)
	}
}

func TestServeStartsWithANet(t *testing.T) {
	path := writeNet(t, "start.nnue")
	s := newSession(t, Options{Player: player.Spec{Net: path}})
	s.send("uci")
	if all := strings.Join(s.until("uciok"), "\n"); !strings.Contains(all, "default "+path+"\n") {
		t.Errorf("options: %s", all)
	}
	other := newSession(t, Options{Variant: chess.Chess, Player: player.Spec{Net: path}}) // whose variant comes later
	if got := other.answer(); len(got) != 1 || !strings.Contains(got[0], "info string no net: EvalFile: ") {
		t.Errorf("net for another variant: %q", got)
	}
	if got := other.best("go depth 1"); got != "bestmove 0000" {
		t.Errorf("net for another variant: %s", got)
	}
	other.send("setoption name UCI_Variant value crazyhouse", "go depth 1")
	if got := other.until("bestmove"); !strings.HasPrefix(got[0], "info string evaluation: start.nnue") {
		t.Errorf("net of the variant that was set: %q", got)
	}
	net, err := nnue.ReadFile(path, chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	built := newSession(t, Options{Net: &player.Net{NNUE: net}})
	// Nobody has asked for the built-in net, so that it gives way to material.
	for _, tc := range []struct{ variant, evaluation string }{
		{"crazyhouse", "built-in net"}, {"chess", "material, as the net is for crazyhouse and not for chess"},
	} {
		built.send("setoption name UCI_Variant value "+tc.variant, "go depth 1")
		if got := built.until("bestmove"); got[0] != "info string evaluation: "+tc.evaluation || got[len(got)-1] == "bestmove 0000" {
			t.Errorf("built-in net, %s: %q", tc.variant, got)
		}
	}
	if err := Serve(t.Context(), strings.NewReader(""), io.Discard, Options{Player: player.Spec{Net: path + "x"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing net: %v", err)
	}
}
