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
		tuning := newTuning(v, nil)
		for _, s := range []*stage{&tuning.early, &tuning.late} {
			for d := 2; d < len(s.reductions); d++ {
				for n := 2; n < len(s.reductions[d]); n++ {
					exact := s.exactReduction(d, n)
					nearest = min(nearest, math.Abs(exact-math.Round(exact)))
				}
			}
		}
	}
	if nearest < 1e-9 { // doubles of this size are 1e-12 apart
		t.Errorf("a reduction is %g off an integer", nearest)
	}
}

// TestLateIterations: each iteration goes by the parameters of its time, and settings
// change either.
func TestLateIterations(t *testing.T) {
	tuning := newTuning(chess.Crazyhouse, map[string]string{"late_from": "3", "aspiration": "77", "late_aspiration": "11"})
	for iteration, want := range []int{77, 77, 77, 11, 11} {
		if got := tuning.at(iteration).Aspiration; got != want {
			t.Errorf("iteration %d: found aspiration %d, expected %d", iteration, got, want)
		}
	}
}
