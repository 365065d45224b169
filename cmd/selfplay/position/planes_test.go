package position

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
)

const planesFixtures = "../../../planes/testdata/planes.jsonl"

// planesRow is what the tests read of the command's lines and of the fixtures.
type planesRow struct {
	ID       string       `json:"id"`
	Final    string       `json:"final_fen"`
	Occurred int          `json:"occurred_before"`
	Sparse   [][4]float64 `json:"sparse"`
}

func planesRows(t *testing.T, text string) (rows []planesRow) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var r planesRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestPlanesFile(t *testing.T) {
	text, err := os.ReadFile(planesFixtures)
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, code := selfplayCommand(t, "", "planes", "--file", planesFixtures)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, error %q", code, stderr)
	}
	got, want := planesRows(t, out), planesRows(t, string(text))
	if len(got) != len(want) {
		t.Fatalf("found %d lines, expected %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.ID != w.ID || g.Final != w.Final || g.Occurred != w.Occurred || len(g.Sparse) != len(w.Sparse) {
			t.Errorf("found %s %q %d with %d numbers, expected %s %q %d with %d",
				g.ID, g.Final, g.Occurred, len(g.Sparse), w.ID, w.Final, w.Occurred, len(w.Sparse))
			continue
		}
		for j := range w.Sparse {
			a, b := g.Sparse[j], w.Sparse[j]
			if [3]float64(a[:3]) != [3]float64(b[:3]) || math.Abs(a[3]-b[3]) > 1e-6 {
				t.Errorf("%s: number %d: found %v, expected %v", w.ID, j, a, b)
			}
		}
	}
}

func TestPlanesFileBadLines(t *testing.T) {
	const good = `{"fen":"4k3/8/8/8/8/8/8/4K2R[] w K - 0 1","moves":"e1g1 e8d8"}` + "\n"
	in := good + `{"fen":"4k3/8/8/8/8/8/8/4K3[] w - - 0 1","moves":["e1e2","e8e1"]}` + "\n# comment\nnonsense\n" +
		`{"moves":["e2e4"]}` + "\n" + `{"fen":"4k3 w","moves":7}` + "\n" + good
	out, stderr, code := selfplayCommand(t, in, "planes", "--file", "-")
	if code != 1 || len(planesRows(t, out)) != 2 || !strings.Contains(out, `"moves":["e1g1","e8d8"],"final_fen":"3k4/8/8/8/8/8/8/5RK1[] w - - 2 2"`) {
		t.Errorf("exit %d, output %q, expected exit 1 and the two good lines", code, out)
	}
	for _, want := range []string{"-:2: move 2: ", "-:4: ", `-:5: found no key "fen"`, "-:6: moves: found 7, expected"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("found errors %q, expected %q among them", stderr, want)
		}
	}
}

func TestPlanesPosition(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", "planes", "--moves", "g1f3 g8f6 f3g1 f6g8")
	r := planesRows(t, out)[0]
	if code != 0 || r.Occurred != 1 || !strings.Contains(out, "[12,7,7,1]") {
		t.Errorf("exit %d, error %q, found %d repetitions", code, stderr, r.Occurred)
	}
	const late = "6k1/8/8/8/8/8/8/6K1[] b - - 45 600"
	out, _, _ = selfplayCommand(t, "", "planes", "--fen", late)
	if !strings.Contains(out, "[28,0,0,1.2]") || !strings.Contains(out, "[33,0,0,1.125]") {
		t.Errorf("found %q, expected a move number of 1.2 and a clock of 1.125", out)
	}
	out, _, _ = selfplayCommand(t, "", "planes", "--fen", late, "--clamp")
	if !strings.Contains(out, "[28,0,0,1]") || !strings.Contains(out, "[33,0,0,1]") {
		t.Errorf("found %q, expected numbers of at most 1", out)
	}
	out, _, code = selfplayCommand(t, "", "planes", "--variant", "chess", "--chess960", "--fen", "4k3/8/8/8/8/8/8/4K2R w H - 0 1", "--moves", "e1h1")
	if code != 0 || !strings.Contains(out, "[5,0,4,1]") || !strings.Contains(out, "[11,7,6,1]") {
		t.Errorf("castling in Chess960: exit %d, output %.200q", code, out)
	}
}

func TestPlanesDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planes.svg")
	out, stderr, code := selfplayCommand(t, "", "planes", "--draw", path, "--moves", "e2e4")
	if code != 0 || out != "wrote "+path+"\n" {
		t.Fatalf("exit %d, error %q, output %q", code, stderr, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for plane := range planes.Channels {
		if !strings.Contains(string(text), planes.Name(plane)) {
			t.Errorf("the drawing lacks plane %d, %s", plane, planes.Name(plane))
		}
	}
	for _, want := range []string{"RNBQKBNR[] b KQkq", "move number 0.002", "own kingside 1"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the drawing lacks %q", want)
		}
	}
}

func TestPlanesErrors(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--file", "a", "--fen", "b"}, 2, "found --file with --fen"},
		{[]string{"--draw", "planes.gif"}, 2, "expected a name that ends in .png or .svg"},
		{[]string{"--variant", "go"}, 2, "--variant"},
		{[]string{"--moves", "e2e5"}, 1, "move 1: "},
		{[]string{"--fen", "8 w"}, 1, "board"},
		{[]string{"--file", filepath.Join(t.TempDir(), "none")}, 1, "none"},
	} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"planes"}, tc.args...)...)
		if code != tc.code || out != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q, output %q; expected exit %d and %q", tc.args, code, stderr, out, tc.code, tc.want)
		}
	}
}
