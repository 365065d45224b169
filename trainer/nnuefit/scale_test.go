package nnuefit

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// labelled draws scores and results with a known win probability; one in four
// games is drawn half the time it would be won.
func labelled(rng *rand.Rand, n int, a, b float64) []sample.Sample {
	out := make([]sample.Sample, n)
	for i := range out {
		raw := rng.NormFloat64() * 600
		out[i].Score = search.Score(math.Round(raw / search.RawPerCentipawn))
		out[i].Result = -1
		if rng.Float64() < logistic.Sigmoid((raw-a)/b) {
			out[i].Result = 1
		}
	}
	return out
}

func TestFitScaleFindsScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	for _, want := range [][2]float64{{0, 410}, {30, 200}, {-20, 1500}} {
		samples := labelled(rng, 40000, want[0], want[1])
		samples = append(samples, sample.Sample{Score: search.MateAfter(3), Result: -1})
		a, b, err := FitScale(samples)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(a-want[0]) > 25 || math.Abs(b/want[1]-1) > 0.05 {
			t.Errorf("fitted a %.1f, b %.1f, want %.0f, %.0f", a, b, want[0], want[1])
		}
	}
}

// Samples without a score say nothing of the scale.
func TestFitScaleLeavesOutMissingScores(t *testing.T) {
	samples := labelled(rand.New(rand.NewPCG(2, 21)), 2000, 0, 400)
	wantA, wantB, err := FitScale(samples)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		samples = append(samples, sample.Sample{Score: sample.NoScore, Result: 1})
	}
	if a, b, err := FitScale(samples); err != nil || a != wantA || b != wantB {
		t.Errorf("a %g, b %g, error %v, want %g and %g", a, b, err, wantA, wantB)
	}
}

func TestFitScaleRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 20))
	few := labelled(rng, 99, 0, 400)
	won := labelled(rng, 500, 0, 400)
	backwards := labelled(rng, 500, 0, 400)
	separable := labelled(rng, 500, 0, 400)
	for i := range won {
		won[i].Result = 1
		backwards[i].Result = -backwards[i].Result
		separable[i].Result = 1
		if separable[i].Score < 0 {
			separable[i].Result = -1
		}
	}
	for name, samples := range map[string][]sample.Sample{
		"none": nil, "few": few, "all won": won, "scores backwards": backwards, "separable": separable,
	} {
		if a, b, err := FitScale(samples); !errors.Is(err, ErrNoFit) {
			t.Errorf("%s: a %g, b %g, error %v", name, a, b, err)
		}
	}
}
