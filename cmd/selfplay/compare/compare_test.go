package compare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// The preset smoke, from the estimate to the report; and the commands of the report make the same
// net and the same games again.
func TestSmoke(t *testing.T) {
	data := clitest.Games(t, gensfen.Commands())
	dir := filepath.Join(t.TempDir(), "smoke")
	args := []string{"compare", "--preset", "smoke", "--data", data, "--dir", dir}
	out, stderr, code := selfplayCommand(t, append(args, "--dry-run", "--show")...)
	if code != 0 || !strings.Contains(out, "core-hours") || !strings.Contains(out, "samples and their order") {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an estimate made the directory")
	}
	out, stderr, code = selfplayCommand(t, args...)
	if code != 0 || !strings.Contains(out, "board and hands") || !strings.Contains(out, "with probability 0.8") {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	for _, name := range []string{"report.md", "report.html", "results.json", "results.csv", "times.json", "frontier.svg", "loss-elo.svg", "curves.svg", "pairs-nodes.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	out, _, code = selfplayCommand(t, append(args, "--dry-run")...)
	if code != 0 || !strings.Contains(out, "4, of them 4 there") || !strings.Contains(out, "12, of them 12 there") || !strings.Contains(out, "4 nets, of them 4 there") {
		t.Errorf("exit %d: %s", code, out)
	}
	checkJSON(t, args)
	checkAgain(t, dir)
}

// checkJSON looks at what --json prints of a comparison that is over.
func checkJSON(t *testing.T, args []string) {
	t.Helper()
	out, stderr, code := selfplayCommand(t, append(args, "--json")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var progress struct {
		Type    string
		Nets    int
		NetsOf  int `json:"nets_of"`
		Pairs   int
		PairsOf int `json:"pairs_of"`
		Puzzled int
		Left    *float64 `json:"eta_seconds"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &progress); err != nil || progress.Type != "progress" || progress.Left == nil || *progress.Left != 0 ||
		progress.Nets != 4 || progress.NetsOf != 4 || progress.Pairs != progress.PairsOf || progress.PairsOf == 0 || progress.Puzzled != 4 {
		t.Errorf("found %s, error %v, expected progress with all done", lines[0], err)
	}
	var result struct {
		Type    string
		Results struct{ Rows []struct{ Name string } }
		Times   []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil || result.Type != "result" || len(result.Results.Rows) != 2 || len(result.Times) != 2 {
		t.Errorf("found %s, error %v, expected the result", lines[len(lines)-1], err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("schema: 1\nrows: [{name: a, widht: 16}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ args, want string }{
		{"", "expected one file or a preset"},
		{"--preset none --dir x", "smoke"},
		{"--preset smoke", "--dir"},
		{"--preset smoke --dir x", "data: found none"},
		{"--preset smoke --dir x --sort beauty --data y.chain", "sort"},
		{"--preset smoke --dir x --data none.chain --dry-run", "none.chain"},
		{file + " --dir x", `nearest known one is "width"`},
	} {
		_, stderr, code := selfplayCommand(t, append([]string{"compare"}, strings.Fields(tc.args)...)...)
		if code == 0 || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit %d: %s, expected %q", tc.args, code, stderr, tc.want)
		}
	}
	out, stderr, code := selfplayCommand(t, "compare", "--preset", "kings", "--print")
	if code != 0 || !strings.Contains(out, "HalfKAv2") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// The list of blocks is that of the file's variant, and of crazyhouse without one.
func TestListFeatures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("schema: 1\nvariant: chess\nrows: [{name: a, features: All}, {name: b, features: H + V}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args    []string
		variant *chess.Variant
	}{
		{nil, chess.Crazyhouse},
		{[]string{"--preset", "smoke"}, chess.Crazyhouse},
		{[]string{file}, chess.Chess},
	} {
		words := append([]string{"compare", "--list-features"}, tc.args...)
		out, stderr, code := selfplayCommand(t, words...)
		if blocks := features.Blocks(tc.variant); code != 0 || strings.Count(out, "\n  example ") != len(blocks) {
			t.Errorf("%q: exit %d: %s: found\n%s\nexpected %d blocks", words, code, stderr, out, len(blocks))
		}
		out, stderr, code = selfplayCommand(t, append(words, "--json")...)
		var list []features.Listed
		if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil || !slices.Equal(list, features.List(tc.variant)) {
			t.Errorf("%q: exit %d, %s, %v: %s", words, code, stderr, err, out)
		}
	}
}

// A comparison whose process is killed three times without warning ends with the results of one
// that was not.
func TestKilledCompare(t *testing.T) {
	data := clitest.Games(t, gensfen.Commands())
	file, dir := filepath.Join(t.TempDir(), "c.yaml"), t.TempDir()
	text := "schema: 1\ndata: [" + data + "]\ntrain: {preset: tiny, epochs: 1}\nseeds: 2\nrows:\n- {name: a, features: All}\n- {name: b, features: Hand}\n" +
		"anchors: [{name: material, player: material}]\ngames: {pairs: 40, nodes: 200, puzzles: 20}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := func(name string) []string { return []string{"compare", file, "--dir", filepath.Join(dir, name)} }
	if _, stderr, code := selfplayCommand(t, args("straight")...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	done := func(name string) (n int) { // nets, and pairs of games
		summaries, _ := filepath.Glob(filepath.Join(dir, name, "cells", "train", "*", "summary.json"))
		logs, _ := filepath.Glob(filepath.Join(dir, name, "cells", "games", "*.jsonl"))
		for _, log := range logs {
			if text, err := os.ReadFile(log); err == nil {
				n += strings.Count(string(text), "\n")
			}
		}
		return n + len(summaries)
	}
	clitest.KillThrice(t, done("straight"), func() int { return done("killed") }, args("killed")...)
	if _, stderr, code := selfplayCommand(t, args("killed")...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	results := func(name string) string {
		return strings.ReplaceAll(read(t, dir, name, "results.json"), filepath.Join(dir, name), "DIR")
	}
	if results("straight") != results("killed") {
		t.Error("the results differ")
	}
}
