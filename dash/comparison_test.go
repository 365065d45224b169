package dash

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/lab"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// comparisonDir is a copy of a small comparison that is over, with some of its files.
func comparisonDir(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", "comparison", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(text))
	}
	return dir
}

func TestComparison(t *testing.T) {
	dir := comparisonDir(t, lab.PlanFile, lab.ProgressFile, lab.ResultsFile, lab.TimesFile)
	s := newTestServer(t, Config{Dir: dir})
	if state := read[State](t, s, "/api/state"); !state.Comparison || !state.Stopped || state.Run.Name != filepath.Base(dir) {
		t.Errorf("found state %+v, expected a comparison that is over", state)
	}
	c := read[Comparison](t, s, "/api/comparison")
	if !c.Over || len(c.Said) == 0 || len(c.Rows) != 3 || len(c.Stages) != 2 {
		t.Fatalf("found %+v, expected three rows and two stages", c)
	}
	for _, r := range c.Rows {
		want := []string{"active", "elo", "evaluations", "file", "inputs", "loss", "parameters", "puzzles", "speed", "time", "training", "winner"}
		if got := slices.Sorted(maps.Keys(r.Figures)); !slices.Equal(got, want) {
			t.Errorf("%s: found figures %q, expected %q", r.Name, got, want)
		}
	}
	m := c.Stages[0]
	if len(m.Players) != 4 || m.Players[3] != "material" {
		t.Fatalf("found players %q, expected the rows and material", m.Players)
	}
	for i := range m.Cells {
		for k := range m.Cells[i] {
			a, b := m.Cells[i][k], m.Cells[k][i]
			if i == k {
				if a != (MatrixCell{}) {
					t.Errorf("found %+v for a player against itself", a)
				}
				continue
			}
			if a.Pairs != 8 || a.Of != 8 || math.Abs(a.Score+b.Score-1) > 1e-9 || a.Elo != -b.Elo || a.Low != -b.High || a.Rated != (i < 3 && k < 3) {
				t.Errorf("%s against %s: found %+v and from the other side %+v", m.Players[i], m.Players[k], a, b)
			}
		}
	}
}

// Before a comparison is over the page shows what there is, and sees what comes.
func TestComparisonUnderWay(t *testing.T) {
	dir := comparisonDir(t, lab.PlanFile)
	s := newTestServer(t, Config{Dir: dir})
	if c := read[Comparison](t, s, "/api/comparison"); c.Over || c.Progress != nil || len(c.Rows) != 0 {
		t.Errorf("found %+v, expected nothing yet", c)
	}
	write(t, dir, lab.ProgressFile, string(encode(lab.SoFar{
		Time: time.Unix(1e9, 0), Progress: lab.Progress{Work: "games nodes", Nets: 1, NetsOf: 2, Pairs: 3, PairsOf: 8, Left: 60},
		Rows:     []lab.RowSoFar{{Name: "a", Expression: "All", Nets: 1, NetsOf: 1, Loss: 0.02}, {Name: "b", NetsOf: 1}},
		Meetings: []lab.MeetingSoFar{{Stage: lab.AtNodes, A: "a", B: "b", Pairs: rating.Pentanomial{LL: 1, WW: 1, LW: 1}, PairsOf: 8}},
	})))
	c := read[Comparison](t, s, "/api/comparison")
	if c.Over || c.Progress == nil || c.Progress.Left != 60 || len(c.Rows) != 2 || c.Rows[0].Nets != "1 of 1" || c.Rows[0].Figures["loss"].Value != 0.02 {
		t.Fatalf("found %+v, expected the rows so far", c)
	}
	if len(c.Stages) != 1 || c.Stages[0].Cells[0][1] != (MatrixCell{Pairs: 3, Of: 8, Score: 0.5}) {
		t.Errorf("found stages %+v, expected 3 of 8 pairs and half of the points", c.Stages)
	}
}

func TestDamagedComparisons(t *testing.T) {
	names := []string{lab.PlanFile, lab.ProgressFile, lab.ResultsFile, lab.TimesFile}
	for _, name := range names[1:] {
		whole, err := os.ReadFile(filepath.Join("testdata", "comparison", name))
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"empty": "", "cut short": string(whole[:len(whole)/2]), "null": "null", "list": "[null]", "empty object": "{}",
			"rows alone": `{"rows":[{"elo":{"nodes":{"elo":1e300}}}],"stages":[{"ratings":null},{"meetings":[{}]}]}`,
			"names":      `{"rows":[{}],"stages":[{"differences_of":[["a","b"]],"ratings":{"differences":[]}}]}`,
		} {
			dir := comparisonDir(t, names...)
			write(t, dir, name, text)
			s := newTestServer(t, Config{Dir: dir})
			for range 2 {
				if f := read[State](t, s, "/api/state").Findings; what == "cut short" && (len(f) != 1 || !strings.Contains(f[0], name)) {
					t.Errorf("%s: %s: findings %q, expected one of it, each time", name, what, f)
				}
			}
			for _, path := range []string{"/api/state", "/api/comparison", "/api/games", "/api/learning", "/api/nets", "/api/actors", "/api/games/x"} {
				if w := ask(t, s, path); w.Code != http.StatusOK && w.Code != http.StatusNotFound {
					t.Errorf("%s %s: %s: code %d", name, what, path, w.Code)
				}
			}
		}
	}
}

func TestComparisonOrRun(t *testing.T) {
	if w := ask(t, newTestServer(t, Config{Dir: trial(t)}), "/api/comparison"); w.Code != http.StatusNotFound {
		t.Errorf("a run: code %d, expected 404", w.Code)
	}
	w, err := NewWatch(Config{Dir: comparisonDir(t, lab.PlanFile)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Report(1); !errors.Is(err, ErrNoRun) {
		t.Errorf("report of a comparison: error %v", err)
	}
}
