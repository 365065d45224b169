package nnuefit

import (
	"fmt"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// scales are the integers per 1.0 of float, as an architecture wants them. For
// Fairy-Stockfish's they are the factors of variant-nnue-pytorch's serialiser.
// Every value is rounded to the nearest integer, ties to even.
type scales struct {
	unit        float64 // raw units of the output
	transformer float64
	hidden      float64 // weights of hidden layers
	hiddenBias  float64
	output      float64 // output bias and PSQT
	outWeight   float64
}

func newScales(arch nnue.Architecture) scales {
	const activation = nnue.ActivationScale
	output := float64(arch.Units * arch.OutputScale)
	return scales{
		unit:        float64(arch.Units),
		transformer: activation,
		hidden:      float64(arch.LayerScale),
		hiddenBias:  float64(arch.LayerScale * activation),
		output:      output,
		outWeight:   output / activation,
	}
}

// quantLimits are the magnitudes that fit the integer net, or less where the
// settings say so: int8 layer weights, and transformer entries of which bias and
// the most active rows together stay within int16.
func quantLimits(set features.Set, arch nnue.Architecture, cfg Config) limits {
	sc := newScales(arch)
	entry := math.MaxInt16 / (set.MaxActive() + 1)
	limit := func(asked, most float64) float32 {
		if asked > 0 {
			most = min(asked, most)
		}
		return float32(most)
	}
	return limits{
		hidden:      limit(cfg.HiddenLimit, math.MaxInt8/sc.hidden),
		output:      limit(cfg.OutputLimit, math.MaxInt8/sc.outWeight),
		transformer: limit(cfg.TransformerLimit, float64(entry)/sc.transformer),
	}
}

// Network rounds the averaged net to an integer network. It fails with ErrOverflow, or
// nnue.ErrOverflow, if a value does not fit or a sum could overflow.
func (m *Model) Network() (*nnue.Network, error) {
	n, err := nnue.New(m.arch)
	if err != nil {
		return nil, err
	}
	q := quantiser{}
	c, sc := m.core.averaged(), m.core.scales
	c.denseWeights()
	q.int16s(n.FTBias, c.layout.bias(c.used), sc.transformer, "transformer bias")
	row := make([]float32, c.row())
	for f := range c.features {
		c.rows.peek(row, f, &c.idle, c.optimiser.step)
		if c.virtual > 0 {
			kernel.FloatAdd(row, c.virtualRows.row(int(c.toVirtual[f])).w)
		}
		kernel.FloatClampSum(row[:c.width], nil, c.limits.transformer)
		c.quantiseRow(row)
		q.int16s(n.FTRow(f), row[:c.width], sc.transformer, "transformer row")
		q.int32s(n.PSQTRow(f), row[c.width:], sc.output, "PSQT row")
	}
	shared := c.layout.sharedW1(c.dense.w)
	w1 := make([]float32, len(shared))
	for b := range n.Stacks {
		from, to := c.layout.stack(c.used, b), &n.Stacks[b]
		copy(w1, c.layout.stack(c.dense.w, b).w1)
		kernel.FloatAdd(w1, shared)
		c.quantise(w1, sc.hidden)
		q.int32s(to.L1Bias, from.b1, sc.hiddenBias, "layer 1 bias")
		q.transposed(to.L1Weights, w1, c.l2, c.inputs(), sc.hidden, "layer 1 weight")
		q.int32s(to.L2Bias, from.b2, sc.hiddenBias, "layer 2 bias")
		q.transposed(to.L2Weights, from.w2, c.l3, m.arch.L2Stride(), sc.hidden, "layer 2 weight")
		to.OutBias = int32(q.round(from.b3[0], sc.output, math.MaxInt32, "output bias"))
		q.transposed(to.OutWeights, from.w3, 1, m.arch.OutStride(), sc.outWeight, "output weight")
	}
	if q.err != nil {
		return nil, q.err
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	return n, nil
}

// quantiser rounds to integers and keeps the first value that does not fit.
type quantiser struct{ err error }

func (q *quantiser) round(x float32, factor float64, most int64, what string) int64 {
	v := math.RoundToEven(float64(x) * factor)
	if !(math.Abs(v) <= float64(most)) {
		if q.err == nil {
			q.err = fmt.Errorf("%w: %s %g becomes %g, expected at most ±%d", ErrOverflow, what, x, v, most)
		}
		return 0
	}
	return int64(v)
}

func (q *quantiser) int16s(dst []int16, src []float32, factor float64, what string) {
	for i, x := range src {
		dst[i] = int16(q.round(x, factor, math.MaxInt16, what))
	}
}

func (q *quantiser) int32s(dst []int32, src []float32, factor float64, what string) {
	for i, x := range src {
		dst[i] = int32(q.round(x, factor, math.MaxInt32, what))
	}
}

// transposed turns input-major float weights, [inputs][outputs], into rows per
// output of the given stride.
func (q *quantiser) transposed(dst []int8, src []float32, outputs, stride int, factor float64, what string) {
	for i, x := range src {
		dst[i%outputs*stride+i/outputs] = int8(q.round(x, factor, math.MaxInt8, what))
	}
}

// Export rounds the model to an integer network, writes its file to w and
// reports how far the integer net departs from the float net on check. It fails
// before writing anything if a weight does not fit.
func (m *Model) Export(w io.Writer, check []sample.Sample) (trainer.ExportReport, error) {
	n, err := m.Network()
	if err != nil {
		return trainer.ExportReport{}, fmt.Errorf("export: %w", err)
	}
	n.Description = fmt.Sprintf("%v, %d steps", m.arch, m.Steps())
	report := m.Compare(n, check)
	return report, n.Write(w)
}

// Compare measures the difference between the float net and an integer network
// of the same architecture on the positions of samples.
func (m *Model) Compare(n *nnue.Network, samples []sample.Sample) trainer.ExportReport {
	r := trainer.ExportReport{Positions: len(samples), NetScale: m.cfg.NetScale, ScoreScale: m.cfg.ScoreScale}
	acc := nnue.NewAccumulator(n)
	m.sampleOutputs(samples, func(i int, raw float64) {
		acc.Reset(&samples[i].Pos)
		integer := float64(acc.Raw(&samples[i].Pos))
		units := math.Abs(integer - raw)
		win := math.Abs(logistic.Sigmoid(integer/m.cfg.NetScale) - logistic.Sigmoid(raw/m.cfg.NetScale))
		r.MeanRaw += units
		r.MeanWin += win
		r.MaxRaw, r.MaxWin = max(r.MaxRaw, units), max(r.MaxWin, win)
	})
	if r.Positions > 0 {
		r.MeanRaw /= float64(r.Positions)
		r.MeanWin /= float64(r.Positions)
	}
	return r
}
