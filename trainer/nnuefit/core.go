package nnuefit

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// core is the float net with its optimiser: all the arithmetic and no chess.
type core struct {
	layout
	scales    scales
	limits    limits
	quantised bool    // fake quantisation
	maxNorm   float64 // of the gradient; 0: any
	workers   int
	allSlots  bool // every feature has a slot in every batch, not only those that occur

	rows        rows   // real transformer rows
	virtualRows table  // the factoriser
	dense       params // everything else, as layout says
	optimiser   optimiserState
	idle        idleTable // of the steps up to optimiser.step
	mean        mean
	slow        shadow // Lookahead's slow weights; nothing without it

	batch   batch
	heads   [shardCount]head
	used    []float32 // dense parameters as used in this batch
	rounded []float32 // room for them where they are not the parameters themselves
	w1      []float32 // [stacks][inputs][l2] stack plus shared part
	w1T     []float32 // [stacks][l2][inputs+w1TGap]
	w2T     []float32 // [stacks][l3][l2] layer 2 transposed
	gradV   []float32 // [virtual][stride]
	gradD   []float32 // dense gradient of the batch

	times Times // of the last step
}

// limits are the magnitudes that parameters are held to when they are stepped, and
// the net when it is exported, so that integers can represent it. They bind sums:
// stack plus shared part, real plus virtual row.
type limits struct{ hidden, output, transformer float32 }

func newCore(s shape, cfg Config, sc scales, lim limits) *core {
	c := &core{
		layout: newLayout(s), scales: sc, limits: lim, workers: cfg.Workers,
		quantised:   cfg.Quantise,
		maxNorm:     cfg.GradientNorm,
		allSlots:    s.features <= fewFeatures,
		rows:        newRows(&s),
		virtualRows: newTable(s.virtual, &s),
		optimiser:   newOptimiserState(cfg, s.virtual > 0),
		w1:          make([]float32, s.stacks*s.inputs()*s.l2),
		w1T:         make([]float32, s.stacks*s.l2*(s.inputs()+w1TGap)),
		w2T:         make([]float32, s.stacks*s.l2*s.l3),
		gradV:       make([]float32, s.virtual*s.stride()),
	}
	c.dense = newParams(c.size)
	c.gradD = make([]float32, c.size)
	c.idle.fill(&c.optimiser)
	c.batch.slotOf = make([]int32, s.features)
	for k := range shardCount {
		c.batch.listed[k].mark = make([]uint64, (s.features+63)/64)
		c.batch.shards[k].bias = make([]float32, s.width)
		c.heads[k] = newHead(&c.layout)
	}
	return c
}

// Start of the transformer: accumulators of 32 active rows spread with a
// standard deviation of about 0.2 around startBias, so nearly all neurons begin
// inside their linear range 0..1.
const (
	startBound = 0.06
	startBias  = 0.25
)

