package nnuefit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// settlePeriod is the number of steps after which every row is caught up,
// whether touched or not. It bounds the rates that must be remembered.
const settlePeriod = 256

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
	rule     trainer.Rule
	rowShare float64 // Config.RowRate; 1 without factoriser

	step    uint64                      // steps done
	started uint64                      // steps done when the moments began at zero
	ring    [settlePeriod]trainer.Rates // ring[t%settlePeriod] is what step t did to rows
}

func newOptimiserState(cfg Config, factorised bool) optimiserState {
	share := 1.0
	if factorised {
		share = cfg.RowRate
	}
	return optimiserState{
		rule: trainer.Rule{
			Optimiser: cfg.Optimiser, Momentum: cfg.Momentum, Nesterov: cfg.Nesterov,
			Beta1: cfg.Beta1, Beta2: cfg.Beta2, Epsilon: cfg.Epsilon, WeightDecay: cfg.WeightDecay,
		},
		rowShare: share,
	}
}

// advance records what a step did to rows.
func (k *optimiserState) advance(rows trainer.Rates) {
	k.step++
	k.ring[k.step%settlePeriod] = rows
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
	beta1, beta2 := k.rule.MomentDecay(), k.rule.Beta2
	rho := math.Sqrt(beta2)
	r := beta1 / rho
	t[0] = idle{damped: drift{keep: 1}, undamped: drift{keep: 1}, m: 1, v: 1}
	keep, m, v := 1.0, 1.0, 1.0
	var rate, plain, undampedRate, undampedPlain, weighted float64
	for n := 1; n <= settlePeriod && uint64(n) <= k.step; n++ {
		p := &k.ring[(k.step-uint64(n)+1)%settlePeriod]
		rate = r * (p.Rate*keep + rate)
		plain = beta1 * (p.Plain*keep + plain)
		undampedRate = r * (p.Rate + undampedRate)
		undampedPlain = beta1 * (p.Plain + undampedPlain)
		weighted = r / rho * (p.Rate + weighted)
		keep *= p.Keep
		m *= beta1
		v *= beta2
		epsilon := k.rule.Epsilon
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
