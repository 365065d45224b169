package ab

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestReductionsOfAllMachines: whether an architecture rounds a product before it is
// added to, or computes logarithms a little otherwise, changes no reduction, so that
// games are the same everywhere.
func TestReductionsOfAllMachines(t *testing.T) {
	nearest := 1.0
	for _, v := range chess.Variants() {
		tune := newTuning(v, nil)
		for d := 2; d < len(tune.reductions); d++ {
			for n := 2; n < len(tune.reductions[d]); n++ {
				exact := tune.exactReduction(d, n)
				nearest = min(nearest, math.Abs(exact-math.Round(exact)))
			}
		}
	}
	if nearest < 1e-9 { // doubles of this size are 1e-12 apart
		t.Errorf("a reduction is %g off an integer", nearest)
	}
}
