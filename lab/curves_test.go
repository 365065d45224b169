package lab

import (
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// A net that learns from every position once has a curve of many points, the first of them
// early, where the last batch comes just after the epoch's checkpoint too.
func TestCurveOfOneEpoch(t *testing.T) {
	c := comparison(t, games(t, 1, 150))
	c.Seeds, c.Games.Pairs, c.Games.Time, c.Games.Puzzles = 1, 1, 0, 0
	c.Rows = c.Rows[1:]
	p := newPlan(t, c)
	size, err := p.size(t.Context(), p.Nets[0][0].Config, options(p.Dir), false)
	if err != nil {
		t.Fatal(err)
	}
	batch := uint64(60)
	for size%batch == 0 || size%batch >= batch/2 {
		batch++
	}
	c.Train["batch"], c.Train["held_out"] = batch, 20
	r, err := Run(t.Context(), c, options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	curve, samples := r.Rows[0].curve(), float64(r.Rows[0].Samples)/1e3
	if n := len(curve.X); n < 8 || curve.X[0] >= 0.2*samples || curve.X[n-1] != samples {
		t.Errorf("found points at %v thousand samples, expected at least 8 from the first fifth on to %v", curve.X, samples)
	}
	for k := 1; k < len(curve.X); k++ {
		if curve.X[k]-curve.X[k-1] < samples/100 {
			t.Errorf("points at %v and %v thousand samples of %v lie beside each other", curve.X[k-1], curve.X[k], samples)
		}
	}
}

// A checkpoint just before the end is no point of a curve. Nets with many points, of which
// others have few, are measured where the others are.
func TestCurve(t *testing.T) {
	fine := []point{{0, 10}, {1000, 8}, {4000, 5}, {5000, 4}, {8000, 3}, {10000, 1}}
	for _, tc := range []struct {
		name   string
		curves [][]point
		want   figure.Curve
	}{
		{"the end", [][]point{{{0, 9}, {9900, 2}, {10000, 1}}}, figure.Curve{X: []float64{0, 10}, Y: []float64{9, 1}, Low: []float64{9, 1}, High: []float64{9, 1}}},
		{"few and many", [][]point{{{0, 9}, {4500, 2}, {10000, 1}}, fine}, figure.Curve{X: []float64{4.5, 10}, Y: []float64{3.25, 1}, Low: []float64{2, 1}, High: []float64{4.5, 1}}},
		{"many and few", [][]point{fine, {{0, 9}, {4500, 2}, {11000, 2}}}, figure.Curve{X: []float64{4.5, 11}, Y: []float64{3.25, 1.5}, Low: []float64{2, 1}, High: []float64{4.5, 2}}},
		{"none measured", [][]point{nil, nil}, figure.Curve{}},
	} {
		got := (&Row{curves: tc.curves}).curve()
		if !slices.Equal(got.X, tc.want.X) || !slices.Equal(got.Y, tc.want.Y) || !slices.Equal(got.Low, tc.want.Low) || !slices.Equal(got.High, tc.want.High) {
			t.Errorf("%s: found %+v, expected %+v", tc.name, got, tc.want)
		}
	}
}
