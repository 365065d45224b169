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
	const runs = 2000
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
			rate := float64(accepted) / runs
			wrong := rate
			if truth > 0 {
				wrong = 1 - rate
			}
			t.Logf("%s, true Elo %g: H1 accepted %.4f, mean pairs %.1f", c.name, truth, rate, float64(pairs)/runs)
			// Three standard deviations of a binomial above; below, overshoot
			// makes errors a little rarer than asked.
			if sd := math.Sqrt(0.05 * 0.95 / runs); wrong > 0.05+3*sd || wrong < 0.05-6*sd {
				t.Errorf("%s, true Elo %g: error rate %.4f, want 0.05", c.name, truth, wrong)
			}
			elo := truth / 40 * c.test.Elo1
			if _, want := c.test.ExpectedLength(elo, variance); math.Abs(float64(pairs)/runs/want-1) > 0.15 {
				t.Errorf("%s, true Elo %g: mean pairs %.1f, predicted %.1f", c.name, truth, float64(pairs)/runs, want)
			}
		}
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
