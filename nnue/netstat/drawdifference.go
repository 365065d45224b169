package netstat

import (
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
)

// Bars and points of the panels of a difference.
const (
	differenceBars = 80
	densityBins    = 100
	// shown is the share of positions that the panels reach to; the outermost bars hold
	// those beyond.
	shown = 0.999
)

// Draw draws what d sums up: how the values of both nets are spread, and histograms of the
// differences in win probability and in raw units.
func (d *Difference) Draw(float, integer []float64) *figure.Figure {
	wins, sizes := make([]float64, len(float)), make([]float64, len(float))
	mean := 0.0
	for i := range float {
		wins[i] = logistic.Sigmoid(integer[i]/d.Scale) - logistic.Sigmoid(float[i]/d.Scale)
		sizes[i] = math.Abs(wins[i])
		mean += wins[i] / float64(d.Positions)
	}
	reach := 1.2 * max(Percentile(slices.Sorted(slices.Values(sizes)), shown), 1e-6)
	win := histogram(wins, -reach, 2*reach/differenceBars)
	win.Title, win.XLabel = fmt.Sprintf("mean %+.5f, at most %.4f", mean, d.MaxWin), fmt.Sprintf("win probability, σ(value / %g)", d.Scale)
	win.YLabel, win.Marks = "share of positions", []float64{mean}

	reach = max(1.2*NearUnits, 1.2*d.P999)
	raw := histogram(differences(float, integer), -reach, 2*reach/differenceBars)
	raw.Title = fmt.Sprintf("mean %.2f, deviation %.2f, 99.9 %% within %.1f", d.Mean, d.Deviation, d.P999)
	raw.XLabel, raw.YLabel, raw.Marks = "raw units; the outermost bars hold what lies beyond", "share of positions", []float64{-NearUnits, NearUnits}
	return &figure.Figure{
		Title: fmt.Sprintf("Integer net less float net, %d positions", len(float)),
		Rows:  [][]figure.Panel{{spread(float, integer)}, {win, raw}},
	}
}

func differences(float, integer []float64) []float64 {
	list := make([]float64, len(float))
	for i := range list {
		list[i] = integer[i] - float[i]
	}
	return list
}

// histogram counts values in bars from low on, those beyond the ends in the outermost.
func histogram(values []float64, low, width float64) *figure.Histogram {
	h := &figure.Histogram{Low: low, Width: width, Heights: make([]float64, differenceBars)}
	for _, v := range values {
		i := min(max((v-low)/width, 0), differenceBars-1)
		h.Heights[int(i)] += 1 / float64(len(values))
	}
	return h
}

// spread is the density of the values of both nets, as a logarithm: tails are seen too.
func spread(float, integer []float64) *figure.Lines {
	sizes := make([]float64, len(float))
	for i, v := range float {
		sizes[i] = math.Abs(v)
	}
	reach := max(Percentile(slices.Sorted(slices.Values(sizes)), shown), 1)
	p := &figure.Lines{Title: "values of both nets", XLabel: "raw units, 208 a pawn", YLabel: "log10 of the density", LegendBeside: true}
	for _, c := range []struct {
		name   string
		values []float64
	}{{"integer", integer}, {"float", float}} {
		var counts [densityBins]float64
		width := 2 * reach / densityBins
		for _, v := range c.values {
			if i := math.Floor((v + reach) / width); i >= 0 && i < densityBins {
				counts[int(i)]++
			}
		}
		curve := figure.Curve{Name: c.name, Dashed: c.name == "float"}
		for i, n := range counts {
			curve.X = append(curve.X, -reach+(float64(i)+0.5)*width)
			curve.Y = append(curve.Y, math.Log10(n/width/float64(len(c.values)))) // of none -Inf, which is left out
		}
		p.Curves = append(p.Curves, curve)
	}
	return p
}
