// Package median has the median.
package median

import "slices"

// Of returns the median of values, at least one: the mean of the middle two if their
// number is even. It changes none of them.
func Of(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
