package nnuefit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// params is one group of parameters with its Adam moments.
type params struct{ w, m, v []float32 }

func newParams(n int) params {
	return params{make([]float32, n), make([]float32, n), make([]float32, n)}
}

// part returns n parameters from offset at.
func (p *params) part(at, n int) params {
	return params{p.w[at : at+n : at+n], p.m[at : at+n : at+n], p.v[at : at+n : at+n]}
}

// settlePeriod is the number of steps after which every row is caught up,
// whether touched or not. It bounds the rates that must be remembered.
const settlePeriod = 256

// past is what an idle row needs of one step it slept through.
type past struct {
	rate float64 // rows' learning rate with the bias corrections of that step
	keep float64 // 1 − learning rate · weight decay
}

// adam is the optimiser's clock and the memory that lets idle rows catch up.
//
// A row whose features do not occur in a batch has gradient zero there. Adam
// still moves it, along a decaying m/√v, and visiting all rows for that would
// cost more than the rest of the step. The movement over k idle steps has a
// closed form, so a row is caught up when it is next touched. The form is exact
// in m and √v; ε, which does not decay as √v does, enters relative to it by its
// mean over the run, weighted by each step's share of the movement.
type adam struct {
	beta1, beta2, epsilon, weightDecay float64
	rowShare                           float64 // Config.RowRate

	step uint64             // steps done
	ring [settlePeriod]past // ring[t%settlePeriod] belongs to step t
}

// next returns the entry of step t = a.step+1 and the kernel arguments of its
// parameters other than rows, which move at the entry's rate.
func (a *adam) next(lr float64) (past, kernel.AdamStep) {
	t := float64(a.step + 1)
	root := math.Sqrt(1 - math.Pow(a.beta2, t))
	rate := lr * root / (1 - math.Pow(a.beta1, t))
	p := past{rate: rate * a.rowShare, keep: 1 - lr*a.weightDecay}
	return p, kernel.AdamStep{
		Beta1: float32(a.beta1), Beta2: float32(a.beta2),
		Rate: float32(rate), Epsilon: float32(a.epsilon), Keep: float32(p.keep),
	}
}

// advance records p as done.
func (a *adam) advance(p past) {
	a.step++
	a.ring[a.step%settlePeriod] = p
}

// idle is the closed form of a run of steps with zero gradient.
type idle struct {
	keep, drift   float32 // weights under decay: w = keep·w − drift·m/(√v+ε)
	driftUndamped float32 // the same for parameters without weight decay
	epsilon       float32
	m, v          float32 // factors of the moments
}

// idleTable holds the closed forms of runs of 0..settlePeriod steps that end
// with the last step done.
type idleTable [settlePeriod + 1]idle

// fill computes the table backwards in time: putting a step before a run delays
// the run by one, which multiplies its movement by the decay r of m/√v and ε by
// the inverse decay of √v.
func (t *idleTable) fill(a *adam) {
	rho := math.Sqrt(a.beta2)
	r := a.beta1 / rho
	t[0] = idle{keep: 1, m: 1, v: 1}
	keep, drift, undamped, weighted, m, v := 1.0, 0.0, 0.0, 0.0, 1.0, 1.0
	for k := 1; k <= settlePeriod && uint64(k) <= a.step; k++ {
		p := &a.ring[(a.step-uint64(k)+1)%settlePeriod]
		drift = r * (p.rate*keep + drift)
		undamped = r * (p.rate + undamped)
		weighted = r / rho * (p.rate + weighted)
		keep *= p.keep
		m *= a.beta1
		v *= a.beta2
		epsilon := a.epsilon
		if undamped > 0 {
			epsilon *= weighted / undamped
		}
		t[k] = idle{
			keep: float32(keep), drift: float32(drift), driftUndamped: float32(undamped),
			epsilon: float32(epsilon), m: float32(m), v: float32(v),
		}
	}
}

// table is a table of transformer rows.
type table struct {
	params                // [rows][stride]
	count, length, stride int
}

func newTable(count int, s *shape) table {
	return table{newParams(count * s.stride()), count, s.row(), s.stride()}
}

// row returns row r without what fills it up to the stride.
func (t *table) row(r int) params { return t.part(r*t.stride, t.length) }

// rows is the transformer's table of real rows under lazy Adam.
type rows struct {
	table
	last  []uint32 // [features] step up to which a row is current; 0: never touched
	width int
}

func newRows(s *shape) rows {
	return rows{table: newTable(s.features, s), last: make([]uint32, s.features), width: s.width}
}

// peek writes row f as of the last step done to dst and changes nothing.
func (r *rows) peek(dst []float32, f int, t *idleTable, step uint64) {
	p := r.row(f)
	gap := r.gap(f, step)
	if gap == 0 {
		copy(dst, p.w)
		return
	}
	x, w := &t[gap], r.width
	kernel.FloatAdamIdle(dst[:w], p.w[:w], p.m[:w], p.v[:w], x.keep, x.drift, x.epsilon)
	kernel.FloatAdamIdle(dst[w:], p.w[w:], p.m[w:], p.v[w:], 1, x.driftUndamped, x.epsilon)
}

// settle brings row f up to the last step done; the weights get the bits that
// peek reports.
func (r *rows) settle(f int, t *idleTable, step uint64) {
	gap := r.gap(f, step)
	if gap == 0 {
		return
	}
	p := r.row(f)
	r.peek(p.w, f, t, step)
	kernel.FloatScale(p.m, t[gap].m)
	kernel.FloatScale(p.v, t[gap].v)
	r.last[f] = uint32(step)
}

// gap is the number of steps row f has slept; rows never touched have no
// momentum and nothing to catch up.
func (r *rows) gap(f int, step uint64) int {
	if r.last[f] == 0 {
		return 0
	}
	return int(step - uint64(r.last[f]))
}
