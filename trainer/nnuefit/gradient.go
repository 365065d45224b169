package nnuefit

import (
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// clipGradient scales the gradient, as a mean over the batch's examples, down to
// the norm allowed, if it is larger. A gradient without a norm is trainer.ErrDiverged.
func (c *core) clipGradient(examples int) error {
	if c.maxNorm == 0 {
		return nil
	}
	norm := math.Sqrt(c.gradientSquares()) / float64(examples)
	if err := trainer.Finite(norm); err != nil {
		return err
	}
	if norm <= c.maxNorm {
		return nil
	}
	share := float32(c.maxNorm / norm)
	parallel.Blocks(c.workers, len(c.batch.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			kernel.FloatScale(c.gradient(slot), share)
		}
	})
	kernel.FloatScale(c.gradV, share)
	kernel.FloatScale(c.gradD, share)
	return nil
}

// gradientSquares is the squared norm of the batch's summed gradient.
func (c *core) gradientSquares() float64 {
	var sums [shardCount]float64
	n := len(c.batch.feats)
	parallel.Do(c.workers, shardCount, func(_, k int) {
		columns := make([]float32, c.stride())
		for slot := n * k / shardCount; slot < n*(k+1)/shardCount; slot++ {
			if g := c.gradient(slot); g != nil {
				kernel.FloatAddSquares(columns, g)
			}
		}
		for _, flat := range [...][]float32{c.gradV, c.gradD} {
			for part := range slices.Chunk(flat[len(flat)*k/shardCount:len(flat)*(k+1)/shardCount], len(columns)) {
				kernel.FloatAddSquares(columns[:len(part)], part)
			}
		}
		for _, x := range columns {
			sums[k] += float64(x)
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}
