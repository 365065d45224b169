package rating

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// Drawing games anew leaves the errors that anchors have by their deviations, and those are added
// to what the games show.
func TestResamplingOfAnchors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var p Pool
	for range 500 {
		err := errors.Join(p.Add(PoolGame{White: "a", Black: "b", Result: Outcome(2 * rng.IntN(2))}),
			p.Add(PoolGame{White: "b", Black: "a", Result: Outcome(2 * rng.IntN(2))}))
		if err != nil {
			t.Fatal(err)
		}
	}
	resample := func(anchors ...Anchor) (*Ratings, *Resampling) {
		t.Helper()
		c := PoolConfig{Anchors: anchors}
		r := mustFit(t, &p, c)
		s, err := p.Resample(t.Context(), c, r, 400, rand.New(rand.NewPCG(1, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return r, s
	}
	_, fixed := resample(Anchor{Player: 0, Elo: 100})
	r, s := resample(Anchor{Player: 0, Elo: 100, SD: 40})
	near(t, "error of the anchor", s.Errors.SD(0), 40, 1e-4)
	near(t, "error of the other", s.Errors.SD(1), math.Hypot(40, fixed.Errors.SD(1)), 1e-4)
	near(t, "error of the difference", s.Errors.DifferenceSD(0, 1), fixed.Errors.SD(1), 1e-4)
	near(t, "part of the anchor", r.Priors.SD(1), 40, 1e-4)
	near(t, "White's advantage", s.WhiteSD, fixed.WhiteSD, 1e-4)
	if fixed.Errors.SD(0) != 0 {
		t.Errorf("a fixed anchor has the error %v", fixed.Errors.SD(0))
	}
	// Of independent games with two anchors both ways to the errors agree.
	r, s = resample(Anchor{Player: 0, Elo: 0, SD: 10}, Anchor{Player: 1, Elo: 20, SD: 15})
	for i := range 2 {
		if ratio := s.Errors.SD(i) / r.Errors.SD(i); math.Abs(ratio-1) > 0.1 {
			t.Errorf("anchor %d: %v of the Hessian's error", i, ratio)
		}
	}
	if ratio := s.Errors.DifferenceSD(0, 1) / r.Errors.DifferenceSD(0, 1); math.Abs(ratio-1) > 0.1 {
		t.Errorf("two anchors: %v of the Hessian's error of their difference", ratio)
	}
}
