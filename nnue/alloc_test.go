//go:build !invariants

package nnue_test

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// TestAccumulatorDoesNotAllocate holds for linear sets and for others, which
// keep positions. Checks of invariants do allocate.
func TestAccumulatorDoesNotAllocate(t *testing.T) {
	for _, set := range []string{"HalfKAv2", "All + PH + PV + Hand", "King * (P + Hand)", "H * V + MC"} {
		a := nnue.Narrow(64)
		a.Features = set
		acc := nnue.NewAccumulator(random(t, a, 1))
		line := benchmarkLine(t)
		if n := testing.AllocsPerRun(20, func() { line.run(acc) }); n != 0 {
			t.Errorf("%s: %v allocations per run, want none", set, n)
		}
	}
}
