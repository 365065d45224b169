package rating

import "math"

// LLR returns the log-likelihood ratio of H1 over H0 given pairs. The
// parameters must be valid; 0 without pairs.
func (t SPRT) LLR(p Pentanomial) float64 {
	if p.Pairs() == 0 {
		return 0
	}
	return t.llr(p.sample())
}

// llr compares the likelihoods of the sample under the two distributions that
// fit it best, each among those with the Elo of its hypothesis:
// LLR = N·Σ p_i·ln(p1_i/p0_i). The popular quadratic approximation is not used
// because with the 10⁻³ floor it ends a test after a pair or two.
func (t SPRT) llr(s sample) float64 {
	var p0, p1 [5]float64
	if t.Normalized {
		p0 = s.likeliestWithDeviation(deviations(t.Elo0))
		p1 = s.likeliestWithDeviation(deviations(t.Elo1))
	} else {
		p0 = s.likeliestWithMean(ExpectedScore(t.Elo0))
		p1 = s.likeliestWithMean(ExpectedScore(t.Elo1))
	}
	var sum float64
	for i := range s.prob {
		sum += s.prob[i] * math.Log(p1[i]/p0[i])
	}
	return s.total * sum
}

// deviations turns normalised Elo into (μ−½)/σ, σ being the standard deviation
// of a pair.
func deviations(nElo float64) float64 { return math.Sqrt2 * nElo / NormalizedScale }

// likeliestWithMean returns, among the distributions with the given mean, the
// one under which the sample is most likely: p_i/(1+θ(a_i−mean)) for the θ
// that makes it have that mean (Lagrange).
func (s *sample) likeliestWithMean(mean float64) [5]float64 {
	var excess [5]float64
	for i := range s.prob {
		excess[i] = s.score[i] - mean
	}
	return s.tilt(&excess)
}

// likeliestWithDeviation does the same among the distributions with
// (μ−½)/σ = t. That condition is not linear in the probabilities; it is
// replaced by its tangent at the last distribution found until that moves no
// more.
func (s *sample) likeliestWithDeviation(t float64) [5]float64 {
	const (
		tolerance = 1e-9
		maxRounds = 100 // a dozen suffice in practice
	)
	var p [5]float64
	for i := range s.prob {
		p[i] = 1 / float64(len(p))
	}
	for range maxRounds {
		mean, variance := s.moments(&p)
		sigma := math.Sqrt(variance)
		var tangent [5]float64
		for i := range s.prob {
			z := (s.score[i] - mean) / sigma
			tangent[i] = s.score[i] - 0.5 - t*sigma/2*(1+z*z)
		}
		next := s.tilt(&tangent)
		var change float64
		for i := range s.prob {
			change = math.Max(change, math.Abs(next[i]-p[i]))
		}
		p = next
		if change < tolerance {
			break
		}
	}
	return p
}

// tilt returns p_i/(1+θx_i) for the θ at which Σ p_i·x_i/(1+θx_i) = 0. The
// values x_i must take both signs. The sum falls strictly between its poles at
// −1/max x and −1/min x, so Newton's steps are kept inside a shrinking bracket
// and replaced by halving it when they leave it.
func (s *sample) tilt(x *[5]float64) [5]float64 {
	least, most := x[0], x[0]
	for _, v := range x[1:] {
		least, most = math.Min(least, v), math.Max(most, v)
	}
	low, high, theta := -1/most, -1/least, 0.0
	for range 200 {
		var value, slope float64
		for i := range s.prob {
			q := x[i] / (1 + theta*x[i])
			value += s.prob[i] * q
			slope -= s.prob[i] * q * q
		}
		if value > 0 {
			low = theta
		} else {
			high = theta
		}
		next := theta - value/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-theta) <= 1e-13*(1+math.Abs(theta)) {
			break
		}
		theta = next
	}
	var p [5]float64
	for i := range s.prob {
		p[i] = s.prob[i] / (1 + theta*x[i])
	}
	return p
}
