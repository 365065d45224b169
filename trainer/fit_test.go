package trainer

import (
	"errors"
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestMix(t *testing.T) {
	m := Mix{Lambda: 0.75, Limit: 500, Beyond: 0.25}
	for score, want := range map[search.Score]float64{0: 0.75, 500: 0.75, -500: 0.75, 501: 0.25, -501: 0.25} {
		s := sample.Sample{Score: score}
		if got := m.Of(&s, 1, 0); got != want {
			t.Errorf("score %d: share %g of the score, want %g", score, got, want)
		}
		if got := (Mix{Lambda: 0.75}).Of(&s, 1, 0); got != 0.75 {
			t.Errorf("score %d without a limit: share %g of the score, want 0.75", score, got)
		}
	}
	if got := m.Of(&sample.Sample{}, 0.5, 1); got != 0.625 {
		t.Errorf("mixed to %g, want 0.625", got)
	}
	if got := m.Of(&sample.Sample{NoResult: true}, 0.5, 1); got != 0.5 {
		t.Errorf("mixed to %g without a result, want 0.5", got)
	}
}

func TestCheckFit(t *testing.T) {
	if err := CheckFit(1, Hyper{LearningRate: 2, Lambda: 1}, 2); err != nil {
		t.Error(err)
	}
	for _, h := range []struct {
		batch int
		Hyper
	}{
		{0, Hyper{}}, {1, Hyper{LearningRate: 2.1}}, {1, Hyper{LearningRate: -1}}, {1, Hyper{LearningRate: math.NaN()}},
		{1, Hyper{Lambda: -0.1}}, {1, Hyper{Lambda: 1.1}}, {1, Hyper{Lambda: math.NaN()}},
	} {
		if err := CheckFit(h.batch, h.Hyper, 2); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

func TestFinite(t *testing.T) {
	if err := Finite(1); err != nil {
		t.Error(err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := Finite(x); !errors.Is(err, ErrDiverged) {
			t.Errorf("%g: %v", x, err)
		}
	}
}

// An averaged net forgets its first weights within few steps, and keeps its share
// in the long run.
func TestMeanKeep(t *testing.T) {
	for step, want := range map[uint64]float64{1: 2.0 / 11, 8: 0.5, 1e6: 0.99} {
		if got := MeanKeep(0.99, step); got != want {
			t.Errorf("step %d keeps %g, want %g", step, got, want)
		}
	}
}
