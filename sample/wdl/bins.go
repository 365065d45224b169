package wdl

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// Bin is the positions with scores in a range, Low ≤ score < High centipawns.
type Bin struct {
	Low       int     `json:"low"`
	High      int     `json:"high"`
	Positions uint64  `json:"positions"`
	Score     float64 `json:"score"`    // mean, centipawns
	Observed  float64 `json:"observed"` // mean result, 0 to 1, draws counting half
	Error     float64 `json:"error"`    // standard error of Observed, as games vary
	Drawn     float64 `json:"drawn"`    // share of positions of drawn games
	Fitted    float64 `json:"fitted"`   // mean of the curve
}

// Bins returns what the scores within ±limit centipawns, and at the ends all
// beyond, say and come to, in bins of the given width of which one is centred on
// 0. Empty bins are left out.
func (t *Tally) Bins(c *Curve, width, limit int) []Bin {
	half := (limit + width/2) / width
	counts := make([][groups]results, 2*half+1)
	scores, fitted := make([]float64, len(counts)), make([]float64, len(counts))
	for _, score := range t.scores() {
		cell := t.cells[score]
		i := int(math.Floor(float64(int(score)+width/2)/float64(width))) + half
		i = min(max(i, 0), 2*half)
		for k := range cell {
			for outcome, n := range cell[k] {
				counts[i][k][outcome] += n
			}
			n := float64(cell[k].n())
			scores[i] += n * float64(score)
			fitted[i] += n * c.At(float64(score))
		}
	}
	var bins []Bin
	for i := range counts {
		var all results
		for k := range groups {
			for outcome, n := range counts[i][k] {
				all[outcome] += n
			}
		}
		n := float64(all.n())
		if n == 0 {
			continue
		}
		low := (i-half)*width - width/2
		bins = append(bins, Bin{
			Low: low, High: low + width, Positions: all.n(), Score: scores[i] / n, Observed: all.points() / n,
			Error: errorOfMean(&counts[i], &all), Drawn: float64(all[1]) / n, Fitted: fitted[i] / n,
		})
	}
	return bins
}

// errorOfMean is the standard error of the mean result, that of a bin in a
// single group what it would be if positions were independent.
func errorOfMean(byGroup *[groups]results, all *results) float64 {
	var j jackknife
	n, won := float64(all.n()), all.points()
	for k := range byGroup {
		if r := &byGroup[k]; r.n() > 0 && r.n() < all.n() {
			j.add((won - r.points()) / (n - float64(r.n())))
		}
	}
	if j.n < 2 {
		return math.Sqrt(won / n * (1 - won/n) / n)
	}
	return j.error()
}

// Draw draws observed results, with bars of two standard errors, and the curve.
func Draw(title string, c *Curve, bins []Bin) *figure.Figure {
	observed := figure.Curve{Name: "observed, ± 2 standard errors"}
	fitted := figure.Curve{Name: fmt.Sprintf("σ((score %+.1f) / %.1f)", -c.A, c.B)}
	low, high := math.Inf(1), math.Inf(-1)
	for _, b := range bins {
		observed.X, observed.Y = append(observed.X, b.Score), append(observed.Y, b.Observed)
		observed.Errors = append(observed.Errors, 2*b.Error)
		low, high = min(low, b.Score), max(high, b.Score)
	}
	const steps = 200
	for i := range steps + 1 {
		x := low + (high-low)*float64(i)/steps
		fitted.X, fitted.Y = append(fitted.X, x), append(fitted.Y, c.At(x))
	}
	return &figure.Figure{Title: title, Rows: [][]figure.Panel{{
		&figure.Lines{
			Title: "result by score", XLabel: "score, centipawns", YLabel: "expected result",
			Curves: []figure.Curve{observed, fitted}, LegendLeft: true,
		},
	}}}
}
