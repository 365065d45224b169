package replay

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/check"
)

// WindowRule says how many of the newest positions are trained on. It is
// KataGo's power law (SelfplayTraining.md, shuffle.py): with N positions seen,
// m = Min, e = Exponent, c = Slope,
//
//	W = N                                   for N ≤ m
//	W = m + c·(N^e − m^e) / (e·m^(e−1))     for N > m
//
// so that the window begins as everything, grows by c for each new position
// at N = m, and ever more slowly after that.
type WindowRule struct {
	Min      int     // positions up to which the window is everything
	Exponent float64 // in (0, 1]; 0.65 is KataGo's
	Slope    float64 // in (0, 1]; 0.4 is KataGo's
}

func (r WindowRule) validate() error {
	wrong := check.Of(ErrConfig)
	check.Positive(wrong, "window_min", r.Min)
	check.Above(wrong, "window_exponent", r.Exponent, 0, 1)
	check.Above(wrong, "window_slope", r.Slope, 0, 1)
	return wrong.Err()
}

// Size returns the window in positions when seen positions were stored in
// all. It grows with seen, and never faster.
func (r WindowRule) Size(seen uint64) uint64 {
	n, m := float64(seen), float64(r.Min)
	if n <= m {
		return seen
	}
	grown := r.Slope * (math.Pow(n, r.Exponent) - math.Pow(m, r.Exponent)) / (r.Exponent * math.Pow(m, r.Exponent-1))
	return uint64(r.Min) + uint64(grown)
}
