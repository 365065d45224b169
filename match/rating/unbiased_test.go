package rating

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// As time goes on the motion stops as Wald says; at any time it agrees with the
// series in eigenfunctions, which converges fast late and slowly early.
func TestBrownian(t *testing.T) {
	for _, drift := range []float64{-0.05, -0.004, 0, 0.001, 0.03} {
		b := brownian{drift: drift, deviation: 0.2, lower: -2.2, upper: 2.9, time: 1e6}
		h := 2 * drift / (b.deviation * b.deviation)
		want := -b.lower / (b.upper - b.lower)
		if drift != 0 {
			want = math.Expm1(-h*b.lower) / (math.Expm1(-h*b.lower) - math.Expm1(-h*b.upper))
		}
		near(t, "up at last", b.upBefore(), want, 1e-9)
		near(t, "down at last", b.downBefore(), 1-want, 1e-9)
		before := 0.0
		for _, b.time = range []float64{5, 20, 100, 400, 1500} {
			near(t, "up before", b.upBefore(), want-b.upAfter(), 1e-9)
			if now := b.upBefore(); now < before {
				t.Errorf("drift %v: probability falls from %v to %v", drift, before, now)
			} else {
				before = now
			}
		}
	}
}

// upAfter returns the probability that the motion stops at the upper bound
// after the time: the density's series in eigenfunctions, integrated by terms.
func (b brownian) upAfter() float64 {
	width, variance := b.upper-b.lower, b.deviation*b.deviation
	sum, sign := 0.0, 1.0
	for n := 1.0; n < 2000; n++ {
		rate := b.drift*b.drift/(2*variance) + variance*n*n*math.Pi*math.Pi/(2*width*width)
		sum += sign * n * math.Sin(n*math.Pi*-b.lower/width) * math.Exp(-rate*b.time) / rate
		sign = -sign
	}
	return sum * math.Pi * variance / (width * width) * math.Exp(b.drift*b.upper/variance)
}

func TestLogNormalCDF(t *testing.T) {
	for x := -29.99; x < 5; x += 0.37 {
		near(t, "logarithm", logNormalCDF(x), math.Log(normalCDF(x)), 1e-9)
	}
	near(t, "asymptote meets", logNormalCDF(-30.0000001), logNormalCDF(-29.9999999), 1e-4)
	if l := logNormalCDF(-1e4); !(l < -4.9e7) || math.IsInf(l, 0) {
		t.Errorf("far out: %v", l)
	}
}

// Whatever the true strength, half the estimates are above it, and 95 in 100
// intervals hold it; the plain estimate is too far out.
func TestUnbiased(t *testing.T) {
	const runs = 500
	test := SPRT{Elo0: 0, Elo1: 40, Alpha: 0.05, Beta: 0.05}
	for _, truth := range []float64{-100, 0, 20, 40, 100} {
		source := pairSource{rand.New(rand.NewPCG(21, uint64(truth+100))), ExpectedScore(truth) - 0.5}
		above, inside, plainAbove := 0, 0, 0
		var estimates []float64
		for range runs {
			p := test.stopped(source)
			e, n := test.Unbiased(p)
			if !e.Valid || !n.Valid || !(e.Low < e.Value && e.Value < e.High && n.Low < n.Value && n.Value < n.High) {
				t.Fatalf("%+v: %+v, %+v", p, e, n)
			}
			estimates = append(estimates, e.Value)
			if e.Value > truth {
				above++
			}
			if e.Low <= truth && truth <= e.High {
				inside++
			}
			if p.Elo().Value > truth {
				plainAbove++
			}
		}
		slices.Sort(estimates)
		t.Logf("true Elo %g: median %.1f, above %.3f (plain %.3f), in the interval %.3f", truth,
			estimates[runs/2], float64(above)/runs, float64(plainAbove)/runs, float64(inside)/runs)
		if share := float64(above) / runs; math.Abs(share-0.5) > 0.08 {
			t.Errorf("true Elo %g: %.3f of the estimates above it, want 0.5", truth, share)
		}
		if share := float64(inside) / runs; math.Abs(share-0.95) > 0.03 {
			t.Errorf("true Elo %g: %.3f of the intervals hold it, want 0.95", truth, share)
		}
	}
}

// stopped runs the test and returns the counts that decided it.
func (t SPRT) stopped(source pairSource) Pentanomial {
	var p Pentanomial
	for t.Status(t.LLR(p)) == Continue {
		source.add(&p)
	}
	return p
}

// A normalised test estimates as the logistic one with the same hypotheses
// does, mirrored counts give the mirrored estimate, and without a decision
// there is none.
func TestUnbiasedForms(t *testing.T) {
	p := Pentanomial{LL: 20, LD: 2, LW: 60, DD: 4, DW: 6, WW: 40}
	mirrored := Pentanomial{LL: 40, LD: 6, LW: 60, DD: 4, DW: 2, WW: 20}
	for _, normalized := range []bool{false, true} {
		test := SPRT{Elo0: 0, Elo1: 40, Alpha: 0.05, Beta: 0.05, Normalized: normalized}
		elo, nElo := test.Unbiased(p)
		plain := p.Elo()
		t.Logf("LLR %.2f, plain %v, unbiased %v, nElo %v", test.LLR(p), plain, elo, nElo)
		if !(elo.Value > 0 && elo.Value < plain.Value) {
			t.Errorf("unbiased %v, plain %v", elo, plain)
		}
		back := SPRT{Elo0: -40, Elo1: 0, Alpha: 0.05, Beta: 0.05, Normalized: normalized}
		other, nOther := back.Unbiased(mirrored)
		near(t, "mirrored Elo", other.Value, -elo.Value, 1e-6)
		near(t, "mirrored bound", other.Low, -elo.High, 1e-6)
		near(t, "mirrored nElo", nOther.Value, -nElo.Value, 1e-6)
		for _, undecided := range []Pentanomial{{}, {LW: 5}, {LL: 1, WW: 1}} {
			if elo, nElo := test.Unbiased(undecided); elo.Valid || nElo.Valid {
				t.Errorf("%+v: %v, %v", undecided, elo, nElo)
			}
		}
	}
	// A test that ends at once says little and must not overflow.
	quick := SPRT{Elo0: 0, Elo1: 400, Alpha: 0.05, Beta: 0.05}
	for n := range 40 {
		p := Pentanomial{LW: 1, WW: n}
		elo, nElo := quick.Unbiased(p)
		if elo.Valid && (math.IsNaN(elo.Low) || math.IsNaN(elo.High) || math.IsNaN(nElo.Value)) {
			t.Errorf("%+v: %+v, %+v", p, elo, nElo)
		}
	}
}
