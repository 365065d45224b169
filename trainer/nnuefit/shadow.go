package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// shadow is a second set of weights beside the parameters.
type shadow struct{ rows, virtual, dense []float32 }

// newShadow returns a shadow with room for the parameters of c.
func newShadow(c *core) shadow {
	return shadow{make([]float32, len(c.rows.w)), make([]float32, len(c.virtualRows.w)), make([]float32, len(c.dense.w))}
}

// row returns a real row of the shadow.
func (s *shadow) row(f int, c *core) []float32 { return s.rows[f*c.stride():][:c.row()] }

// copyTo writes the present parameters to s.
func (c *core) copyTo(s *shadow) {
	for f := range c.features {
		c.rows.peek(s.row(f, c), f, &c.idle, c.optimiser.step)
	}
	copy(s.virtual, c.virtualRows.w)
	copy(s.dense, c.dense.w)
}

// Lookahead's usual settings.
const (
	lookaheadSteps = 6
	lookaheadShare = 0.5
)

// startSlow begins the slow weights, if the optimiser has any, at the present
// parameters.
func (c *core) startSlow() {
	if c.slow = (shadow{}); c.optimiser.rule.Optimiser == trainer.Ranger {
		c.slow = newShadow(c)
		c.copyTo(&c.slow)
	}
}

// lookAhead moves the slow weights towards the parameters and these to where
// they arrive, if it is due. Rows are caught up for it.
func (c *core) lookAhead() {
	if c.optimiser.rule.Optimiser != trainer.Ranger || (c.optimiser.step-c.optimiser.started)%lookaheadSteps != 0 {
		return
	}
	merge := func(w, slow []float32) {
		kernel.FloatLerp(slow, w, lookaheadShare)
		copy(w, slow)
	}
	parallel.Blocks(c.workers, c.features, rowBlock, func(lo, hi int) {
		for f := lo; f < hi; f++ {
			if c.rows.last[f] > 0 {
				c.rows.settle(f, &c.idle, c.optimiser.step)
				merge(c.rows.row(f).w, c.slow.row(f, c))
			}
		}
	})
	merge(c.virtualRows.w, c.slow.virtual)
	merge(c.dense.w, c.slow.dense)
}
