package nnuefit

import (
	"errors"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// ErrNoFit says that samples do not determine a win-probability scale.
var ErrNoFit = errors.New("scores do not determine a scale")

// Bounds of a fitted scale in raw units. A scale below minScale would call a
// tenth of a pawn decisive, one above maxScale ten pawns nothing.
const (
	minScale = 20
	maxScale = 10000
)

// fitUnit keeps the numbers of the fit near 1, in raw units.
const fitUnit = 600

// FitScale fits W = σ((s − a)/b) to samples by maximum likelihood, s being the
// score in raw units seen by the side to move, draws counting half. b is what
// Config.ScoreScale wants; a, the score of an even chance, should be near zero.
// Mate scores are left out: they would pull the scale towards their arbitrary
// size. Errors wrap ErrNoFit: fewer than 100 usable samples, results of one
// kind only, or scores that tell nothing about results or everything.
func FitScale(samples []sample.Sample) (a, b float64, err error) {
	xs, ys := make([]float64, 0, len(samples)), make([]float64, 0, len(samples))
	sum := 0.0
	for i := range samples {
		if s := &samples[i]; !s.Score.IsMate() {
			xs = append(xs, float64(s.Score)*rawPerCentipawn/fitUnit)
			ys = append(ys, resultTarget(s))
			sum += resultTarget(s)
		}
	}
	if len(xs) < 100 {
		return 0, 0, fmt.Errorf("%w: found %d samples without mate scores, expected 100 or more", ErrNoFit, len(xs))
	}
	if sum == 0 || sum == float64(len(xs)) {
		return 0, 0, fmt.Errorf("%w: all results are alike", ErrNoFit)
	}
	intercept, slope := fitLogistic(xs, ys)
	b = fitUnit / slope
	if !(slope > 0 && b >= minScale && b <= maxScale) {
		return 0, 0, fmt.Errorf("%w: fitted scale %.4g, expected %d to %d raw units", ErrNoFit, b, minScale, maxScale)
	}
	return -intercept / slope * fitUnit, b, nil
}

// fitLogistic maximises the likelihood of y under σ(intercept + slope·x) by
// Newton's method, damped so that separable data cannot run away in one step.
func fitLogistic(xs, ys []float64) (intercept, slope float64) {
	const (
		steps     = 50
		maxChange = 1.0
		enough    = 1e-10
	)
	for range steps {
		var g0, g1, h00, h01, h11 float64
		for i, x := range xs {
			p := sigmoid(intercept + slope*x)
			d, w := ys[i]-p, p*(1-p)
			g0, g1 = g0+d, g1+d*x
			h00, h01, h11 = h00+w, h01+w*x, h11+w*x*x
		}
		det := h00*h11 - h01*h01
		if !(det > 1e-12) {
			break
		}
		d0, d1 := (h11*g0-h01*g1)/det, (h00*g1-h01*g0)/det
		if size := math.Max(math.Abs(d0), math.Abs(d1)); size > maxChange {
			d0, d1 = d0*maxChange/size, d1*maxChange/size
		}
		intercept, slope = intercept+d0, slope+d1
		if math.Abs(d0)+math.Abs(d1) < enough {
			break
		}
	}
	return intercept, slope
}
