package nnuefit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// meanPeriod is the number of steps between updates of the averaged net: often
// enough for horizons of hundreds of steps, seldom enough to cost little.
const meanPeriod = 8

// mean is an exponential moving average of the parameters: the net that is
// measured and exported. Training at a high rate hovers around a minimum; the
// average lies nearer to it, as a net does whose rate has decayed to
// nothing, without ending the training.
type mean struct {
	decay float64 // share kept per step; 0: no average
	shadow
}

// startMean begins the average at the present parameters.
func (c *core) startMean(decay float64) {
	if c.mean = (mean{}); decay != 0 {
		c.mean = mean{decay, newShadow(c)}
		c.copyTo(&c.mean.shadow)
	}
}

// updateMean moves the average towards the parameters, if it is due. Early on
// its memory is short, so that the first nets do not drag the start along. Rows
// count as of their last touch.
func (c *core) updateMean() {
	if c.mean.decay == 0 || c.optimiser.step%meanPeriod != 0 {
		return
	}
	share := float32(1 - math.Pow(trainer.MeanKeep(c.mean.decay, c.optimiser.step), meanPeriod))
	parallel.Blocks(c.workers, c.features, rowBlock, func(lo, hi int) {
		for f := lo; f < hi; f++ {
			if c.rows.last[f] > 0 {
				kernel.FloatLerp(c.mean.row(f, c), c.rows.row(f).w, share)
			}
		}
	})
	kernel.FloatLerp(c.mean.virtual, c.virtualRows.w, share)
	kernel.FloatLerp(c.mean.dense, c.dense.w, share)
}

// averaged returns the core with the average in place of the parameters, to
// evaluate and export; it shares all scratch space with c. Without an average
// it is c itself.
func (c *core) averaged() *core {
	if c.mean.decay == 0 {
		return c
	}
	view := *c
	view.rows.w, view.virtualRows.w, view.dense.w = c.mean.rows, c.mean.virtual, c.mean.dense
	view.rows.last = make([]uint32, c.features) // an average is never idle
	return &view
}
