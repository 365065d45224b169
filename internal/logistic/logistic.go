// Package logistic has the logistic function and its integral.
package logistic

import "math"

// Sigmoid is σ(x) = 1/(1 + e⁻ˣ), the probability with the log-odds x.
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Softplus is log(1 + eˣ) = −log σ(−x), without overflow and without loss of
// digits where eˣ is small.
func Softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