// start gives every parameter its first value. The virtual rows carry the
// random start and the real rows begin at zero, so a king square never seen in
// training plays by what all the others have taught; without factoriser the real
// rows carry it. Stacks begin equal. psqt has the first PSQT weight of each real
// row, for all stacks alike; nil is all zeros.
func (c *core) start(rng *rand.Rand, psqt []float32) {
	uniform := func(x []float32, bound float64) {
		for i := range x {
			x[i] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	random := &c.virtualRows
	if c.virtual == 0 {
		random = &c.rows.table
	}
	for r := range random.count {
		uniform(random.row(r).w[:c.width], startBound)
	}
	c.startPSQT(psqt)
	bias := c.layout.bias(c.dense.w)
	for i := range bias {
		bias[i] = startBias
	}
	first := c.layout.stack(c.dense.w, 0)
	for _, layer := range []struct {
		w, b  []float32
		fanIn int
	}{{first.w1, first.b1, c.inputs()}, {first.w2, first.b2, c.l2}, {first.w3, nil, c.last()}} {
		bound := 1 / math.Sqrt(float64(layer.fanIn))
		uniform(layer.w, bound)
		uniform(layer.b, bound)
	}
	for b := 1; b < c.stacks; b++ {
		s := c.layout.stack(c.dense.w, b)
		copy(s.w1, first.w1)
		copy(s.b1, first.b1)
		copy(s.w2, first.w2)
		copy(s.b2, first.b2)
		copy(s.w3, first.w3)
	}
	c.clampDense()
	c.startSlow()
}

// startPSQT gives the PSQT weights of real rows, which are 0, their first values.
func (c *core) startPSQT(psqt []float32) {
	for f, v := range psqt {
		cols := c.rows.row(f).w[c.width:]
		for b := range cols {
			cols[b] = v
		}
	}
}

// evaluate returns the net's outputs for the batch, in units of 1.0 seen by the
// side to move. It changes no parameter.
func (c *core) evaluate(in *input) []float32 {
	c.prepare(in)
	c.transform(2 * in.n)
	return c.passForward(in.n)
}

// fit makes one optimiser step on the batch and returns the mean loss before it.
// On trainer.ErrDiverged no parameter has changed.
func (c *core) fit(in *input, lr float64) (float64, error) {
	begin := time.Now()
	c.prepare(in)
	c.times.Features = time.Since(begin)
	loss, err := c.differentiate(in)
	if err != nil {
		return loss, err
	}
	begin = time.Now()
	if err := c.clipGradient(in.examples); err != nil {
		return loss, err
	}
	c.update(lr, in.examples)
	c.times.Update = time.Since(begin)
	return loss, nil
}

// Times says where the time of a step went.
type Times struct {
	Features  time.Duration // the batch's features listed, ordered and their weights gathered
	Transform time.Duration // accumulators
	Layers    time.Duration // layers forward, loss, layers back
	Back      time.Duration // gradients of transformer rows
	Sums      time.Duration // gradients of the parts of the batch added up
	Update    time.Duration // clipping of the gradient, optimiser
}

// Times returns where the time of the last Fit went.
func (m *Model) Times() Times { return m.core.times }

// update makes the optimiser's step with the gradients, summed over the given
// number of examples, and clamps the result.
func (c *core) update(lr float64, examples int) {
	b, k := &c.batch, &c.optimiser
	w, row, stride := c.width, c.row(), c.stride()
	p := k.rule.Rates(k.step-k.started+1, lr, examples)
	ofRows := p.Times(k.rowShare)
	damped, undamped := k.rule.Update(p, lr, examples, true), k.rule.Update(p, lr, examples, false)
	lr *= k.rowShare
	rowDamped, rowUndamped := k.rule.Update(ofRows, lr, examples, true), k.rule.Update(ofRows, lr, examples, false)

	parallel.Blocks(c.workers, c.virtual, rowBlock, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, g := c.virtualRows.row(r), c.gradV[r*stride:]
			x.part(0, w).step(&damped, g[:w])
			x.part(w, row-w).step(&undamped, g[w:row])
			kernel.FloatClampSum(x.w[:w], nil, c.limits.transformer)
		}
	})
	step := uint32(k.step + 1)
	parallel.Blocks(c.workers, len(b.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			f, g := int(b.feats[slot]), c.gradient(slot)
			if g == nil {
				continue
			}
			c.rows.settle(f, &c.idle, k.step)
			x := c.rows.row(f)
			x.part(0, w).step(&rowDamped, g[:w])
			x.part(w, row-w).step(&rowUndamped, g[w:row])
			kernel.FloatClampSum(x.w[:w], c.virtualPart(f), c.limits.transformer)
			c.rows.last[f] = step
		}
	})
	c.dense.part(0, c.fact).step(&undamped, c.gradD[:c.fact])
	c.dense.part(c.fact, c.size-c.fact).step(&damped, c.gradD[c.fact:])
	c.clampDense()

	k.advance(ofRows)
	c.idle.fill(k)
	if k.step%settlePeriod == 0 {
		c.settleRows()
	}
	c.lookAhead()
	c.updateMean()
}

// settleRows brings every row up to the last step done.
func (c *core) settleRows() {
	parallel.Blocks(c.workers, c.features, rowBlock, func(lo, hi int) {
		for f := lo; f < hi; f++ {
			c.rows.settle(f, &c.idle, c.optimiser.step)
		}
	})
}

// restart lets the optimiser begin anew at the present weights.
func (c *core) restart() {
	c.settleRows()
	for _, p := range [...]*params{&c.rows.params, &c.virtualRows.params, &c.dense} {
		p.forget()
	}
	c.optimiser.started = c.optimiser.step
	c.startSlow()
}

// virtualPart returns the accumulator columns of the virtual row that feature f
// adds to its own; nil without factoriser.
func (c *core) virtualPart(f int) []float32 {
	if c.virtual == 0 {
		return nil
	}
	return c.virtualRows.row(int(c.toVirtual[f])).w[:c.width]
}

// clampDense holds the dense parameters to their limits.
func (c *core) clampDense() {
	shared, n := c.layout.sharedW1(c.dense.w), c.inputs()*c.l2
	for b := range c.stacks {
		kernel.FloatClampSum(c.layout.stacksW1(c.dense.w)[b*n:(b+1)*n], shared, c.limits.hidden)
	}
	kernel.FloatClampSum(c.layout.allW2(c.dense.w), nil, c.limits.hidden)
	kernel.FloatClampSum(c.layout.allW3(c.dense.w), nil, c.limits.output)
	kernel.FloatClampSum(c.layout.bias(c.dense.w), nil, c.limits.transformer)
}
