package nnuefit

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

// gradients returns a batch's gradients, all in one.
func gradients(c *core) []float64 {
	var all []float64
	add := func(x []float32) {
		for _, v := range x {
			all = append(all, float64(v))
		}
	}
	for slot := range c.batch.feats {
		add(c.gradient(slot))
	}
	add(c.gradV)
	add(c.gradD)
	return all
}

func TestClipGradient(t *testing.T) {
	const positions = 100
	for _, workers := range []int{1, 3} {
		cfg := testConfig()
		cfg.Workers = workers
		c := testCore(24, cfg, 1)
		in := randomBatch(rand.New(rand.NewPCG(1, 1)), positions).input()
		c.prepare(in)
		if _, err := c.differentiate(in); err != nil {
			t.Fatal(err)
		}
		before := gradients(c)
		norm := 0.0
		for _, g := range before {
			norm += g * g / positions / positions
		}
		norm = math.Sqrt(norm)
		for _, limit := range []float64{0, 1.001 * norm, norm / 3} {
			c.maxNorm = limit
			if err := c.clipGradient(positions); err != nil {
				t.Fatal(err)
			}
			share := 1.0
			if limit > 0 && limit < norm {
				share = limit / norm
			}
			for i, got := range gradients(c) {
				if math.Abs(got-share*before[i]) > 1e-5*math.Abs(before[i]) {
					t.Fatalf("limit %g, norm %g: gradient %d is %g, was %g", limit, norm, i, got, before[i])
				}
			}
		}
		c.gradD[3] = float32(math.Inf(1))
		if err := c.clipGradient(positions); !errors.Is(err, trainer.ErrDiverged) {
			t.Errorf("infinite gradient: %v", err)
		}
	}
}
