package match

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
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
		if code != 0 || !strings.Contains(out, "us (nodes 60): ") || !strings.Contains(out, "weak one (0)") {
			t.Fatalf("exit %d, output\n%s\nerror\n%s", code, out, stderr)
		}
		text, err := os.ReadFile(book)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# Lab book\n\nText.\n\n## Ratings\n") || strings.Count(string(text), ladderHead) != 1 ||
			strings.Count(string(text), " | us (material) | nodes 60 | 12 | **") != want {
			t.Errorf("run %d: lab book\n%s", run, text)
		}
	}
	// Rows go to the table even if text follows it.
	text, _ := os.ReadFile(book)
	if err := os.WriteFile(book, append(text, "\nMore.\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "ladder")
	args := []string{"ladder", "material,name=us", "material,nodes=20,name=another", "--config", config, "--append", book, "--games", "4", "--log", log, "--json"}
	out, _, code := selfplayCommand(t, "", args...)
	last := lastLadder(t, out)
	if code != 0 || last.Type != "ladder" || len(last.Nets) != 2 || last.Missing != "" {
		t.Fatalf("exit %d, %+v in\n%s", code, last, out)
	}
	for _, n := range last.Nets {
		if n.Games != 8 || len(n.Scores) != 2 || !(n.Elo.Low <= n.Elo.Value && n.Elo.Value <= n.Elo.High) || n.Gain != nil {
			t.Errorf("net %+v", n)
		}
		// A rating is where the points made are the points expected, but for
		// the draws added: 4 games and 1 draw.
		if made, expected := n.Scores[0].Score+n.Scores[1].Score, n.Scores[0].Expected+n.Scores[1].Expected; made-expected > 0.25 || expected-made > 0.25 {
			t.Errorf("%s: made %.2f, expected %.2f", n.Name, made, expected)
		}
	}
	again, _, code := selfplayCommand(t, "", args...)
	if code != 0 || !reflect.DeepEqual(lastLadder(t, again), last) {
		t.Errorf("from the log, exit %d:\n%s\nbefore:\n%s", code, again, out)
	}
	text, _ = os.ReadFile(book)
	if rows := strings.Count(string(text), "\n| 2"); rows != 6 || !strings.HasSuffix(string(text), " |\n\nMore.\n") {
		t.Errorf("%d rows in the lab book\n%s", rows, text)
	}
}

// ladderResult is the last object of ladder --json.
type ladderResult struct {
	Type    string
	Missing string
	Nets    []struct {
		Name   string
		Games  int
		Elo    struct{ Value, Low, High float64 }
		Scores []struct {
			Anchor          string
			Games           int
			Score, Expected float64
		}
		Gain *struct {
			Games int
			Elo   struct{ Value, Low, High float64 }
		}
		NoGain string `json:"no_gain"`
	}
}

func lastLadder(t *testing.T, out string) (last ladderResult) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return last
}

// TestLadderPlaysUntilSure: with a margin more games are played than against every
// opponent at least, and no more than the bound.
func TestLadderPlaysUntilSure(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", "ladder", "material,name=us,nodes=30", "--config", testLadder(t), "--margin", "100", "--most", "200", "--json")
	last := lastLadder(t, out)
	if code != 0 || len(last.Nets) != 1 {
		t.Fatalf("exit %d\n%s\n%s", code, out, stderr)
	}
	n := last.Nets[0]
	if margin := (n.Elo.High - n.Elo.Low) / 2; n.Games <= 12 || n.Games > 200 || margin > 100 && n.Games < 200 {
		t.Errorf("± %.0f by %d games", margin, n.Games)
	}
}

// TestLadderMargin: a margin means more games of a ladder whose file has none, at most as many
// as those of the program's ladder, or as are said.
func TestLadderMargin(t *testing.T) {
	for _, tc := range []struct {
		most int
		set  bool
		want int
	}{{0, false, 12}, {0, true, 8000}, {200, true, 200}, {2, true, 12}} {
		o := ladderOptions{config: testLadder(t), margin: 50, marginSet: tc.set, most: tc.most}
		if l, err := o.ladder(); err != nil || l.Most != tc.want {
			t.Errorf("%+v: at most %d games, error %v", tc, l.Most, err)
		}
	}
}

