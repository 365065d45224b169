package nnuefit

import (
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// Optimiser names a rule by which parameters follow their gradients.
type Optimiser string

// The optimisers. All correct the bias of moments that begin at zero.
const (
	// SGD follows the mean gradient of the batch with Config.Momentum, of the
	// plain kind or of Nesterov's.
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
	// Ranger is RAdam with Lookahead (Zhang et al., 2019): every
	// lookaheadSteps steps slow weights, which begin at the first ones, move
	// half the way to the weights, which go on from there.
	Ranger Optimiser = "ranger"
)

// Optimisers returns all optimisers. A checkpoint names one by its place.
func Optimisers() []Optimiser { return []Optimiser{SGD, Adam, AdamW, RAdam, Ranger} }

func (o Optimiser) known() bool { return slices.Contains(Optimisers(), o) }

// settlePeriod is the number of steps after which every row is caught up,
// whether touched or not. It bounds the rates that must be remembered.
const settlePeriod = 256

// past is what one step does to a parameter with gradient zero:
//
//	w = keep·w − rate·m/(√v+ε) − plain·m
//
// with the moments after the step. It is what an idle row needs of a step it
// slept through; rates are then those of rows.
type past struct {
	rate  float64 // learning rate with the corrections of that step
	plain float64 // the same where the second moment is left aside
	keep  float64 // 1 − learning rate · weight decay
}

// optimiserState is the optimiser's settings, its count of steps, and the memory that
// lets idle rows catch up.
//
// A row whose features do not occur in a batch has gradient zero there. Its
// momentum still moves it, with Adam along a decaying m/√v, and visiting all
// rows for that would cost more than the rest of the step. The movement over k
// idle steps has a closed form, so a row is caught up when it is next touched.
// The form is exact in m and √v; ε, which does not decay as √v does, enters
// relative to it by its mean over the run, weighted by each step's share of the
// movement.
type optimiserState struct {
	kind                  Optimiser
	beta1, beta2, epsilon float64 // for SGD, beta1 is the momentum
	nesterov              bool
	weightDecay           float64
	rowShare              float64 // Config.RowRate

	step    uint64             // steps done
	started uint64             // steps done when the moments began at zero
	ring    [settlePeriod]past // ring[t%settlePeriod] belongs to step t
}

func newOptimiserState(cfg Config) optimiserState {
	k := optimiserState{
		kind: cfg.Optimiser, beta1: cfg.Beta1, beta2: cfg.Beta2, epsilon: cfg.Epsilon,
		weightDecay: cfg.WeightDecay, rowShare: cfg.RowRate,
	}
	switch cfg.Optimiser {
	case SGD:
		k.beta1, k.nesterov = cfg.Momentum, cfg.Nesterov
	case Adam:
		k.weightDecay = 0
	}
	return k
}

// next returns what step k.step+1 does at learning rate lr; examples are those
// the batch's gradient is the sum of.
func (k *optimiserState) next(lr float64, examples int) past {
	p := past{keep: 1 - lr*k.weightDecay}
	if k.kind == SGD {
		p.plain = lr
		if k.nesterov {
			p.plain *= k.beta1
		}
		return p
	}
	t := float64(k.step - k.started + 1)
	first := 1 - math.Pow(k.beta1, t)
	p.rate = lr * math.Sqrt(1-math.Pow(k.beta2, t)) / first
	if k.kind == RAdam || k.kind == Ranger {
		if share := rectification(k.beta2, t); share > 0 {
			p.rate *= share
		} else {
			p.rate, p.plain = 0, lr/first/float64(examples)
		}
	}
	return p
}

// rectification is RAdam's factor at step t: the share of the usual rate that
// the variance of 1/√v allows. It is 0 as long as that cannot be told, for which
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

// share returns p for parameters that learn at a share of the rate.
func (p past) share(of float64) past {
	p.rate *= of
	p.plain *= of
	return p
}

// advance records what a step did to rows.
func (k *optimiserState) advance(rows past) {
	k.step++
	k.ring[k.step%settlePeriod] = rows
}

// rule is one step as parameters of one kind take it.
type rule struct {
	adam        kernel.AdamStep
	plain       float32 // rate of m itself
	mean, ahead float32 // of SGD: share of the gradient that m takes, and Nesterov's rate of that
}

// rule returns the step p for parameters with weight decay or without.
func (k *optimiserState) rule(p past, decays bool, lr float64, examples int) rule {
	r := rule{
		adam: kernel.AdamStep{
			Beta1: float32(k.beta1), Beta2: float32(k.beta2),
			Rate: float32(p.rate), Epsilon: float32(k.epsilon), Keep: 1,
		},
		plain: float32(p.plain),
	}
	if decays {
		r.adam.Keep = float32(p.keep)
	}
	if k.kind == SGD {
		r.mean = float32(1 / float64(examples))
		if k.nesterov {
			r.ahead = float32(lr / float64(examples))
		}
	}
	return r
}

// apply makes the step with gradient g, summed over the batch.
func (r *rule) apply(x params, g []float32) {
	if r.mean == 0 {
		kernel.FloatAdam(x.w, x.m, x.v, g, &r.adam)
		if r.plain != 0 {
			kernel.FloatMix(x.w, x.m, 1, -r.plain)
		}
		return
	}
	kernel.FloatMix(x.m, g, r.adam.Beta1, r.mean)
	kernel.FloatMix(x.w, x.m, r.adam.Keep, -r.plain)
	if r.ahead != 0 {
		kernel.FloatMix(x.w, g, 1, -r.ahead)
	}
}

// drift is how far a run of steps moves a parameter with gradient zero:
//
//	w = keep·w − rate·m/(√v+ε) − plain·m
//
// with the moments before the run.
type drift struct{ keep, rate, plain float32 }

// idle is the closed form of a run of steps with zero gradient.
type idle struct {
	damped, undamped drift   // with weight decay and without
	epsilon          float32 // ε of both
	m, v             float32 // factors of the moments
}

// idleTable holds the closed forms of runs of 0..settlePeriod steps that end
// with the last step done.
type idleTable [settlePeriod + 1]idle

// fill computes the table backwards in time: putting a step before a run delays
// the run by one, which multiplies its movement by the decay of m, or of m/√v,
// and ε by the inverse decay of √v.
func (t *idleTable) fill(k *optimiserState) {
	rho := math.Sqrt(k.beta2)
	r := k.beta1 / rho
	t[0] = idle{damped: drift{keep: 1}, undamped: drift{keep: 1}, m: 1, v: 1}
	keep, m, v := 1.0, 1.0, 1.0
	var rate, plain, undampedRate, undampedPlain, weighted float64
	for n := 1; n <= settlePeriod && uint64(n) <= k.step; n++ {
		p := &k.ring[(k.step-uint64(n)+1)%settlePeriod]
		rate = r * (p.rate*keep + rate)
		plain = k.beta1 * (p.plain*keep + plain)
		undampedRate = r * (p.rate + undampedRate)
		undampedPlain = k.beta1 * (p.plain + undampedPlain)
		weighted = r / rho * (p.rate + weighted)
		keep *= p.keep
		m *= k.beta1
		v *= k.beta2
		epsilon := k.epsilon
		if undampedRate > 0 {
			epsilon *= weighted / undampedRate
		}
		t[n] = idle{
			damped:   drift{float32(keep), float32(rate), float32(plain)},
			undamped: drift{1, float32(undampedRate), float32(undampedPlain)},
			epsilon:  float32(epsilon), m: float32(m), v: float32(v),
		}
	}
}

// move writes to dst, which may be x.w, where the run leaves the weights of x.
func (d *drift) move(dst []float32, x params, epsilon float32) {
	if d.rate == 0 {
		copy(dst, x.w)
		kernel.FloatMix(dst, x.m, d.keep, -d.plain)
		return
	}
	kernel.FloatAdamIdle(dst, x.w, x.m, x.v, d.keep, d.rate, epsilon)
	if d.plain != 0 {
		kernel.FloatMix(dst, x.m, 1, -d.plain)
	}
}
