package planesfit

import (
	"math"
	"runtime"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/search"
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
	// LambdaBeyond takes the place of the step's λ where a sample's score is
	// beyond ±LambdaLimit. A limit of 0 is none.
	LambdaBeyond float64
	LambdaLimit  search.Score

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

// ConfigOf returns what settings mean for a Model in a run that reaches a learning
// rate of peak.
func ConfigOf(s trainer.Settings, peak float64) Config {
	c := DefaultConfig()
	c.PolicyWeight, c.ValueWeight, c.PliesWeight, c.SurpriseShare = s.PolicyWeight, s.ValueWeight, s.PliesWeight, s.Surprise
	if s.ScoreScale != 0 {
		c.ScoreScale = s.ScoreScale
	}
	c.LambdaLimit, c.LambdaBeyond = s.ScoreLimit(), s.Lambda2
	c.Optimiser, c.PeakRate = trainer.Optimiser(s.Optimiser), peak
	c.Momentum, c.LeastMomentum = s.Momentum, min(s.LeastMomentum, s.Momentum)
	c.WeightDecay, c.GradientNorm, c.MeanDecay, c.Part = s.WeightDecay, s.GradientNorm, s.MeanDecay, s.Part
	if s.Workers != 0 {
		c.Workers = s.Workers
	}
	return c
}

// Validate reports all settings that are out of range, by their names in
// trainer.Settings where they have one. Errors wrap trainer.ErrConfig.
func (c Config) Validate() error {
	wrong := check.Of(trainer.ErrConfig)
	check.Within(wrong, "policy_weight", c.PolicyWeight, 0, 1e3)
	check.Within(wrong, "value_weight", c.ValueWeight, 0, 1e3)
	check.Within(wrong, "plies_weight", c.PliesWeight, 0, 1e3)
	check.Within(wrong, "surprise", c.SurpriseShare, 0, 1)
	check.Within(wrong, "score_scale", c.ScoreScale, 1e-3, math.MaxFloat32)
	check.Within(wrong, "lambda2", c.LambdaBeyond, 0, 1)
	check.Within(wrong, "lambda_limit", c.LambdaLimit, 0, search.Infinite)
	check.OneOf(wrong, "optimiser", c.Optimiser, Optimisers()...)
	check.Within(wrong, "momentum", c.Momentum, 0, 0.999)
	check.Within(wrong, "least_momentum", c.LeastMomentum, 0, c.Momentum)
	check.Within(wrong, "lr", c.PeakRate, 0, MaxRate)
	check.Within(wrong, "beta1", c.Beta1, 0, 0.999)
	check.Within(wrong, "beta2", c.Beta2, 0, 0.999999)
	check.Within(wrong, "epsilon", c.Epsilon, 1e-16, 1)
	check.Within(wrong, "weight_decay", c.WeightDecay, 0, 1)
	check.Within(wrong, "gradient_norm", c.GradientNorm, 0, math.MaxFloat32)
	check.Within(wrong, "norm_momentum", c.NormMomentum, 0, 1)
	check.Within(wrong, "mean_decay", c.MeanDecay, 0, 0.999999)
	check.Within(wrong, "part", c.Part, 1, 4096)
	check.Within(wrong, "workers", c.Workers, 1, 1<<16)
	return wrong.Err()
}
