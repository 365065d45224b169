package trainer

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// CheckFit reports what a Model cannot make a step with: an empty batch, a
// learning rate beyond the highest of the model, or a lambda out of range. The
// error wraps ErrConfig.
func CheckFit(batch int, h Hyper, maxRate float64) error {
	if batch == 0 {
		return fmt.Errorf("%w: empty batch", ErrConfig)
	}
	if !(h.LearningRate >= 0 && h.LearningRate <= maxRate) {
		return fmt.Errorf("%w: learning rate %g, expected 0 to %g", ErrConfig, h.LearningRate, maxRate)
	}
	if !(h.Lambda >= 0 && h.Lambda <= 1) {
		return fmt.Errorf("%w: lambda %g, expected 0 to 1", ErrConfig, h.Lambda)
	}
	return nil
}

// Finite returns ErrDiverged if a loss or a norm is not finite.
func Finite(x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ErrDiverged
	}
	return nil
}

// Mix says how the score and the result of a sample share its target.
type Mix struct {
	Lambda float64 // share of the score, 0 to 1; the rest is the result's
	// Limit, if above 0, is the score beyond which Beyond takes Lambda's place, on
	// either side.
	Limit  search.Score
	Beyond float64
}

// Of mixes the probabilities that the score and the result of s stand for. Without a
// result the score is all.
func (m Mix) Of(s *sample.Sample, score, result float64) float64 {
	if s.NoResult {
		return score
	}
	lambda := m.Lambda
	if found := s.ScoreOr0(); m.Limit > 0 && (found > m.Limit || found < -m.Limit) {
		lambda = m.Beyond
	}
	return lambda*score + (1-lambda)*result
}

// MeanKeep is the share that an averaged net keeps at a step, counted from 1,
// given the share that it keeps in the long run. Early on its memory is short,
// so that the first weights are soon forgotten.
func MeanKeep(decay float64, step uint64) float64 {
	t := float64(step)
	return min(decay, (1+t)/(10+t))
}
