package uci

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
)

// TestForeignNet plays with a net that PyTorch exported without names or metadata,
// with a flat policy.
func TestForeignNet(t *testing.T) {
	const net = "../../../planes/planestest/testdata/foreign/risev1-dynamo-18-unnamed.onnx"
	out, stderr, code := selfplayCommand(t, "eval\ngo nodes 20\n", "uci", "--search", "mcts", "--eval-file", net)
	if code != 0 || !strings.Contains(out, "evaluation by risev1") || !strings.Contains(out, "bestmove ") {
		t.Errorf("code %d\n%s\n%s", code, out, stderr)
	}
}

// TestRuntimes plays with the reference, and asks for what is not in every build.
func TestRuntimes(t *testing.T) {
	net := clitest.PlanesFile(t, chess.Crazyhouse)
	out, stderr, code := selfplayCommand(t, "eval\ngo nodes 3\n", "uci", "--search", "mcts", "--eval-file", net, "--runtime", "onnxgo")
	if code != 0 || !strings.Contains(out, "evaluation by crazyhouse.onnx") || !strings.Contains(out, "bestmove ") {
		t.Errorf("onnxgo: code %d\n%s\n%s", code, out, stderr)
	}
	if ort.Built {
		return // needs a library
	}
	_, stderr, code = selfplayCommand(t, "eval\n", "uci", "--search", "mcts", "--eval-file", net, "--library", "x.so")
	if code != 2 || !strings.Contains(stderr, "found --library without --runtime ort") {
		t.Errorf("--library: code %d\n%s", code, stderr)
	}
	_, stderr, code = selfplayCommand(t, "eval\n", "uci", "--search", "mcts", "--eval-file", net, "--runtime", "ort")
	if code != 2 || !strings.Contains(stderr, "-tags ort") {
		t.Errorf("ort: code %d\n%s", code, stderr)
	}
}

// TestNetOfAnotherVariant: a net to begin with may be for a variant that is set later;
// until then it is an error of every search.
func TestNetOfAnotherVariant(t *testing.T) {
	net := clitest.PlanesFile(t, chess.Chess)
	for _, tc := range []struct {
		command, stdin string
		want           []string // in this order
	}{
		{"uci", "isready\ngo nodes 3\nsetoption name UCI_Variant value chess\ngo nodes 3\n",
			[]string{"no net: EvalFile: ", "readyok\n", "no move: no net: ", "bestmove 0000\n", "evaluation: chess.onnx", "bestmove "}},
		{"xboard", "xboard\nnps 3\nst 1\ngo\n", []string{"evaluation: chess.onnx", "move "}},
		{"xboard", "xboard\nvariant crazyhouse\nvariant normal\nnps 3\nst 1\ngo\n", []string{"evaluation: chess.onnx", "move "}},
	} {
		out, stderr, code := selfplayCommand(t, tc.stdin, tc.command, "--search", "mcts", "--eval-file", net)
		rest, ok := out, true
		for _, want := range tc.want {
			if _, after, found := strings.Cut(rest, want); found {
				rest = after
			} else {
				ok = false
			}
		}
		if code != 0 || !ok {
			t.Errorf("%s: code %d, expected %q in\n%s\n%s", tc.command, code, tc.want, out, stderr)
		}
	}
}

func TestTreeServer(t *testing.T) {
	net := clitest.PlanesFile(t, chess.Crazyhouse)
	commands := "position startpos\neval\ngo nodes 50\n"
	out, stderr, code := selfplayCommand(t, commands, "uci", "--search", "mcts", "--eval-file", net)
	if code != 0 || !strings.Contains(out, "evaluation by crazyhouse.onnx") || !strings.Contains(out, "bestmove ") {
		t.Errorf("code %d\n%s\n%s", code, out, stderr)
	}
	commands = "uci\nsetoption name Runtime value int8\neval\nsetoption name Runtime value none\nsetoption name Runtime value native\neval\n"
	out, stderr, code = selfplayCommand(t, commands, "uci", "--search", "mcts", "--eval-file", net)
	for _, want := range []string{
		"type combo default native var native var int8", "evaluation by crazyhouse.onnx by int8", "evaluation by crazyhouse.onnx,",
		`option Runtime: unknown runtime: found "none"`,
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, expected %q in\n%s\n%s", code, want, out, stderr)
		}
	}
	for _, args := range [][]string{
		{"uci", "--search", "dfs"},
		{"uci", "--search", "mcts", "--runtime", "none"},
		{"uci", "--runtime", "int8"},
		{"xboard", "--library", "x"},
		{"uci", "--search", "mcts", "--eval-file", "none.onnx"},
	} {
		if _, stderr, code := selfplayCommand(t, commands, args...); code == 0 || stderr == "" {
			t.Errorf("%v: code %d, %q", args, code, stderr)
		}
	}
}
