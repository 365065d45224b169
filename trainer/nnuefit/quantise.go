package nnuefit

import "github.com/crazyhouse-rl/selfplay/kernel"

// Fake quantisation: with Config.Quantise the net computes with the numbers of
// its integer net, weights to the nearest, activations rounded down. Derivatives
// pass through the rounding as if it were not there and reach the parameters,
// which keep their fractions.

// quantise rounds x to multiples of 1/scale, if asked for.
func (c *core) quantise(x []float32, scale float64) {
	if c.quantised {
		kernel.FloatQuantise(x, float32(scale), 0)
	}
}

// floor rounds activations down to multiples of 1/127, if asked for. Exact
// values are multiples of 1/127 parts of that step, parts being what the
// activation's integer is divided by; half of one of these keeps the noise of
// float arithmetic from tipping a value over.
func (c *core) floor(x []float32, parts float64) {
	if c.quantised {
		kernel.FloatQuantise(x, float32(c.scales.transformer), float32(0.5/parts-0.5))
	}
}

// denseWeights computes the dense parameters used in this batch.
func (c *core) denseWeights() {
	c.used = c.dense.w
	if !c.quantised {
		return
	}
	c.used = grow(c.rounded, c.size)
	c.rounded = c.used
	copy(c.used, c.dense.w)
	l := &c.layout
	for _, part := range [...]struct {
		from, to int
		scale    float64
	}{
		{0, l.b1, c.scales.transformer}, {l.b1, l.b3, c.scales.hiddenBias}, {l.b3, l.fact, c.scales.output},
		{l.w2, l.w3, c.scales.hidden}, {l.w3, l.size, c.scales.outWeight},
	} {
		c.quantise(c.used[part.from:part.to], part.scale)
	}
}

// quantiseRow rounds a transformer row, its virtual part added, to what the
// integer net holds, if asked for.
func (c *core) quantiseRow(row []float32) {
	if c.quantised {
		kernel.FloatClampSum(row[:c.width], nil, c.limits.transformer)
		c.quantise(row[:c.width], c.scales.transformer)
		c.quantise(row[c.width:], c.scales.output)
	}
}
