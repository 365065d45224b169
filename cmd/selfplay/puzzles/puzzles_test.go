package puzzles

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	positions = "# positions\n7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1\n6rk/6pp/8/8/8/8/8/K7[Np] w - - 0 1\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1\n"
	pgn       = `[Variant "crazyhouse"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[Variant "crazyhouse"]

1. e4 e4 *
`
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What mine finds, run gives to a player.
func TestMineAndRun(t *testing.T) {
	fens, games := write(t, "some.fen", positions), write(t, "some.pgn", pgn)
	out := filepath.Join(t.TempDir(), "puzzles.epd")
	args := []string{"mine", fens, games, "--out", out, "--net", "material", "--nodes", "2000", "--mate", "2", "--hash", "1"}
	_, stderr, code := selfplayCommand(t, "", append(args, "--games", "2")...)
	if code != 0 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	stdout, stderr, code := selfplayCommand(t, "", append(args, "--concurrency", "1")...)
	if code != 0 || !strings.Contains(stdout, "3 puzzles of 3 found in 4 games") || !strings.Contains(stderr, "going on after game 2, 2 puzzles") || !strings.Contains(stderr, "some.pgn: left out: ") {
		t.Errorf("code %d\n%s\n%s", code, stdout, stderr)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`bm Qg7#; dm 1;`, `bm N@f7#; dm 1;`, `bm Qh4#; dm 1;`, `id "some.fen:2/0"`, `id "some.pgn:1/3"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again := filepath.Join(t.TempDir(), "puzzles.epd")
	args[4] = again
	if _, stderr, code := selfplayCommand(t, "", args...); code != 0 {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if same, err := os.ReadFile(again); err != nil || string(same) != string(text) {
		t.Errorf("without interruption\n%s, expected\n%s", same, text)
	}
	if _, stderr, code := selfplayCommand(t, "", append(args, "--mate", "3")...); code != 1 || !strings.Contains(stderr, "Delete it") {
		t.Errorf("other settings: code %d\n%s", code, stderr)
	}
	stdout, stderr, code = selfplayCommand(t, string(text), "run", "material", "-", "--nodes", "500,2k", "--json")
	var r struct {
		Puzzles  int
		Accuracy []struct {
			Limits string
			All    struct{ Solved, Of int }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.Puzzles != 3 || len(r.Accuracy) != 2 || r.Accuracy[1].Limits != "nodes 2000" || r.Accuracy[1].All.Solved != 3 {
		t.Errorf("code %d, %v\n%s\n%s", code, err, stdout, stderr)
	}
}

// Training data are read by games, and a packed file of positions as a plain one.
func TestMineData(t *testing.T) {
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(positions)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	plain := "fen 7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1\nmove g1g7\nscore 100\nply 3\nresult 1\ne\n"
	for name, text := range map[string]string{"a.epd.gz": packed.String(), "b.plain": plain} {
		path := write(t, name, text)
		stdout, stderr, code := selfplayCommand(t, "", "mine", path, "--out", path+".out", "--net", "material", "--nodes", "2000", "--hash", "1")
		if code != 0 || !strings.Contains(stdout, "mate in 1") {
			t.Errorf("%s: code %d\n%s\n%s", name, code, stdout, stderr)
		}
	}
}

func TestUsage(t *testing.T) {
	fens, bad := write(t, "some.fen", positions), write(t, "bad.epd", "7k/8/5K2/8/8/8/8/6Q1[r] w - - bm Qg9;\n")
	out := filepath.Join(t.TempDir(), "out.epd")
	for _, tc := range []struct {
		code int
		want string
		args []string
	}{
		{2, "1 or more", []string{"mine"}},
		{2, "--out is required", []string{"mine", fens}},
		{2, "found mates in 0", []string{"mine", fens, "--out", out, "--mate", "0"}},
		{2, "--count -1", []string{"mine", fens, "--out", out, "--count", "-1"}},
		{2, ".pgn", []string{"mine", bad[:len(bad)-4] + ".xyz", "--out", out}},
		{1, "no such file", []string{"mine", "missing.pgn", "--out", out}},
		{2, "expected PLAYER", []string{"run"}},
		{2, "--nodes", []string{"run", "material", "--nodes", "x"}},
		{2, "found --nodes with --time", []string{"run", "material", "--nodes", "1", "--time", "1s"}},
		{1, bad + ": line 1: ", []string{"run", "material", bad}},
		{1, "no puzzles of chess", []string{"run", "material", "--variant", "chess"}},
		{2, "found 1025, expected 1 to 1024", []string{"run", "material", "--nodes", "1", "--concurrency", "1025", "--hash", "1"}},
		{2, "found 1025, expected 1 to 1024", []string{"mine", fens, "--out", out, "--concurrency", "1025", "--hash", "1"}},
		{2, "unknown", []string{"solve"}},
	} {
		if _, stderr, code := selfplayCommand(t, "", tc.args...); code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: code %d, expected %d and %q in\n%s", tc.args, code, tc.code, tc.want, stderr)
		}
	}
}
