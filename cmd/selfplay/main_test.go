package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// selfplayCommand runs the command line and returns what it printed.
func selfplayCommand(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), code
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

func TestPerft(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "perft", "--depth", "3")
	if code != 0 || !strings.Contains(out, "nodes 8902 ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	out, _, code = selfplayCommand(t, "", "perft", "--depth", "2", "--divide", "--fen", "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
	if code != 0 || !strings.Contains(out, "N@e4\t") {
		t.Errorf("divide: exit %d, output %q", code, out)
	}
	_, stderr, code := selfplayCommand(t, "", "perft", "--fen", "4k3/8/8/8/8/8/8/8[N] w - - 0 1")
	if code != 1 || !strings.Contains(stderr, "king") {
		t.Errorf("bad FEN: exit %d, error %q", code, stderr)
	}
}

func TestPerftFile(t *testing.T) {
	start := "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	good := "# comment\n" + start + "\t2\t400\n" + start + "\t3\t8902\n"
	out, _, code := selfplayCommand(t, good, "perft", "--file", "-")
	if code != 0 || !strings.Contains(out, "2 lines, 0 wrong") {
		t.Errorf("exit %d, output %q", code, out)
	}
	bad := good + start + "\t1\t21\nnonsense\t1\t2\n" + start + "\n"
	out, _, code = selfplayCommand(t, bad, "perft", "--file", "-")
	if code != 1 || !strings.Contains(out, "5 lines, 3 wrong") || !strings.Contains(out, "-:4: ") || !strings.Contains(out, "found 20 nodes, expected 21") {
		t.Errorf("exit %d, output %q", code, out)
	}
	if _, stderr, code := selfplayCommand(t, "", "perft", "--file", filepath.Join(t.TempDir(), "none.tsv")); code != 1 || !strings.Contains(stderr, "none.tsv") {
		t.Errorf("missing file: exit %d, error %q", code, stderr)
	}
}

func TestConfigShowReadsBack(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "config", "show", "--preset", "tiny", "--seed", "9", "--set", "gate.enabled=false")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	again, _, code := selfplayCommand(t, "", "config", "show", "--preset", "tiny", "--config", file)
	if code != 0 || again != out {
		t.Errorf("exit %d; the printed configuration does not read back", code)
	}
	if out, _, code := selfplayCommand(t, "", "config", "check"); code != 0 || out != "ok\n" {
		t.Errorf("check: exit %d, output %q", code, out)
	}
}

func TestMatchMaterial(t *testing.T) {
	pgn := filepath.Join(t.TempDir(), "games.pgn")
	out, _, code := selfplayCommand(t, "", "match", "material", "material", "--games", "4", "--nodes", "30", "--max-plies", "40", "--pgn", pgn)
	if code != 0 || !strings.Contains(out, "Games: 4") || !strings.Contains(out, "Elo: ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	text, err := os.ReadFile(pgn)
	if err != nil || strings.Count(string(text), `[Variant "Crazyhouse"]`) != 4 {
		t.Errorf("PGN: error %v, text %.300q", err, text)
	}
}

func TestBenchIsASignature(t *testing.T) {
	nodes := func() string {
		out, _, code := selfplayCommand(t, "", "bench", "--depth", "3")
		i := strings.Index(out, "nodes ")
		if code != 0 || i < 0 {
			t.Fatalf("exit %d, output %q", code, out)
		}
		return out[i:]
	}
	if a, b := nodes(), nodes(); a != b {
		t.Errorf("%q, then %q", a, b)
	}
}
