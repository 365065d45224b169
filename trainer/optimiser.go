package trainer

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// Optimiser names a rule by which parameters follow their gradients.
type Optimiser string

// The optimisers. All correct the bias of moments that begin at zero.
const (
	// SGD follows the mean gradient of the batch with momentum, of the plain kind
	// or of Nesterov's.
	SGD Optimiser = "sgd"
	// Adam divides by the root of the second moment (Kingma and Ba, 2014). It
	// has no weight decay.
	Adam Optimiser = "adam"
	// AdamW is Adam with weight decay beside the gradient (Loshchilov and
	// Hutter, 2017).
	AdamW Optimiser = "adamw"
	// RAdam is AdamW with rectified rates (Liu et al., 2019): small as long as
	// the second moment has seen little. In its very first steps, five at the
	// usual Beta2, it is SGD with the bias-corrected first moment.
	RAdam Optimiser = "radam"
	// Ranger is RAdam with Lookahead (Zhang et al., 2019), slow weights that the
	// model keeps beside its parameters.
	Ranger Optimiser = "ranger"
)

// Optimisers returns all optimisers. Checkpoints may name one by its place.
func Optimisers() []Optimiser { return []Optimiser{SGD, Adam, AdamW, RAdam, Ranger} }

// Rule is an optimiser with its settings.
type Rule struct {
	Optimiser Optimiser
	// Momentum is SGD's, 0 for none; Nesterov looks one step ahead.
	Momentum float64
	Nesterov bool
	// Beta1, Beta2 and Epsilon are those of Adam and its variants. Epsilon is added
	// to √v before its bias correction.
	Beta1, Beta2, Epsilon float64
	// WeightDecay, beside the gradient, is multiplied by the learning rate. Adam
	// ignores it.
	WeightDecay float64
	// DecayInGradient makes SGD's weight decay part of the gradient, as most
	// frameworks have it; the step along the gradient then comes before that
	// along the momentum.
	DecayInGradient bool
}

// MomentDecay is the share of the first moment that a step keeps.
func (r *Rule) MomentDecay() float64 {
	if r.Optimiser == SGD {
		return r.Momentum
	}
	return r.Beta1
}

// Rates is what one step does to a parameter whose gradient is zero:
//
//	w = Keep·w − Rate·m/(√v+ε) − Plain·m
//
// with the moments after the step. Keep is for parameters with weight decay.
type Rates struct {
	Rate  float64 // learning rate with the corrections of that step
	Plain float64 // the same where the second moment is left aside
	Keep  float64 // 1 − learning rate · weight decay
}

// Rates returns those of step number age, from 1, since the moments began at
// zero, at learning rate lr. examples are those the batch's gradient is the sum
// of: 1 for a mean.
func (r *Rule) Rates(age uint64, lr float64, examples int) Rates {
	p := Rates{Keep: 1}
	if r.Optimiser != Adam && !(r.Optimiser == SGD && r.DecayInGradient) {
		p.Keep = 1 - lr*r.WeightDecay
	}
	if r.Optimiser == SGD {
		p.Plain = lr
		if r.Nesterov {
			p.Plain *= r.Momentum
		}
		return p
	}
	t := float64(age)
	first := 1 - math.Pow(r.Beta1, t)
	p.Rate = lr * math.Sqrt(1-math.Pow(r.Beta2, t)) / first
	if r.Optimiser == RAdam || r.Optimiser == Ranger {
		if share := rectification(r.Beta2, t); share > 0 {
			p.Rate *= share
		} else {
			p.Rate, p.Plain = 0, lr/first/float64(examples)
		}
	}
	return p
}

// Times returns the rates of parameters that learn at a share of the learning
// rate; their weight decay is the same.
func (p Rates) Times(share float64) Rates {
	p.Rate *= share
	p.Plain *= share
	return p
}

// rectification is RAdam's factor at step t: the share of the usual rate that
// the variance of 1/√v allows. It is 0 as long as that cannot be estimated, for which
// the usual bound is 5, not the 4 of the theory.
func rectification(beta2, t float64) float64 {
	const tractable = 5
	decay := math.Pow(beta2, t)
	most := 2/(1-beta2) - 1
	length := most - 2*t*decay/(1-decay)
	if length <= tractable {
		return 0
	}
	return math.Sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
}

// Update is one step as parameters of one kind take it.
type Update struct {
	adam  kernel.AdamStep
	plain float32 // rate of m itself
	// Of SGD: the share of the gradient that m takes, Nesterov's rate of the
	// gradient, and the weight decay that is part of the gradient.
	sgd                 bool
	mean, ahead, inGrad float32
	gradientFirst       bool
}

// Update returns the step with the given rates at learning rate lr, for
// parameters with weight decay or without.
func (r *Rule) Update(p Rates, lr float64, examples int, decays bool) Update {
	u := Update{
		adam: kernel.AdamStep{
			Beta1: float32(r.MomentDecay()), Beta2: float32(r.Beta2),
			Rate: float32(p.Rate), Epsilon: float32(r.Epsilon), Keep: 1,
		},
		plain: float32(p.Plain),
		sgd:   r.Optimiser == SGD, gradientFirst: r.DecayInGradient,
	}
	if decays {
		u.adam.Keep = float32(p.Keep)
	}
	if u.sgd {
		u.mean = float32(1 / float64(examples))
		if r.Nesterov {
			u.ahead = float32(lr / float64(examples))
		}
		if decays && r.DecayInGradient {
			u.inGrad = float32(r.WeightDecay * float64(examples)) // of a sum
		}
	}
	return u
}

// Apply makes the step on weights w with first and second moments m and v, which
// SGD does not use, and gradient g, to which SGD may add weight decay. All have
// one length.
func (u *Update) Apply(w, m, v, g []float32) {
	if !u.sgd {
		kernel.FloatAdam(w, m, v, g, &u.adam)
		if u.plain != 0 {
			kernel.FloatMix(w, m, 1, -u.plain)
		}
		return
	}
	if u.inGrad != 0 {
		kernel.FloatMix(g, w, 1, u.inGrad)
	}
	kernel.FloatMix(m, g, u.adam.Beta1, u.mean)
	if u.gradientFirst {
		u.lookAhead(w, g)
	}
	kernel.FloatMix(w, m, u.adam.Keep, -u.plain)
	if !u.gradientFirst {
		u.lookAhead(w, g)
	}
}

// lookAhead makes Nesterov's part of the step, along the gradient itself.
func (u *Update) lookAhead(w, g []float32) {
	if u.ahead != 0 {
		kernel.FloatMix(w, g, 1, -u.ahead)
	}
}
