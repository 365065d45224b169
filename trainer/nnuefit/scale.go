package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/wdl"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrNoFit says that samples do not determine a win-probability scale.
var ErrNoFit = wdl.ErrNoFit

// FitScale fits W = σ((s − a)/b) to samples by maximum likelihood, s being the
// score in raw units seen by the side to move, draws counting half. b is what
// Config.ScoreScale wants, a, the score of an even chance, Config.ScoreOffset.
// Samples without a score, or without a result, are left out. Errors wrap ErrNoFit and are those of
// wdl.Tally.Fit, which leaves mate scores out.
func FitScale(samples []sample.Sample) (a, b float64, err error) {
	var t wdl.Tally
	for i := range samples {
		if s := &samples[i]; s.HasScore() && !s.NoResult {
			t.Add(s.Score, s.Result, true)
		}
	}
	c, err := t.Fit()
	return c.A * search.RawPerCentipawn, c.B * search.RawPerCentipawn, err
}
