package rating

import "math"

// Unbiased estimates the rating difference after a sequential test that
// stopped at the counts p, with intervals of 95 %. The plain estimates lie too
// far out then, because a test stops when luck runs in one direction. These
// are median-unbiased: too high as often as too low. They are not valid unless
// p decides the test.
//
// The log-likelihood ratio is taken for a Brownian motion. Its ways to stop
// are put in order: H0 accepted, early to late, then H1 accepted, late to
// early. The estimate is the strength at which what happened stands in the
// middle of that order (Siegmund, Sequential Analysis, 1985, III.4 and III.5).
// The bounds are moved out by what the last pair oversteps them on average.
func (t SPRT) Unbiased(p Pentanomial) (elo, nElo Estimate) {
	llr := t.LLR(p)
	decision := t.Status(llr)
	if decision == Continue || p.Pairs() == 0 || !p.spread() {
		return Estimate{}, Estimate{}
	}
	s := p.sample()
	mean, variance := s.moments(&s.prob)
	deviation := math.Sqrt(variance)

	// A pair's score in standard deviations above ½ moves the ratio by
	// (t1−t0)·(x−(t0+t1)/2) on average and varies it by (t1−t0)².
	t0, t1 := deviations(t.Elo0), deviations(t.Elo1)
	if !t.Normalized {
		t0, t1 = (ExpectedScore(t.Elo0)-0.5)/deviation, (ExpectedScore(t.Elo1)-0.5)/deviation
	}
	step := t1 - t0
	lower, upper := t.Bounds()
	// The ratio of a strong result grows slower than that: in units of such
	// moves the bound it reached lies further out.
	around := (mean - 0.5) / deviation
	curve := step * (around - (t0+t1)/2) * float64(p.Pairs()) / llr
	curve = max(curve, 0.5)
	if decision == AcceptH1 {
		upper *= curve
	} else {
		lower *= curve
	}
	walk := brownian{deviation: step, lower: lower - overshoot*step, upper: upper + overshoot*step, time: float64(p.Pairs())}
	// rank is the probability of an outcome less extreme towards H1.
	rank := func(x float64) float64 {
		walk.drift = step * (x - (t0+t1)/2)
		if decision == AcceptH1 {
			return 1 - walk.upBefore()
		}
		return walk.downBefore()
	}
	// The rank falls as strength grows, so a high one bounds it from below.
	tail := 1 - normalCDF(quantile95)
	median, low, high := falls(rank, 0.5, around), falls(rank, 1-tail, around), falls(rank, tail, around)

	score := func(x float64) float64 { return Elo(min(max(0.5+x*deviation, 0), 1)) }
	const scale = NormalizedScale / math.Sqrt2
	elo = Estimate{Value: score(median), Low: score(low), High: score(high), Valid: true}
	elo.Valid = !math.IsInf(elo.Value, 0)
	nElo = Estimate{Value: scale * median, Low: scale * low, High: scale * high, Valid: true}
	return elo, nElo
}

// overshoot is by how many standard deviations of a step a random walk with
// normal steps oversteps a bound on average: −ζ(½)/√(2π) (Siegmund 1985, X.2).
const overshoot = 0.5826

// falls returns where a falling function takes the value, near around.
func falls(f func(float64) float64, value, around float64) float64 {
	reach := 0.01
	for range 20 { // to 10⁴ standard deviations, where no result is undecided
		if f(around-reach) >= value && f(around+reach) <= value {
			break
		}
		reach *= 2
	}
	low, high := around-reach, around+reach
	for range 60 {
		middle := (low + high) / 2
		if f(middle) > value {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// brownian is a Brownian motion that starts at 0 and stops at bounds.
type brownian struct {
	drift, deviation float64 // of a unit of time
	lower, upper     float64 // lower < 0 < upper
	time             float64
}

// upBefore returns the probability in [0,1] that the motion stops at the upper
// bound within the time. The motion reflected at the bounds gives it as a sum
// over the distances of the upper bound's images, of first passages to them.
func (b brownian) upBefore() float64 {
	width := b.upper - b.lower
	sum := b.image(b.upper)
	for k := 1.0; k < 1000; k++ {
		term := b.image(b.upper+2*k*width) - b.image(2*k*width-b.upper)
		sum += term
		if math.Abs(term) < 1e-15 {
			break
		}
	}
	return min(max(sum, 0), 1)
}

// downBefore is upBefore of the lower bound.
func (b brownian) downBefore() float64 {
	b.drift, b.lower, b.upper = -b.drift, -b.upper, -b.lower
	return b.upBefore()
}

// image returns the probability of a first passage through a level at the
// distance, above 0, within the time, times exp(drift·(upper−distance)/σ²),
// which is what drift makes of a path reflected there. The product is at most 1
// where the factors need not be, hence the logarithms.
func (b brownian) image(distance float64) float64 {
	variance := b.deviation * b.deviation
	root := b.deviation * math.Sqrt(b.time)
	factor := b.drift * (b.upper - distance) / variance
	passed := math.Exp(factor + logNormalCDF((b.drift*b.time-distance)/root))
	returned := math.Exp(factor + 2*b.drift*distance/variance + logNormalCDF((-distance-b.drift*b.time)/root))
	return passed + returned
}

// logNormalCDF returns the logarithm of the standard normal distribution
// function, also where that is less than floating point numbers hold.
func logNormalCDF(x float64) float64 {
	if x > -30 {
		return math.Log(normalCDF(x))
	}
	return -x*x/2 - math.Log(-x*math.Sqrt(2*math.Pi)) + math.Log1p(-1/(x*x)+3/(x*x*x*x))
}
