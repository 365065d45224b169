package ab

import (
	"math"
	"testing"
)

// TestReductionsOfAllMachines: whether an architecture rounds a product before it is
// added to, or computes logarithms a little otherwise, changes no reduction, so that
// games are the same everywhere.
func TestReductionsOfAllMachines(t *testing.T) {
	nearest := 1.0
	for d := 1; d < len(reductions); d++ {
		for n := 1; n < len(reductions[d]); n++ {
			exact := exactReduction(d, n)
			nearest = min(nearest, math.Abs(exact-math.Round(exact)))
		}
	}
	if nearest < 1e-9 { // doubles of this size are 1e-15 apart
		t.Errorf("a reduction is %g off an integer", nearest)
	}
}
