package median

import (
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, -8, 100, 2}, 3},
	} {
		before := slices.Clone(tc.values)
		if got := Of(tc.values); got != tc.want || !slices.Equal(tc.values, before) {
			t.Errorf("%v: found %g and left %v, expected %g", before, got, tc.values, tc.want)
		}
	}
}
