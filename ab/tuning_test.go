package ab

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

// TestDefaults: what a rule that is off would go by is right too, as settings may turn it on.
func TestDefaults(t *testing.T) {
	for _, v := range chess.Variants() {
		p := DefaultParams(v)
		if err := option.Check(&p); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
}

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

// Reductions rise with depth and number at the ends of what can be set, too.
func TestReductionsAtTheirBounds(t *testing.T) {
	for _, settings := range []map[string]string{
		{"reduce_divisor": "500", "reduce_base": "4096"}, {"reduce_divisor": "8000", "reduce_base": "-2048"},
	} {
		s := newTuning(chess.Crazyhouse, settings).early
		for d := 2; d < len(s.reductions); d++ {
			for n := 2; n < len(s.reductions[d]); n++ {
				if r := s.reductions[d][n]; r < s.reductions[d-1][n] || r < s.reductions[d][n-1] {
					t.Fatalf("%v: depth %d, move %d: reduction %d falls", settings, d, n, r)
				}
			}
		}
	}
}

// TestLateIterations: each iteration goes by the parameters of its time, which comes
// sooner in long searches, and settings change either.
func TestLateIterations(t *testing.T) {
	tuning := newTuning(chess.Crazyhouse, map[string]string{
		"late_from": "3", "long_nodes": "900", "long_from": "2", "aspiration": "77", "late_aspiration": "11",
	})
	for nodes, aspirations := range map[uint64][]int{899: {77, 77, 77, 11, 11}, 900: {77, 77, 11, 11, 11}, math.MaxUint64: {77, 77, 11, 11, 11}} {
		for iteration, want := range aspirations {
			if got := tuning.at(iteration, nodes).Aspiration; got != want {
				t.Errorf("%d nodes, iteration %d: found aspiration %d, expected %d", nodes, iteration, got, want)
			}
		}
	}
}
