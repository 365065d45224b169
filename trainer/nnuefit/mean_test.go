package nnuefit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The average is what its definition says, computed anew in float64 from the
// parameters at every step it is due.
func TestMeanIsTheMovingAverage(t *testing.T) {
	cfg := testConfig()
	cfg.MeanDecay = 0.9
	c := testCore(16, cfg, 5)
	c.startMean(cfg.MeanDecay)
	want := make([]float64, len(c.dense.w))
	for i, w := range c.dense.w {
		want[i] = float64(w)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	for step := 1; step <= 40; step++ {
		if _, err := c.fit(randomBatch(rng, 20).input(), 1e-3); err != nil {
			t.Fatal(err)
		}
		if step%meanPeriod != 0 {
			continue
		}
		keep := math.Pow(min(0.9, float64(1+step)/float64(10+step)), meanPeriod)
		for i, w := range c.dense.w {
			want[i] = keep*want[i] + (1-keep)*float64(w)
		}
	}
	for i, w := range want {
		if math.Abs(float64(c.mean.dense[i])-w) > 1e-5 {
			t.Fatalf("parameter %d: average %g, want %g", i, c.mean.dense[i], w)
		}
	}
	moved := false
	for i, w := range c.averaged().dense.w {
		moved = moved || w != c.dense.w[i]
	}
	if !moved {
		t.Error("the average equals the parameters: the test shows nothing")
	}
}

// Evaluating the average leaves the training state alone: the next step has the
// same bits as without.
func TestEvaluatingMeanChangesNothing(t *testing.T) {
	cores := [2]*core{}
	for i := range cores {
		cfg := testConfig()
		cores[i] = testCore(16, cfg, 7)
		cores[i].startMean(cfg.MeanDecay)
		rng := rand.New(rand.NewPCG(8, 8))
		for range 20 {
			batch := randomBatch(rng, 50)
			if i == 1 {
				other := randomBatch(rand.New(rand.NewPCG(9, 9)), 70)
				cores[i].averaged().evaluate(other.input())
			}
			if _, err := cores[i].fit(batch.input(), 1e-3); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameBits(t, cores[0], cores[1])
}

func TestNoMeanIsTheParameters(t *testing.T) {
	c := testCore(16, testConfig(), 10)
	c.startMean(0)
	if c.averaged() != c {
		t.Error("without an average the core is not its own")
	}
}
