package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestWrongUse(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bench", "--depth", "0"}, 2, "found --depth 0, expected 1 to 127"},
		{[]string{"bench", "--depth", "128"}, 2, "found --depth 128"},
		{[]string{"eval", "--net", path, "--variant", "chess"}, 1, `found one for "crazyhouse", expected one for "chess"; --variant`},
		{[]string{"eval", "--net", filepath.Dir(path)}, 1, "found a directory without nets"},
	} {
		out, stderr, code := selfplayCommand(t, "", tc.args...)
		if code != tc.code || out != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q, output %q; expected exit %d and %q", tc.args, code, stderr, out, tc.code, tc.want)
		}
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFailedWritesAreReported(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	for _, args := range [][]string{
		{"perft", "--depth", "2"},
		{"perft", "--depth", "2", "--divide"},
		{"perft", "--file", "-"},
		{"eval", "--net", path},
		{"bench", "--depth", "1"},
		{"bench", "perft", "--depth", "2", "--rounds", "1"},
		{"net", "inspect", path},
		{"config", "show"},
	} {
		var stderr strings.Builder
		code := cli.Run(newRoot(), args, strings.NewReader("nonsense\n"), fullDisk{}, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit %d, error %q", args, code, stderr.String())
		}
	}
}

func TestEveryCommandHasHelpWithExample(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		for _, leaf := range append(c.Commands(), c) {
			if leaf.HasSubCommands() && leaf.Example == "" {
				continue // a group
			}
			if leaf.Short == "" || !strings.Contains(leaf.Example, "selfplay") {
				t.Errorf("%s: help lacks a short text or an example", leaf.CommandPath())
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"perft", "extra"}, []string{"found 1 arguments, expected 0"}},
		{[]string{"perft", "--dpeth", "3"}, []string{"unknown flag: --dpeth"}},
		{[]string{"perft", "--variant", "shogi"}, []string{"shogi"}},
		{[]string{"perft", "--divide", "--file", "-"}, []string{"--divide", "--file"}},
		{[]string{"mtach", "a", "b"}, []string{`unknown command "mtach"`, "did you mean match?"}},
		{[]string{"net", "improt", "a"}, []string{`unknown command "improt" for "selfplay net"`, "import"}},
		{[]string{"replay", "audit", "--ids", "--json", "."}, []string{"--ids", "--json"}},
		{[]string{"config", "check", "--variant", "shogi"}, []string{"variant: found shogi"}},
		{[]string{"--variant", "shogi"}, []string{"variant: found shogi"}},
		{[]string{"config", "check", "--set", "actor.workers=0"}, []string{"actor.workers: found 0"}},
		{[]string{"config", "check", "--set", "actor.workers=2.7"}, []string{"actor.workers: found 2.7"}},
		{[]string{"--preset", "desktop"}, []string{`found "desktop"`, "laptop"}},
		{[]string{"config", "show", "--set", "train.lrr=1"}, []string{`"train.lrr"`, `"train.lr"`}},
		{[]string{"match", "material", "material", "--games", "3"}, []string{"found 3", "even"}},
		{[]string{"match", "a", "b", "--opening-max", "2"}, []string{"--opening-max", "--book none"}},
		{[]string{"match", "a", "b", "--book", "none", "--book-plies", "2"}, []string{"--book-plies", "a --book"}},
		{[]string{"match", "a", "b", "--book-plies", "2"}, []string{"--book-plies", "a --book of PGN"}},
		{[]string{"match", "material", "material", "--draw-score", "50"}, []string{"--draw-score", "--draw-plies"}},
		{[]string{"match", "material", "material", "--resign-moves", "1"}, []string{"--resign-moves", "--resign-score"}},
		{[]string{"match", "material", "material", "--win-score", "0", "--play-out", "0.5"}, []string{"--play-out", "--win-score"}},
		{[]string{"play", "material", "--save", "/"}, []string{"--save", "found the directory /, expected a file"}},
		{[]string{"restore", "a", "b", "--run", "c"}, []string{"--run", "--nats"}},
		{[]string{"net", "inspect", "builtin", "--count", "5"}, []string{"--count", "--positions or --replay"}},
		{[]string{"puzzles", "run", "material", "--time", "0"}, []string{"--time 0s", "above 0"}},
		{[]string{"match", "a", "b", "--elo1", "5"}, []string{"--elo1", "--sprt"}},
		{[]string{"match", "a", "b", "c", "--seeds", "2"}, []string{"--seeds", "gauntlet"}},
		{[]string{"match", "a", "b", "--eval"}, []string{"--eval", "--pgn"}},
		{[]string{"tune", "builtin", "aspiration", "--games", "2", "--opening-min", "3"}, []string{"--opening-min", "--book none"}},
		{[]string{"eval", "--fen", "x", "--file", "-"}, []string{"--fen", "--file"}},
		{[]string{"perft", "--fen", "x", "--file", "-"}, []string{"--fen", "--file"}},
		{[]string{"perft", "--depth", "3", "--file", "-"}, []string{"--depth", "--file"}},
		{[]string{"init", "clutser", "x"}, []string{`unknown command "clutser"`, "cluster"}},
		{[]string{"bench", "features"}, []string{"found 0 arguments"}},
		{[]string{"eval", "--variant", "chess"}, []string{"found no net for chess"}},
	} {
		_, stderr, code := selfplayCommand(t, "", tc.args...)
		if code != 2 {
			t.Errorf("%q: exit code %d, want 2", tc.args, code)
		}
		for _, w := range tc.want {
			if !strings.Contains(stderr, w) {
				t.Errorf("%q: error %q lacks %q", tc.args, stderr, w)
			}
		}
	}
}

// selfplayCommand runs the command line and returns what it printed.
func selfplayCommand(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(newRoot(), args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
}
