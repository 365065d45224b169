package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

func TestTreeIdentifies(t *testing.T) {
	s := newSession(t, treeServer())
	s.send("uci")
	got := s.until("uciok")
	want := []string{
		"id name selfplay",
		"id author the selfplay authors",
		"",
		"option name Hash type spin default 4 min 1 max 64",
		"option name Threads type spin default 1 min 1 max 512",
		"option name Clear Hash type button",
		"option name Ponder type check default false",
		"option name MultiPV type spin default 1 min 1 max 256",
		"option name Move Overhead type spin default 10 min 0 max 10000",
		"option name EvalFile type string default <empty>",
		"option name UCI_Variant type combo default crazyhouse var chess var crazyhouse",
		"option name UCI_Chess960 type check default false",
		"option name UCI_ShowWDL type check default false",
		"option name UCI_LimitStrength type check default false",
		fmt.Sprintf("option name UCI_Elo type spin default %d min %d max %[1]d", strength.MaxElo(), strength.MinElo()),
		"option name Skill Level type spin default 20 min 0 max 20",
		"option name Skill Seed type spin default 0 min 0 max 1000000000",
		"option name Debug Log File type string default <empty>",
		"option name UCI_EngineAbout type string default selfplay by the selfplay authors, https://github.com/crazyhouse-rl/selfplay",
		"option name Runtime type combo default native var " + strings.Join(runtimes.Names(), " var "),
		"option name Batch Size type spin default 8 min 1 max 1024",
		"option name CPuct type string default 1.75",
		"option name CPuct Base type string default 19652",
		"option name FPU Reduction type string default 0.3",
		"option name Policy Temperature type string default 1",
		"option name Mate Probe type combo default 3 var 0 var 1 var 3",
		"option name Reuse Tree type check default true",
		"option name LCB type string default 5",
		"option name Q Veto type string default 0.4",
		"option name Gumbel Actions type spin default 0 min 0 max 512",
		"uciok",
	}
	if !slices.Equal(got, want) {
		t.Errorf("answer to uci:\n%s\nexpected:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTreeOptions(t *testing.T) {
	s := newSession(t, treeServer())
	for _, c := range []struct{ command, complaint string }{
		{"name CPuct value 3.5", ""},
		{"name cpuct value many", `option CPuct: found "many", expected a decimal number`},
		{"name CPuct value -1", `found "-1", expected 0 to 100`},
		{"name CPuct value NaN", `found "NaN", expected 0 to 100`},
		{"name Mate Probe value 2", `found "2", expected 0, 1 or 3`},
		{"name Mate Probe value 1", ""},
		{"name Batch Size value 0", `found "0", expected a whole number from 1 to 1024`},
		{"name Reuse Tree value maybe", `found "maybe", expected true or false`},
		{"name Gumbel Actions value 8", ""},
		{"name Nodes value 8", "expected one of Hash, Threads,"},
		{"name EvalFile value x.onnx", "option EvalFile: x.onnx: "},
		{"name EvalFile value builtin", "expected a plane net for tree search"},
		{"name EvalFile value", ""},
	} {
		got := slices.DeleteFunc(s.answer("setoption "+c.command), func(l string) bool { return strings.Contains(l, "no net: ") })
		if c.complaint == "" && len(got) != 0 || c.complaint != "" && (len(got) != 1 || !strings.Contains(got[0], c.complaint)) {
			t.Errorf("%s: found %q, expected %q", c.command, got, c.complaint)
		}
	}
	s.best("go nodes 30")
}

// writePlanes writes a plane net and returns its path.
func writePlanes(t *testing.T, name string) string {
	t.Helper()
	b, err := onnx.Encode(archtest.Net(t, "residual 1x8", 1))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTreeLoadsNets: with two threads the net of "eval" has a goroutine, which
// newSession misses if that net is not closed.
func TestTreeLoadsNets(t *testing.T) {
	good, bad := writePlanes(t, "good.onnx"), filepath.Join(t.TempDir(), "bad.onnx")
	if err := os.WriteFile(bad, []byte("no net"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, treeServer())
	s.answer()
	if got := s.answer("setoption name EvalFile value " + bad); len(got) != 2 || !strings.HasPrefix(got[0], "info string option EvalFile: "+bad) {
		t.Errorf("bad net: %q", got)
	}
	s.send("setoption name Threads value 2", "setoption name EvalFile value "+good, "go nodes 20")
	if got := s.until("bestmove"); !regexp.MustCompile(`^info string evaluation: good.onnx \([0-9a-f]{8}\)$`).MatchString(got[0]) {
		t.Errorf("good net: %q", got)
	}
	s.answer("setoption name CPuct value 2") // another engine with the same net
	s.best("go nodes 20")
	if got := s.answer("eval"); len(got) != 23 || got[0] != "evaluation by good.onnx, from the side to move's point of view (white)" {
		t.Errorf("eval: %q", got)
	}
	s.send("setoption name UCI_Variant value chess", "go nodes 20")
	if got := s.until("bestmove"); len(got) != 2 || !strings.Contains(got[0], "no move: no net: EvalFile: ") || got[1] != "bestmove 0000" {
		t.Errorf("other variant: %q", got)
	}
	s.send("setoption name UCI_Variant value crazyhouse", "go infinite")
	s.until("info depth")
	s.send("setoption name EvalFile value <empty>", "quit")
	s.end()
}

// TestTreeRuntime chooses what computes a net, before the net and after it.
func TestTreeRuntime(t *testing.T) {
	path := writePlanes(t, "a.onnx")
	s := newSession(t, treeServer())
	for _, c := range []struct{ command, answer string }{
		{"Runtime value int8", "evaluation: none, all moves are alike"},
		{"EvalFile value " + path, "evaluation: a.onnx by int8"},
		{"Runtime value other", "option Runtime: unknown runtime: found \"other\", expected one of " + strings.Join(runtimes.Names(), ", ")},
		{"Runtime value native", "evaluation: a.onnx"},
		{"EvalFile value <empty>", "evaluation: none, all moves are alike"},
	} {
		s.send("setoption name "+c.command, "go nodes 3")
		if got := s.until("bestmove"); !strings.HasPrefix(got[0], "info string "+c.answer) {
			t.Errorf("%s: found %q, expected %q", c.command, got, c.answer)
		}
	}
}

// TestTreePlaysMate plays what the solver proves.
func TestTreePlaysMate(t *testing.T) {
	s := newSession(t, treeServer())
	if got := s.best("position fen 6k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", "go movetime 5000"); got != "bestmove a1a8" {
		t.Errorf("mate in one: %s", got)
	}
	s.send("position fen 3k1bnr/4pp2/p1p5/4P1Pp/2B1p2R/1bP1K3/rPPB2P1/R3Q3[QNNNPppp] w - h6 0 23", "go nodes 20000")
	all := s.until("bestmove")
	if info := all[len(all)-2]; !strings.Contains(info, " score mate 2 ") {
		t.Errorf("mate in two: %s", info)
	}
}
