package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
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
		case d.file == "mobility.svg" || d.file == "rounding.svg" || d.file == "triples.svg": // of positions
			if !strings.Contains(d.caption, "positions") {
				t.Errorf("%s: found %q, expected the number of positions", d.file, d.caption)
			}
		case !strings.Contains(d.caption, "games"):
			t.Errorf("%s: found %q, expected the number of games", d.file, d.caption)
		}
	}
	for _, want := range []string{"frontier.svg", "loss-elo.svg", "curves.svg", "elo-nodes.svg", "pairs-nodes.svg", "neuron-1.svg", "neuron-3.svg", "mobility.svg", "rounding.svg", "triples.svg"} {
		if !slices.Contains(files, want) {
			t.Errorf("found figures %v, expected %s too", files, want)
		}
	}
	if text := r.markdown(); !strings.Contains(text, "2 nets of each row, one to a seed") {
		t.Error("the report does not say how many games and nets its figures are from")
	}
}

// Rows that differ in two widths only make a grid, with grey where none has both; others do not.
func TestGrid(t *testing.T) {
	c := comparison(t, games(t, 1, 150))
	c.Games.Time, c.Games.Pairs = 0, 1
	for name, settings := range map[string]map[string]any{
		"narrow": {"width": 16, "l2": 8}, "wide": {"width": 32, "l2": 8}, "deep": {"width": 16, "l2": 16}, "other": {"width": 32, "l2": 16, "features": "All"},
	} {
		if settings["features"] == nil {
			settings["features"] = "Hand + H"
		}
		c.Rows = append(c.Rows, configs.CompareRow{Name: name, Settings: settings})
	}
	g, found := newPlan(t, c).gridOf()
	if !found || !slices.Equal(g.widths, []int{16, 32}) || !slices.Equal(g.hidden, []int{8, 16}) || len(g.rows) != 3 {
		t.Fatalf("found %+v, expected narrow, wide and deep", g)
	}
	d := g.draw("x.svg", "", "", "", func(row int) float64 { return float64(row) })
	h := d.figure.Rows[0][0].(*figure.Heat)
	if h.Columns != 2 || !math.IsNaN(h.Values[3]) || math.Abs(h.Values[0]+h.Values[1]+h.Values[2]) > 1e-9 {
		t.Errorf("found %v, expected three numbers about 0 and grey", h.Values)
	}
	if _, found := newPlan(t, comparison(t, c.Data[0])).gridOf(); found {
		t.Error("rows of other inputs: found a grid")
	}
	r, err := Run(t.Context(), c, options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(r.drawings(), func(d drawing) bool { return d.file == "grid-nodes.svg" }); i < 0 {
		t.Error("found no figure of the grid")
	}
}

// The figure of results by score is there where scores tell results, and names the curve.
func TestDataFigures(t *testing.T) {
	var d dataSample
	start := chess.Crazyhouse.Start()
	d.mobility.Add(&start)
	var r Results
	if err := d.draw(&r, chess.Crazyhouse); err != nil || len(r.drawn) != 1 || r.drawn[0].file != "mobility.svg" {
		t.Fatalf("found %v, error %v, expected mobility alone", r.drawn, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		score := rng.IntN(1001) - 500
		result := int8(-1)
		if rng.Float64() < logistic.Sigmoid(float64(score)/200) {
			result = 1
		}
		d.results.Add(search.Score(score), result, i%10 == 0)
	}
	r.drawn = nil
	if err := d.draw(&r, chess.Crazyhouse); err != nil || len(r.drawn) != 2 || r.drawn[0].file != "wdl.svg" {
		t.Fatalf("found %v, error %v", r.drawn, err)
	}
	if caption := r.drawn[0].caption; !strings.Contains(caption, "20000 positions of 2000 games") {
		t.Errorf("found %q", caption)
	}
}

// Positions without a result are no part of the figure of results, as if they were drawn.
func TestNoResults(t *testing.T) {
	var d dataSample
	rng := rand.New(rand.NewPCG(1, 2))
	s := sample.Sample{Pos: chess.Crazyhouse.Start()}
	for range 2000 {
		s.Score, s.Result, s.NoResult = search.Score(rng.IntN(1001)-500), -1, false
		if rng.Float64() < logistic.Sigmoid(float64(s.Score)/200) {
			s.Result = 1
		}
		d.add(&s, true)
		s.Result, s.NoResult = 0, true
		d.add(&s, true)
	}
	var r Results
	if err := d.draw(&r, chess.Crazyhouse); err != nil || len(r.drawn) != 2 || !strings.Contains(r.drawn[0].caption, "2000 positions of 2000 games") {
		t.Errorf("found %v, error %v, expected a curve of 2000 positions", r.drawn, err)
	}
}
