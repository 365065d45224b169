package match

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

// testLadder writes a ladder of quick opponents and returns its path.
func testLadder(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ladder.yaml")
	text := `schema: 1
variant: crazyhouse
games: 6
seed: 3
nodes: 60
anchors:
  - {name: weak one, player: "material,nodes=10", elo: 0}
  - {name: mock, player: '` + strings.ReplaceAll(clitest.MockPlayer("", ""), ",name=mock", "") + `,nodes=50', elo: 100}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLadder(t *testing.T) {
	config, book := testLadder(t), filepath.Join(t.TempDir(), "nets.md")
	if err := os.WriteFile(book, []byte("# Lab book\n\nText."), 0o644); err != nil {
		t.Fatal(err)
	}
	for run, want := range []int{1, 2} { // rows of the table
		out, stderr, code := selfplayCommand(t, "", "ladder", "material,name=us", "--config", config, "--append", book)
		if code != 0 || !strings.Contains(out, "us (nodes 60): ") || !strings.Contains(out, "weak one") || !strings.Contains(out, "gauntlet of 1") {
			t.Fatalf("exit %d, output\n%s\nerror\n%s", code, out, stderr)
		}
		text, err := os.ReadFile(book)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# Lab book\n\nText.\n\n## Strength ladder\n") || strings.Count(string(text), ladderHead) != 1 ||
			strings.Count(string(text), " | us (material) | nodes 60 | 12 | **") != want {
			t.Errorf("run %d: lab book\n%s", run, text)
		}
	}
	// Rows go to the table even if text follows it.
	text, _ := os.ReadFile(book)
	if err := os.WriteFile(book, append(text, "\nMore.\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "ladder.jsonl")
	args := []string{"ladder", "material,name=us", "material,nodes=20,name=another", "--config", config, "--append", book, "--games", "4", "--log", log, "--json"}
	out, _, code := selfplayCommand(t, "", args...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var last struct {
		Type string
		Nets []struct {
			Name   string
			Games  int
			Elo    struct{ Value, Low, High float64 }
			Scores []struct {
				Anchor          string
				Score, Expected float64
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || code != 0 || last.Type != "ladder" || len(last.Nets) != 2 {
		t.Fatalf("exit %d, %v in\n%s", code, err, out)
	}
	for _, n := range last.Nets {
		if n.Games != 8 || len(n.Scores) != 2 || !(n.Elo.Low <= n.Elo.Value && n.Elo.Value <= n.Elo.High) {
			t.Errorf("net %+v", n)
		}
		// A rating is where the points made are the points expected, but for
		// the draws added: 4 games and 1 draw.
		if made, expected := n.Scores[0].Score+n.Scores[1].Score, n.Scores[0].Expected+n.Scores[1].Expected; made-expected > 0.25 || expected-made > 0.25 {
			t.Errorf("%s: made %.2f, expected %.2f", n.Name, made, expected)
		}
	}
	again, _, code := selfplayCommand(t, "", args...)
	if code != 0 || !strings.HasSuffix(out, again[strings.LastIndex(strings.TrimSpace(again), "\n"):]) {
		t.Errorf("from the log, exit %d:\n%s\nbefore:\n%s", code, again, out)
	}
	text, _ = os.ReadFile(book)
	if rows := strings.Count(string(text), "\n| 2"); rows != 6 || !strings.HasSuffix(string(text), " |\n\nMore.\n") {
		t.Errorf("%d rows in the lab book\n%s", rows, text)
	}
}

func TestLadderUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("schema: 1\nvariant: shogi\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		want string
		code int
	}{
		{nil, "found no nets", 2},
		{[]string{"material", "--config", bad}, "bad.yaml: variant: found shogi", 2},
		{[]string{"material", "--config", bad + "x"}, "bad.yamlx", 1},
		{[]string{"material", "--games", "5"}, "found 5", 2},
		{[]string{filepath.Join(t.TempDir(), "none.nnue")}, "none.nnue", 1},
	} {
		_, stderr, code := selfplayCommand(t, "", append([]string{"ladder"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, want %d; error %q lacks %q", tc.args, code, tc.code, stderr, tc.want)
		}
	}
}
