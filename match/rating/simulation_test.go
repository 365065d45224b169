package rating

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pairSource draws pairs of games from openings as crazyhouse has them: White
// wins 56 % and draws 3 %. The first player is better by shift, in expected
// score of a game.
type pairSource struct {
	rng   *rand.Rand
	shift float64
}

func (s pairSource) add(p *Pentanomial) {
	p.Add(s.game(0.56+s.shift, 0.03), s.game(0.41+s.shift, 0.03))
}

func (s pairSource) game(win, draw float64) Outcome {
	switch x := s.rng.Float64(); {
	case x < win:
		return Win
	case x < win+draw:
		return Draw
	}
	return Loss
}

// sequential runs the test once and returns its decision and length.
func sequential(test SPRT, source pairSource) (Decision, int) {
	var p Pentanomial
	for {
		source.add(&p)
		if d := test.Status(test.LLR(p)); d != Continue {
			return d, p.Pairs()
		}
	}
}

// The error rates of the exact tests are the ones asked for, and their lengths
// near the predicted ones.
func TestErrorRates(t *testing.T) {
	runs := 1000
	if testing.Short() {
		runs = 250
	}
	variance := OpeningVariance(0.56, 0.03, 0.41)
	normalized40 := NormalizedScale * (ExpectedScore(40) - 0.5) / math.Sqrt(2*variance)
	for _, c := range []struct {
		name string
		test SPRT
	}{
		{"logistic", SPRT{Elo1: 40, Alpha: 0.05, Beta: 0.05}},
		{"normalised", SPRT{Elo1: normalized40, Alpha: 0.05, Beta: 0.05, Normalized: true}},
	} {
		for _, truth := range []float64{0, 40} {
			source := pairSource{rand.New(rand.NewPCG(11, uint64(truth))), ExpectedScore(truth) - 0.5}
			accepted, pairs := 0, 0
			for range runs {
				decision, n := sequential(c.test, source)
				pairs += n
				if decision == AcceptH1 {
					accepted++
				}
			}
			rate := float64(accepted) / float64(runs)
			wrong := rate
			if truth > 0 {
				wrong = 1 - rate
			}
			t.Logf("%s, true Elo %g: H1 accepted %.4f, mean pairs %.1f", c.name, truth, rate, float64(pairs)/float64(runs))
			// Three standard deviations of a binomial above; below, overshoot
			// makes errors a little rarer than asked.
			if sd := math.Sqrt(0.05 * 0.95 / float64(runs)); wrong > 0.05+3*sd || wrong < 0.05-6*sd {
				t.Errorf("%s, true Elo %g: error rate %.4f, want 0.05", c.name, truth, wrong)
			}
			elo := truth / 40 * c.test.Elo1
			if _, want := c.test.ExpectedLength(elo, variance); math.Abs(float64(pairs)/float64(runs)/want-1) > 0.15 {
				t.Errorf("%s, true Elo %g: mean pairs %.1f, predicted %.1f", c.name, truth, float64(pairs)/float64(runs), want)
			}
		}
	}
}

// quadraticLLR is the approximation that many match runners use:
// N·(s1−s0)·(2μ−s0−s1)/(2v).
func quadraticLLR(t SPRT, p Pentanomial) float64 {
	s := p.sample()
	mean, variance := s.moments(&s.prob)
	s0, s1 := ExpectedScore(t.Elo0), ExpectedScore(t.Elo1)
	return s.total * (s1 - s0) * (2*mean - s0 - s1) / (2 * variance)
}

// Why the exact ratio is used: one pair won tells little, but with a variance
// that rests on the count given to empty cells it decides the approximate
// test, which then errs five times as often as asked.
func TestQuadraticApproximationFails(t *testing.T) {
	test := SPRT{Elo1: 40, Alpha: 0.05, Beta: 0.05}
	near(t, "exact ratio after a pair won", test.LLR(Pentanomial{WW: 1}), 0.11, 1e-2)
	near(t, "quadratic ratio after a pair won", quadraticLLR(test, Pentanomial{WW: 1}), 14.5, 1e-1)
	large := five(600, 20, 900, 30, 650)
	near(t, "quadratic ratio with many pairs", quadraticLLR(test, large)/test.LLR(large), 1, 0.05)

	const runs = 1000
	source := pairSource{rng: rand.New(rand.NewPCG(13, 0))}
	accepted := 0
	for range runs {
		var p Pentanomial
		decision := Continue
		for decision == Continue {
			source.add(&p)
			decision = test.Status(quadraticLLR(test, p))
		}
		if decision == AcceptH1 {
			accepted++
		}
	}
	t.Logf("H1 accepted between equals: %.3f", float64(accepted)/runs)
	if rate := float64(accepted) / float64(runs); rate < 0.24 || rate > 0.32 {
		t.Errorf("the approximate test errs in %.3f of cases, known to be 0.28", rate)
	}
}

func BenchmarkLLR(b *testing.B) {
	p := five(60, 2, 90, 3, 85)
	for _, normalized := range []bool{false, true} {
		test := SPRT{Elo1: 20, Alpha: 0.05, Beta: 0.05, Normalized: normalized}
		b.Run(map[bool]string{false: "logistic", true: "normalised"}[normalized], func(b *testing.B) {
			for b.Loop() {
				test.LLR(p)
			}
		})
	}
}
