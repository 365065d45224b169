package logistic

import (
	"math"
	"testing"
)

func TestValues(t *testing.T) {
	for _, v := range []struct{ x, sigmoid, softplus float64 }{
		{0, 0.5, math.Ln2},
		{math.Log(3), 0.75, math.Log(4)},
		{-math.Log(3), 0.25, math.Log(4.0 / 3)},
		{-40, 4.248354255291589e-18, 4.248354255291589e-18},
		{1000, 1, 1000},
		{-1000, 0, 0},
		{math.Inf(1), 1, math.Inf(1)},
		{math.Inf(-1), 0, 0},
	} {
		if got := Sigmoid(v.x); got != v.sigmoid && !(math.Abs(got/v.sigmoid-1) < 1e-15) {
			t.Errorf("σ(%g) is %g, expected %g", v.x, got, v.sigmoid)
		}
		if got := Softplus(v.x); got != v.softplus && !(math.Abs(got/v.softplus-1) < 1e-15) {
			t.Errorf("softplus(%g) is %g, expected %g", v.x, got, v.softplus)
		}
	}
}
