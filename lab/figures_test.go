package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

func TestSteps(t *testing.T) {
	x, y := steps([]xy{{1, 5}, {2, 9}, {3, 4}, {4, 6}, {5, 1}, {5, 0}, {2, 3}})
	if !slices.Equal(x, []float64{2, 2, 4, 4, 5}) || !slices.Equal(y, []float64{9, 6, 6, 1, 1}) {
		t.Errorf("found %v, %v, expected steps over (2,9), (4,6) and (5,1)", x, y)
	}
}

// Every figure says what it shows and what it is made from; the neurons are those of the best row
// of kind nnue; rows that minimise different losses are not in one panel.
func TestDrawings(t *testing.T) {
	c := comparison(t, games(t, 1, 150))
	c.Games.Time = 0
	c.Rows = append(c.Rows, configs.CompareRow{Name: "other loss", Settings: map[string]any{"loss": "cross-entropy"}})
	dir := t.TempDir()
	r, err := Run(t.Context(), c, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	best := slices.MaxFunc(r.Rows, func(a, b Row) int { return int(a.Elo[AtNodes].Elo - b.Elo[AtNodes].Elo) })
	var files []string
	for _, d := range r.drawings() {
		files = append(files, d.file)
		switch {
		case strings.HasPrefix(d.file, "neuron"):
			if !strings.Contains(d.caption, best.Name) || !strings.Contains(d.caption, "one net") {
				t.Errorf("%s: found %q, expected the row %s", d.file, d.caption, best.Name)
			}
		case d.file == "curves.svg" || d.file == "loss-elo.svg":
			if len(d.figure.Rows) != 2 {
				t.Errorf("%s: found %d panels, expected one for each loss", d.file, len(d.figure.Rows))
			}
		case !strings.Contains(d.caption, "games"):
			t.Errorf("%s: found %q, expected the number of games", d.file, d.caption)
		}
	}
	for _, want := range []string{"frontier.svg", "loss-elo.svg", "curves.svg", "elo-nodes.svg", "pairs-nodes.svg", "neuron-1.svg", "neuron-3.svg"} {
		if !slices.Contains(files, want) {
			t.Errorf("found figures %v, expected %s too", files, want)
		}
	}
	if text := r.markdown(); !strings.Contains(text, "2 nets of each row, one to a seed") {
		t.Error("the report does not say how many games and nets its figures are from")
	}
}
