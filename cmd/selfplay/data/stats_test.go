package data

import (
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"

	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestMobility(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "plot.png")
	out, stderr, code := selfplayCommand(t, "", "stats", "mobility", "--positions", clitest.PositionsFile(t), "--plot", plot)
	for _, want := range []string{
		"kind  value  count     share",
		"N      0      2  0.333333", // the empty board's, twice
		"N      4      2  0.333333", // the start position's
		"crazyhouse, 3 positions", "cover 99.9 % of the values above 0",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != 0 || stderr != "" || t.Failed() {
		t.Errorf("exit %d, error %q, output\n%s", code, stderr, out)
	}
	if info, err := os.Stat(plot); err != nil || info.Size() < 1000 {
		t.Errorf("plot: error %v", err)
	}

	out, _, code = selfplayCommand(t, "", "stats", "mobility", "--positions", clitest.PositionsFile(t), "--json", "--cover", "0.5")
	var r netstat.MobilityReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, error %v", code, err)
	}
	if r.Positions != 3 || len(r.Kinds) != 6 || r.Kinds[1].Kind != "N" || r.Kinds[1].Proposed != 4 || r.Kinds[1].Values[0].Count != 2 {
		t.Errorf("found %+v", r)
	}
}

func TestWDL(t *testing.T) {
	data := clitest.Games(t, gensfen.Commands())
	plain := filepath.Join(t.TempDir(), "games.plain")
	if _, stderr, code := selfplayCommand(t, "", "convert", data, plain); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	plot := filepath.Join(t.TempDir(), "wdl.png")
	out, stderr, code := selfplayCommand(t, "", "stats", "wdl", data, "--plot", plot)
	for _, want := range []string{"positions of", "a ", "b ", "raw units", "observed", "-50 to 49"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if _, err := os.Stat(plot); err != nil || code != 0 {
		t.Fatalf("exit %d, plot: %v\n%s%s", code, err, out, stderr)
	}
	var reports [2]wdlReport
	for i, name := range []string{data, plain} {
		out, stderr, code := selfplayCommand(t, "", "stats", "wdl", name, "--json", "--min-ply", "20", "--skip-in-check")
		if err := json.Unmarshal([]byte(out), &reports[i]); err != nil || code != 0 {
			t.Fatalf("%s: exit %d, error %v, %s", name, code, err, stderr)
		}
	}
	r := &reports[0]
	if r.B != reports[1].B || r.Positions != reports[1].Positions || r.ErrorB <= 0 || r.Counts.Early == 0 || len(r.Bins) < 10 {
		t.Errorf("%+v, of the same positions %+v", r, reports[1])
	}
	for _, args := range [][]string{{"none.chain"}, {data, "--bin", "0"}, {data, "--variant", "chess"}, {data, "--plot", "x.gif"}, {}} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"stats", "wdl"}, args...)...); code == 0 || stderr == "" {
			t.Errorf("%q: exit %d, error %q", args, code, stderr)
		}
	}
}

func TestMobilitySources(t *testing.T) {
	dir, _ := clitest.SmallRun(t)
	byRun, stderr, code := selfplayCommand(t, "", "stats", "mobility", "--replay", dir)
	if code != 0 || !strings.Contains(byRun, "crazyhouse, ") {
		t.Fatalf("replay: exit %d, error %q", code, stderr)
	}
	if out, _, code := selfplayCommand(t, "", "stats", "mobility", "--positions", filepath.Join(dir, "replay")); code != 0 || out != byRun {
		t.Errorf("the same by another way: exit %d, output\n%s", code, out)
	}
	start := "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n"
	if out, _, code := selfplayCommand(t, strings.Repeat(start, 9), "stats", "mobility", "--variant", "chess", "--positions", "-", "--count", "5"); code != 0 || !strings.Contains(out, "chess, 5 positions") {
		t.Errorf("standard input: exit %d, output\n%s", code, out)
	}
	if out, _, code := selfplayCommand(t, "", "stats", "mobility", "--count", "60"); code != 0 || !strings.Contains(out, "crazyhouse, 60 positions") {
		t.Errorf("self-play: exit %d, output\n%s", code, out)
	}
	for _, tc := range []struct {
		args, stdin string
		code        int
		want        string
	}{
		{"--positions -", "# nothing\n", 1, "-: found no positions"},
		{"--positions -", start + "\n8/8 w\n", 1, "-:3: "},
		{"--positions none.epd", "", 1, "none.epd"},
		{"--replay " + dir + "/none", "", 1, "none"},
		{"--replay " + dir + " --variant chess", "", 1, "found crazyhouse, expected chess"},
		{"--cover 2", "", 2, "--cover: found 2"},
		{"--variant shogi", "", 2, "shogi"},
		{"--plot a.pdf", "", 2, `"a.pdf"`},
	} {
		_, stderr, code := selfplayCommand(t, tc.stdin, append([]string{"stats", "mobility"}, strings.Fields(tc.args)...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit %d, error %q, expected %d and %q", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}
