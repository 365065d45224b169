package nnuefit

import (
	"math"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// core is the float net with its optimiser: all the arithmetic and no chess.
type core struct {
	layout
	limits    limits
	objective objective
	workers   int

	rows        rows   // real transformer rows
	virtualRows params // [virtual][row] the factoriser
	dense       params // everything else, as layout says
	adam        adam
	idle        idleTable // of the steps up to adam.step
	mean        mean

	shards   [shardCount]shard
	gathered gathered
	w1       []float32 // [stacks][inputs][l2] stack plus shared part
	gradV    []float32 // [virtual][row]
	gradD    []float32 // dense gradient of the batch
}

// limits are the magnitudes parameters are held to after every step, so that
// the integer net can represent them. They bind sums: stack plus shared part,
// real plus virtual row.
type limits struct{ hidden, output, transformer float32 }

func newCore(s shape, cfg Config, lim limits) *core {
	c := &core{
		layout: newLayout(s), limits: lim, workers: cfg.Workers,
		objective:   objective{power: cfg.Power, gain: outputUnit / cfg.NetScale},
		rows:        newRows(&s),
		virtualRows: newParams(s.virtual * s.row()),
		adam: adam{beta1: cfg.Beta1, beta2: cfg.Beta2, epsilon: cfg.Epsilon,
			weightDecay: cfg.WeightDecay, rowShare: cfg.RowRate},
		w1:    make([]float32, s.stacks*s.inputs()*s.l2),
		gradV: make([]float32, s.virtual*s.row()),
	}
	c.dense = newParams(c.size)
	c.gradD = make([]float32, c.size)
	c.idle.fill(&c.adam)
	c.gathered.slotOf = make([]int32, s.features)
	for k := range c.shards {
		c.shards[k].mark = make([]uint64, (s.features+63)/64)
		c.shards[k].grad = make([]float32, c.size)
		c.shards[k].scratch = newScratch(&s)
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
// training plays by what all the others have taught. Stacks begin equal. psqt
// returns the first PSQT weight of a real row, for all stacks alike.
func (c *core) start(rng *rand.Rand, psqt func(feature int) float32) {
	uniform := func(x []float32, bound float64) {
		for i := range x {
			x[i] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	for r := range c.virtual {
		uniform(c.virtualRow(r).w[:c.width], startBound)
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
	}{{first.w1, first.b1, c.inputs()}, {first.w2, first.b2, c.l2}, {first.w3, nil, c.l3}} {
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
}

// startPSQT gives the real rows their first values, which need no random source.
func (c *core) startPSQT(psqt func(feature int) float32) {
	for f := range c.features {
		cols := c.rows.row(f).w[c.width:]
		v := psqt(f)
		for b := range cols {
			cols[b] = v
		}
	}
}

func (c *core) virtualRow(r int) params { return c.virtualRows.part(r*c.row(), c.row()) }

// stackW1 is layer 1 of stack b as used in this batch.
func (c *core) stackW1(b int) []float32 {
	n := c.inputs() * c.l2
	return c.w1[b*n : (b+1)*n]
}

// prepare lists the batch's features and computes the weights used for it.
func (c *core) prepare(in *input) {
	c.collect(in)
	c.assignSlots()
	own, shared := c.layout.stacksW1(c.dense.w), c.layout.sharedW1(c.dense.w)
	copy(c.w1, own)
	for b := range c.stacks {
		kernel.FloatAdd(c.stackW1(b), shared)
	}
}

// evaluate writes the net's outputs for the batch to out, in units of 600 raw
// units seen by the side to move. It changes no parameter.
func (c *core) evaluate(in *input, out []float32) {
	c.prepare(in)
	parallel(c.workers, shardCount, func(k int) {
		s := &c.shards[k]
		c.remap(s, false)
		for i := s.lo; i < s.hi; i++ {
			out[i] = c.forward(s, i)
		}
	})
}

// fit makes one optimiser step on the batch and returns the mean loss before it.
// On ErrDiverged no parameter has changed.
func (c *core) fit(in *input, lr float64) (float64, error) {
	c.prepare(in)
	loss, err := c.differentiate(in)
	if err != nil {
		return loss, err
	}
	c.sumGradients(in)
	c.update(lr)
	return loss, nil
}

// differentiate runs forward and backward over all positions.
func (c *core) differentiate(in *input) (float64, error) {
	g := &c.gathered
	g.delta = grow(g.delta, 2*in.n*c.width)
	g.psqt = grow(g.psqt, 2*in.n)
	parallel(c.workers, shardCount, func(k int) {
		s := &c.shards[k]
		c.remap(s, true)
		clear(s.grad)
		s.loss, s.finite = 0, true
		for i := s.lo; i < s.hi; i++ {
			out := float64(c.forward(s, i))
			loss, d := c.objective.at(out, in.target(i))
			s.loss += loss
			s.finite = s.finite && !math.IsNaN(loss) && !math.IsInf(out, 0)
			c.backward(s, i, float32(d))
		}
	})
	var loss float64
	finite := true
	for k := range c.shards {
		loss += c.shards[k].loss
		finite = finite && c.shards[k].finite
	}
	loss /= float64(in.n)
	if !finite {
		return loss, ErrDiverged
	}
	return loss, nil
}

// sumGradients gathers what the positions left behind into one gradient per
// parameter: the sum over the batch.
func (c *core) sumGradients(in *input) {
	g := &c.gathered
	c.transpose(2 * in.n)
	w, row := c.width, c.row()
	g.grad = grow(g.grad, len(g.feats)*row)
	blocks(c.workers, len(g.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			uses := g.uses[g.usesAt[slot]:g.usesAt[slot+1]]
			dst := g.grad[slot*row : (slot+1)*row]
			clear(dst)
			kernel.FloatGatherSum(dst[:w], g.delta, w, uses)
			for _, item := range uses {
				dst[w+int(g.bucket[item>>1])] += g.psqt[item]
			}
		}
	})
	clear(c.gradV)
	blocks(c.workers, c.virtual, rowBlock, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			kernel.FloatGatherSum(c.gradV[r*row:(r+1)*row], g.grad, row, g.byVirtual[g.virtualAt[r]:g.virtualAt[r+1]])
		}
	})
	blocks(c.workers, c.size, 4096, func(lo, hi int) {
		copy(c.gradD[lo:hi], c.shards[0].grad[lo:hi])
		for k := 1; k < shardCount; k++ {
			kernel.FloatAdd(c.gradD[lo:hi], c.shards[k].grad[lo:hi])
		}
	})
	shared, n := c.layout.sharedW1(c.gradD), c.inputs()*c.l2
	for b := range c.stacks {
		kernel.FloatAdd(shared, c.layout.stacksW1(c.gradD)[b*n:(b+1)*n])
	}
}

// update makes the Adam step with the summed gradients and clamps the result.
func (c *core) update(lr float64) {
	g := &c.gathered
	p, damped := c.adam.next(lr)
	undamped := damped
	undamped.Keep = 1
	w, row := c.width, c.row()

	stepRow := func(x params, grad []float32, rate float32) {
		columns, psqt := damped, undamped
		columns.Rate, psqt.Rate = rate, rate
		kernel.FloatAdam(x.w[:w], x.m[:w], x.v[:w], grad[:w], &columns)
		kernel.FloatAdam(x.w[w:], x.m[w:], x.v[w:], grad[w:], &psqt)
	}
	blocks(c.workers, c.virtual, rowBlock, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x := c.virtualRow(r)
			stepRow(x, c.gradV[r*row:(r+1)*row], damped.Rate)
			kernel.FloatClampSum(x.w[:w], nil, c.limits.transformer)
		}
	})
	step := uint32(c.adam.step + 1)
	blocks(c.workers, len(g.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			f := int(g.feats[slot])
			c.rows.settle(f, &c.idle, c.adam.step)
			x := c.rows.row(f)
			stepRow(x, g.grad[slot*row:(slot+1)*row], float32(p.rate))
			kernel.FloatClampSum(x.w[:w], c.virtualRow(int(c.toVirtual[f])).w[:w], c.limits.transformer)
			c.rows.last[f] = step
		}
	})
	d, at := &c.dense, c.fact
	kernel.FloatAdam(d.w[:at], d.m[:at], d.v[:at], c.gradD[:at], &undamped)
	kernel.FloatAdam(d.w[at:], d.m[at:], d.v[at:], c.gradD[at:], &damped)
	c.clampDense()

	c.adam.advance(p)
	c.idle.fill(&c.adam)
	if c.adam.step%settlePeriod == 0 {
		blocks(c.workers, c.features, rowBlock, func(lo, hi int) {
			for f := lo; f < hi; f++ {
				c.rows.settle(f, &c.idle, c.adam.step)
			}
		})
	}
	c.updateMean()
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
