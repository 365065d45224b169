package nnuefit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Loss names a measure of how far a win probability q lies from its target t.
type Loss string

const (
	// PowerLoss is |q − t|^Config.Power.
	PowerLoss Loss = "power"
	// CrossEntropy is −t·log q − (1−t)·log(1−q), less the least that it can be,
	// the entropy of t, so that a perfect net has 0.
	CrossEntropy Loss = "cross-entropy"
)

// Losses returns all losses of a Model.
func Losses() []Loss { return []Loss{PowerLoss, CrossEntropy} }

// objective is the loss of one position with q = σ(gain·output).
type objective struct {
	kind        Loss
	power, gain float64
}

// at returns the loss and its derivative with respect to the output, given the
// target.
func (o objective) at(output, target float64) (loss, derivative float64) {
	x := o.gain * output
	q := logistic.Sigmoid(x)
	e := q - target
	if o.kind == CrossEntropy {
		return math.Max(logistic.Softplus(x)-target*x-entropy(target), 0), e * o.gain
	}
	f := power(math.Abs(e), o.power-1)
	return math.Abs(e) * f, math.Copysign(o.power*f, e) * q * (1 - q) * o.gain
}

// power is x to an exponent, x ≥ 0 and the exponent above 0. Every position asks
// for one, and math.Pow, exact to the last bit, takes several times as long.
func power(x, exponent float64) float64 {
	if exponent == 1.5 {
		return x * math.Sqrt(x)
	}
	return math.Exp(exponent * math.Log(x))
}

// entropy of a win probability, in nats.
func entropy(t float64) float64 {
	if t <= 0 || t >= 1 {
		return 0
	}
	return -t*math.Log(t) - (1-t)*math.Log1p(-t)
}

// objective returns the loss of the settings.
func (m *Model) objective() objective {
	return objective{kind: m.cfg.Loss, power: m.cfg.Power, gain: m.core.scales.unit / m.cfg.NetScale}
}

// mix returns how scores and results share targets at a λ.
func (m *Model) mix(lambda float64) trainer.Mix {
	return trainer.Mix{Lambda: lambda, Limit: m.cfg.LambdaLimit, Beyond: m.cfg.LambdaBeyond}
}

// target is the win probability that a sample's position should have.
func (m *Model) target(s *sample.Sample, mix trainer.Mix) float64 {
	return mix.Of(s, m.scoreTarget(s), resultTarget(s))
}

// scoreTarget is the win probability that a sample's score stands for.
func (m *Model) scoreTarget(s *sample.Sample) float64 {
	return logistic.Sigmoid((float64(s.ScoreOr0())*search.RawPerCentipawn - m.cfg.ScoreOffset) / m.cfg.ScoreScale)
}

// resultTarget is a sample's result as a win probability: 0, ½ or 1.
func resultTarget(s *sample.Sample) float64 { return (float64(s.Result) + 1) / 2 }