// TestLadderWithoutEngine: opponents whose engine is missing, or is another version
// than the rating is of, are left out with a sentence; one that is asked for is an error.
func TestLadderWithoutEngine(t *testing.T) {
	config := testLadder(t)
	mock, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte(strings.Replace(string(mock), "elo: 100}", "elo: 100, engine: Mock 2}", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	absent, gone := filepath.Join(t.TempDir(), "absent"), filepath.Join(t.TempDir(), "gone.yaml")
	if err := os.WriteFile(gone, bytes.Replace(mock, []byte(strings.ReplaceAll(clitest.MockPlayer("", ""), ",name=mock", "")), []byte("uci:"+absent), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "ladder", "material,name=us", "--config", config, "--engine", absent); code != 1 || !strings.Contains(stderr, "--engine: opponents cannot play: mock: engine could not be started: "+absent) {
		t.Errorf("an engine that is not there: exit %d\n%s", code, stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", gone}, "left out mock: engine could not be started: " + absent},
		{[]string{"--config", other}, "found Mock 1.0, expected Mock 2"},
	} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"ladder", "material,name=us"}, c.args...)...)
		if code != 0 || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "Rated against weak one alone") ||
			!strings.Contains(out, "us (nodes 60): ") || strings.Contains(out, "mock") {
			t.Errorf("%q: exit %d\n%s\n%s", c.args, code, out, stderr)
		}
		out, _, _ = selfplayCommand(t, "", append([]string{"ladder", "material,name=us", "--json"}, c.args...)...)
		if last := lastLadder(t, out); !strings.Contains(last.Missing, c.want) || len(last.Nets) != 1 || last.Nets[0].Games != 6 {
			t.Errorf("%q: %+v", c.args, last)
		}
	}
}

// TestLadderGain: a net of Fairy-Stockfish's architecture plays in that program, whose
// place an engine with the options takes that it needs for that.
func TestLadderGain(t *testing.T) {
	n, err := nnuetest.Random(nnue.Fairy(), 1)
	if err != nil {
		t.Fatal(err)
	}
	net := filepath.Join(t.TempDir(), "fairy.nnue")
	if err := writeNet(n, net); err != nil {
		t.Fatal(err)
	}
	ladder, err := os.ReadFile(testLadder(t))
	if err != nil {
		t.Fatal(err)
	}
	config, log := filepath.Join(t.TempDir(), "gain.yaml"), t.TempDir()
	for script, want := range map[string]string{
		"": "no gain in Fairy-Stockfish: engine option not taken",
		"uci: print option name Use NNUE type check default true | print option name EvalFile type string default x | obey; setoption: echo | obey": "gain in Fairy-Stockfish (nodes 50): ",
	} {
		text := string(ladder) + "gain: '" + strings.ReplaceAll(clitest.MockPlayer(script, ""), ",name=mock", "") + ",nodes=50'\n"
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, stderr, code := selfplayCommand(t, "", "ladder", net+",nodes=4", "--config", config, "--games", "2", "--log", log)
		if code != 0 || !strings.Contains(out+stderr, want) {
			t.Errorf("script %q: exit %d\n%s\n%s", script, code, out, stderr)
		}
	}
	// The net that the engine was given is the net.
	files, err := filepath.Glob(filepath.Join(log, "crazyhouse-*.nnue"))
	if err != nil || len(files) != 1 {
		t.Fatalf("nets for the engine: %q, error %v", files, err)
	}
	a, _ := os.ReadFile(net)
	if b, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the engine's net is another, error %v", err)
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
		{[]string{"material", "--games", "5"}, "found --games 5", 2},
		{[]string{"material", "--margin", "-5"}, "--margin: found -5, expected 0 to 10000", 2},
		{[]string{"material", "--margin", "nan"}, "--margin: found NaN", 2},
		{[]string{"material", "--most", "-4"}, "--most -4", 2},
		{[]string{"material", "--margin", "0", "--most", "200"}, "--most: found 200, expected nothing", 2},
		{[]string{"material", "--config", testLadder(t), "--most", "200"}, "--most: found 200, expected nothing", 2},
		{[]string{"material", "--config", testLadder(t), "--gain-engine", "x"}, "--gain-engine: found x, expected nothing", 2},
		{[]string{"material", "--append", filepath.Join(bad, "none", "x.md")}, "--append: ", 1},
		{[]string{"material", "--log", bad}, "expected a directory", 2},
		{[]string{filepath.Join(t.TempDir(), "none.nnue")}, "none.nnue", 1},
	} {
		_, stderr, code := selfplayCommand(t, "", append([]string{"ladder"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, want %d; error %q lacks %q", tc.args, code, tc.code, stderr, tc.want)
		}
	}
}
