package nnuefit

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestLosses(t *testing.T) {
	const gain = 1.7
	for _, o := range []objective{{PowerLoss, 2, gain}, {PowerLoss, 2.5, gain}, {PowerLoss, 2.6, gain}, {CrossEntropy, 0, gain}} {
		for _, target := range []float64{0, 0.25, 0.5, 0.9, 1} {
			for output := -8.0; output <= 8; output += 0.37 {
				loss, d := o.at(output, target)
				const eps = 1e-5
				up, _ := o.at(output+eps, target)
				down, _ := o.at(output-eps, target)
				if want := (up - down) / (2 * eps); math.Abs(d-want) > 1e-6 {
					t.Fatalf("%+v at %g, target %g: derivative %g, want %g", o, output, target, d, want)
				}
				q := logistic.Sigmoid(gain * output)
				want := math.Pow(math.Abs(q-target), o.power)
				if o.kind == CrossEntropy {
					log := func(t, q float64) float64 { // t·log(t/q), of 0 zero
						if t == 0 {
							return 0
						}
						return t * math.Log(t/q)
					}
					want = log(target, q) + log(1-target, 1-q)
				}
				if loss < 0 || math.Abs(loss-want) > 1e-9 {
					t.Fatalf("%+v at %g, target %g: loss %g, want %g", o, output, target, loss, want)
				}
			}
		}
	}
	// The loss of a net that is sure and wrong is finite.
	if loss, d := (objective{CrossEntropy, 0, 1}).at(1000, 0); loss != 1000 || d != 1 {
		t.Errorf("loss %g, derivative %g", loss, d)
	}
}

func TestLambdaBeyond(t *testing.T) {
	cfg := testConfig()
	cfg.LambdaLimit, cfg.LambdaBeyond = 1000, 0.25
	m, err := New(nnue.Narrow(16), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		score  search.Score
		lambda float64
	}{{1000, 0.8}, {-1000, 0.8}, {1001, 0.25}, {-1001, 0.25}, {search.MatedAfter(3), 0.25}} {
		s := sample.Sample{Score: c.score, Result: 1}
		want := c.lambda*m.scoreTarget(&s) + 1 - c.lambda
		if got := m.target(&s, m.mix(0.8)); math.Abs(got-want) > 1e-12 {
			t.Errorf("score %d: target %g, want %g", c.score, got, want)
		}
	}
}

// A score of the offset stands for an even chance, and scores on either side of it for
// as much for either.
func TestScoreOffset(t *testing.T) {
	m, err := New(nnue.Narrow(16), testConfig(), 1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(score search.Score) float64 {
		return m.scoreTarget(&sample.Sample{Score: score})
	}
	if at(0) != 0.5 {
		t.Errorf("without offset a score of 0 stands for %g, want 0.5", at(0))
	}
	if err := m.SetScoreOffset(50 * search.RawPerCentipawn); err != nil {
		t.Fatal(err)
	}
	if p, above, below := at(50), at(150), at(-50); p != 0.5 || math.Abs(above+below-1) > 1e-12 || above <= p {
		t.Errorf("scores of 50, 150 and -50 stand for %g, %g and %g", p, above, below)
	}
}

// TestLossOfResults: the loss of results is of the positions that have one.
func TestLossOfResults(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 1)
	loss := func(samples []sample.Sample) float64 {
		l, err := m.Loss(samples, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		return l.Result
	}
	samples := randomSamples(5, 200)
	for i := range samples[100:] {
		samples[100+i].Result, samples[100+i].NoResult = 0, true
	}
	if got, want := loss(samples), loss(samples[:100]); math.Abs(got-want) > 1e-9 || loss(samples[100:]) != 0 {
		t.Errorf("found a loss of %g where half have a result, %g where none has, expected %g and 0", got, loss(samples[100:]), want)
	}
}
