package mcts

import (
	"math"
	"math/rand/v2"
)

// addNoise mixes the share of a symmetric Dirichlet distribution with
// concentration alpha into priors.
func addNoise(priors []float32, share, alpha float64, rng *rand.Rand) {
	noise := make([]float64, len(priors))
	sum := 0.0
	for i := range noise {
		noise[i] = gamma(alpha, rng)
		sum += noise[i]
	}
	if sum == 0 { // all of them vanished, which takes a very small alpha
		return
	}
	for i := range priors {
		priors[i] = float32((1-share)*float64(priors[i]) + share*noise[i]/sum)
	}
}

// gamma samples from the gamma distribution with shape alpha and scale 1, by
// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
func gamma(alpha float64, rng *rand.Rand) float64 {
	if alpha < 1 {
		return gamma(alpha+1, rng) * math.Pow(rng.Float64(), 1/alpha)
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
