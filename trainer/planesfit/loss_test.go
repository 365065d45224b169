package planesfit

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// TestLambdaBeyond: scores beyond lambda_limit have lambda2 as their share of the target.
func TestLambdaBeyond(t *testing.T) {
	m := &Model{cfg: ConfigOf(trainer.Settings{LambdaLimit: 1000, Lambda2: 0.25}, 0)}
	o := m.objective(0.8)
	for score, lambda := range map[search.Score]float64{1000: 0.8, -1000: 0.8, 1001: 0.25, -1001: 0.25} {
		s := sample.Sample{Score: score, Result: 1}
		want := lambda*o.scored(&s)[2] + 1 - lambda
		if got := o.mixed(&s)[2]; math.Abs(got-want) > 1e-12 {
			t.Errorf("score %d: found %g to win, expected %g", score, got, want)
		}
	}
}

// TestLossOfResults: the loss of results is of the positions that have one.
func TestLossOfResults(t *testing.T) {
	samples := randomSamples(4, 20)
	for _, text := range testNets {
		m := newTestModel(t, text, testConfig(), 1)
		stir(m, 2)
		loss := func(samples []sample.Sample) float64 {
			l, err := m.Loss(samples, 0.5)
			if err != nil {
				t.Fatal(err)
			}
			return l.Result
		}
		half := append([]sample.Sample(nil), samples...)
		for i := range half[10:] {
			half[10+i].Result, half[10+i].NoResult = 0, true
		}
		if got, want := loss(half), loss(samples[:10]); math.Abs(got-want) > 1e-5*want || loss(half[10:]) != 0 {
			t.Errorf("%s: found a loss of %g where half have a result, %g where none has, expected %g and 0", text, got, loss(half[10:]), want)
		}
	}
}
