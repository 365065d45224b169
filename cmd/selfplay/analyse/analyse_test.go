package analyse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/analysis"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

const (
	// White mates by Qg7.
	mateFEN = "7k/8/5K2/8/8/8/8/6Q1[r] w - - 0 1"
	// White is mated.
	matedFEN = "6k1/5ppp/8/8/8/8/5PPP/r5K1[] w - - 0 1"
)

func TestAnalyse(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", append([]string{"analyse", "--net", "material", "--nodes", "2000", "--lines", "2"}, strings.Fields(mateFEN)...)...)
	for _, want := range []string{"  6  .  .  .  .  .  K  .  . ", "     black: r", "white to move, depth ", "mate +1  win 100.0 %  draw  0.0 %  loss   0.0 %  1. Qg7#"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, expected %q in\n%s\n%s", code, want, out, stderr)
		}
	}
}

// TestAnalyseThreats: what the other side would mate by is found by rule, what it
// would win by search.
func TestAnalyseThreats(t *testing.T) {
	for _, tc := range []struct {
		fen, san    string
		check       bool
		mate        int
		least, most int // gain
	}{
		{"6k1/5ppp/8/8/8/8/5PPP/1N4K1[r] w - - 0 1", "R@d1", true, 1, 0, 0},
		{"4k3/8/8/8/8/8/4P3/R3K2Q[n] w Q - 0 1", "N@c2", true, 0, 100, 1500}, // forks king and rook
	} {
		out, stderr, code := selfplayCommand(t, "", "analyse", "--net", "material", "--nodes", "3000", "--lines", "4", "--json", tc.fen)
		var r analysis.Report
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("code %d, error %v\n%s\n%s", code, err, out, stderr)
		}
		if len(r.Lines) == 0 || len(r.Lines[0].UCI) == 0 || r.Lines[0].Win+r.Lines[0].Draw+r.Lines[0].Loss != 1000 || r.FEN != tc.fen {
			t.Errorf("%s: %s", tc.fen, out)
		}
		found := false
		for _, th := range r.Threats {
			if strings.TrimRight(th.SAN, "+#") == tc.san {
				found = true
				if th.Check != tc.check || th.Mate != tc.mate || th.Gain < tc.least || th.Gain > tc.most {
					t.Errorf("%s: threat %+v", tc.fen, th)
				}
			}
		}
		if !found {
			t.Errorf("%s: no %s among %+v", tc.fen, tc.san, r.Threats)
		}
	}
}

// TestAnalyseByCECP: an engine that cannot search some moves only shows its line, and the
// drops that mate.
func TestAnalyseByCECP(t *testing.T) {
	engine := "xboard:" + strings.TrimPrefix(clitest.MockPlayer("", ""), "uci:")
	out, stderr, code := selfplayCommand(t, "", "analyse", "--net", engine, "--time", "1s", "6k1/5ppp/8/8/8/8/5PPP/1N4K1[rn] w - - 0 1")
	if code != 0 || !strings.Contains(out, "white to move") || !strings.Contains(out, "R@d1#") {
		t.Errorf("code %d\n%s\n%s", code, out, stderr)
	}
}

func TestAnalyseFile(t *testing.T) {
	epd := strings.TrimSuffix(matedFEN, " 0 1") + " hmvc 3; id \"mated\";"
	text := "# positions\n" + mateFEN + "\tcomment\nnonsense\n" + epd + "\n"
	path := filepath.Join(t.TempDir(), "fens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, "-"} {
		out, stderr, code := selfplayCommand(t, text, "analyse", "--net", "material", "--depth", "3", "--file", name)
		if code != 1 || !strings.Contains(stderr, name+":3: ") || !strings.Contains(out, "mate +1") || !strings.Contains(out, "white to move: checkmate") {
			t.Errorf("--file %s: code %d\n%s\n%s", name, code, out, stderr)
		}
	}
	out, _, code := selfplayCommand(t, matedFEN+"\n", "analyse", "--net", "mcts:uniform", "--nodes", "50", "--hash", "4", "--file", "-", "--json")
	if code != 0 || !strings.Contains(out, `"ended":"checkmate"`) || !strings.Contains(out, `"lines":[]`) {
		t.Errorf("code %d, %s", code, out)
	}
}

func TestAnalyseUsage(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"--lines", "0"}, {"--depth", "-1"}, {"--net", "x,y"}, {mateFEN, "--file", "-"}, {"--variant", "atomic"}, {"--time", "-1s"},
	} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"analyse"}, args...)...); code != 2 || stderr == "" {
			t.Errorf("%q: code %d, %q", args, code, stderr)
		}
	}
}
