package nnuefit

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Load lets training go on from an integer network of the same architecture: the
// reverse of Network, with no memory of an optimiser. Network gives the same
// integers again, but those beyond the limits that training keeps, which are cut
// to them; their number is returned. It counts as a step. Errors wrap
// nnue.ErrArchitecture; nothing has changed then.
func (m *Model) Load(n *nnue.Network) (cut int, err error) {
	if found := n.Architecture(); found != m.arch {
		return 0, fmt.Errorf("%w: found %v, expected %v", nnue.ErrArchitecture, found, m.arch)
	}
	sc, lim := m.core.scales, m.core.limits
	c := newCore(m.core.shape, m.cfg, sc, lim)
	l := loader{}
	load(&l, c.layout.bias(c.dense.w), n.FTBias, sc.transformer, lim.transformer)
	// The virtual rows stay 0: all that is known lies in the real ones.
	for f := range c.features {
		row := c.rows.row(f).w
		load(&l, row[:c.width], n.FTRow(f), sc.transformer, lim.transformer)
		load(&l, row[c.width:c.row()], n.PSQTRow(f), sc.output, math.MaxFloat32)
	}
	for b := range n.Stacks {
		to, from := c.layout.stack(c.dense.w, b), &n.Stacks[b]
		load(&l, to.b1, from.L1Bias, sc.hiddenBias, math.MaxFloat32)
		l.transposed(to.w1, from.L1Weights, c.l2, c.inputs(), sc.hidden, lim.hidden)
		load(&l, to.b2, from.L2Bias, sc.hiddenBias, math.MaxFloat32)
		l.transposed(to.w2, from.L2Weights, c.l3, m.arch.L2Stride(), sc.hidden, lim.hidden)
		load(&l, to.b3, []int32{from.OutBias}, sc.output, math.MaxFloat32)
		l.transposed(to.w3, from.OutWeights, 1, m.arch.OutStride(), sc.outWeight, lim.output)
	}
	// Only rows of a step are part of a checkpoint, see storedRows.
	c.optimiser.step, c.optimiser.started = 1, 1
	for f := range c.rows.last {
		c.rows.last[f] = 1
	}
	c.idle.fill(&c.optimiser)
	c.startMean(m.cfg.MeanDecay)
	c.startSlow()
	m.core, m.start = c, ""
	return l.cut, nil
}

// loader turns integers into weights and counts those it cuts.
type loader struct{ cut int }

func (l *loader) weight(v int, factor float64, limit float32) float32 {
	x := float32(float64(v) / factor)
	// What rounds to the limit is within it.
	if math.Abs(float64(v)) > math.RoundToEven(float64(limit)*factor) {
		l.cut++
		return min(max(x, -limit), limit)
	}
	return x
}

func load[T int16 | int32](l *loader, dst []float32, src []T, factor float64, limit float32) {
	for i := range dst {
		dst[i] = l.weight(int(src[i]), factor, limit)
	}
}

// transposed is the reverse of quantiser.transposed.
func (l *loader) transposed(dst []float32, src []int8, outputs, stride int, factor float64, limit float32) {
	for i := range dst {
		dst[i] = l.weight(int(src[i%outputs*stride+i/outputs]), factor, limit)
	}
}
