package planesfit

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Optimisers returns those of package trainer that train these nets. The momentum
// of SGD is Nesterov's and its weight decay part of the gradient.
func Optimisers() []trainer.Optimiser { return []trainer.Optimiser{trainer.SGD, trainer.AdamW} }

// Config holds what training may vary. Start from DefaultConfig.
type Config struct {
	// PolicyWeight, ValueWeight and PliesWeight weigh the parts of the loss.
	PolicyWeight, ValueWeight, PliesWeight float64
	// SurpriseShare is the share of a batch's weight that is spread in
	// proportion to sample.Policy.Surprise; the rest is spread evenly.
	SurpriseShare float64
	// ScoreScale turns the scores of samples into win probabilities,
	// σ(score in raw units / ScoreScale), with 208 raw units to a pawn.
	ScoreScale float64

	// Optimiser is the rule by which parameters follow their derivatives.
	Optimiser trainer.Optimiser
	// Momentum is SGD's at rate 0. It falls in a straight line to LeastMomentum
	// at PeakRate and above: under a one-cycle schedule momentum and rate go
	// opposite ways. A PeakRate of 0 leaves it at Momentum.
	Momentum, LeastMomentum, PeakRate float64
	// Beta1, Beta2 and Epsilon are AdamW's.
	Beta1, Beta2, Epsilon float64
	// WeightDecay is that of the weights; biases and normalisations have none.
	// AdamW multiplies it by the learning rate.
	WeightDecay float64
	// GradientNorm is the largest norm of a batch's gradient; a larger one is
	// scaled down. 0 is no limit.
	GradientNorm float64
	// NormMomentum is the share of running means and variances that a step
	// replaces by the batch's.
	NormMomentum float64
	// MeanDecay is the share that the averaged net keeps per step; what is
	// measured and exported is that average. 0 exports the net as it is.
	MeanDecay float64

	// Part is how many positions are normalised together at most. It bounds
	// memory: each worker holds the activations of one part.
	Part int
	// Workers is the number of goroutines that share a batch. It does not
	// influence results.
	Workers int
}

// DefaultConfig returns the usual settings, with one worker per CPU.
func DefaultConfig() Config {
	return Config{
		PolicyWeight: 0.5, ValueWeight: 0.5, PliesWeight: 0.002, ScoreScale: 410,
		Optimiser: trainer.SGD, Momentum: 0.95, LeastMomentum: 0.8,
		Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8,
		WeightDecay: 1e-4, NormMomentum: 0.1,
		Part: 32, Workers: runtime.GOMAXPROCS(0),
	}
}

// Validate reports the first setting that is out of range. The error wraps
// trainer.ErrConfig.
func (c Config) Validate() error {
	for _, f := range []struct {
		name             string
		value, low, high float64
	}{
		{"PolicyWeight", c.PolicyWeight, 0, 1e3},
		{"ValueWeight", c.ValueWeight, 0, 1e3},
		{"PliesWeight", c.PliesWeight, 0, 1e3},
		{"SurpriseShare", c.SurpriseShare, 0, 1},
		{"ScoreScale", c.ScoreScale, 1e-3, math.MaxFloat32},
		{"Momentum", c.Momentum, 0, 0.999},
		{"LeastMomentum", c.LeastMomentum, 0, c.Momentum},
		{"PeakRate", c.PeakRate, 0, math.MaxFloat32},
		{"Beta1", c.Beta1, 0, 0.999},
		{"Beta2", c.Beta2, 0, 0.999999},
		{"Epsilon", c.Epsilon, 1e-16, 1},
		{"WeightDecay", c.WeightDecay, 0, 1},
		{"GradientNorm", c.GradientNorm, 0, math.MaxFloat32},
		{"NormMomentum", c.NormMomentum, 0, 1},
		{"MeanDecay", c.MeanDecay, 0, 0.999999},
		{"Part", float64(c.Part), 1, 4096},
		{"Workers", float64(c.Workers), 1, 1 << 16},
	} {
		if !(f.value >= f.low && f.value <= f.high) {
			return fmt.Errorf("%w: %s is %g, expected %g to %g", trainer.ErrConfig, f.name, f.value, f.low, f.high)
		}
	}
	if !slices.Contains(Optimisers(), c.Optimiser) {
		return fmt.Errorf("%w: found optimiser %q, expected one of %q", trainer.ErrConfig, c.Optimiser, Optimisers())
	}
	return nil
}
