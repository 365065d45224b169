package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// params is one group of parameters with its moments; SGD uses the first alone.
type params struct{ w, m, v []float32 }

func newParams(n int) params {
	return params{make([]float32, n), make([]float32, n), make([]float32, n)}
}

// part returns n parameters from offset at.
func (p *params) part(at, n int) params {
	return params{p.w[at : at+n : at+n], p.m[at : at+n : at+n], p.v[at : at+n : at+n]}
}

// step makes the optimiser's step with gradient g, summed over the batch.
func (p params) step(u *trainer.Update, g []float32) { u.Apply(p.w, p.m, p.v, g) }

// forget sets the moments to zero.
func (p *params) forget() {
	clear(p.m)
	clear(p.v)
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

// rows is the transformer's table of real rows, which are stepped when they are
// next looked at.
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
	x.damped.move(dst[:w], p.part(0, w), x.epsilon)
	x.undamped.move(dst[w:], p.part(w, r.length-w), x.epsilon)
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

// gap is the number of steps since row f was last stepped; rows never touched have no
// momentum and nothing to catch up.
func (r *rows) gap(f int, step uint64) int {
	if r.last[f] == 0 {
		return 0
	}
	return int(step - uint64(r.last[f]))
}
