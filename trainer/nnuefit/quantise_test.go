package nnuefit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// TestQuantisedEqualsIntegerNet trains nets of every kind with fake quantisation:
// what they compute is what their integer nets do, but for the last division,
// which drops a fraction. They must also learn, though they see no fractions.
func TestQuantisedEqualsIntegerNet(t *testing.T) {
	for _, name := range []string{"HalfKAv2", "All + Hand", "to the output", "one layer", "squared", "pairs", "scales"} {
		arch := architectures()[name]
		samples := randomSamples(60, 500)
		cfg := testConfig()
		cfg.Quantise, cfg.MeanDecay = true, 0.9
		m, err := New(arch, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		before, err := m.Loss(samples[:250], testHyper.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		hyper := testHyper
		hyper.LearningRate = 3e-3
		for range 40 {
			if _, err := m.Fit(samples[:250], hyper); err != nil {
				t.Fatal(err)
			}
		}
		after, err := m.Loss(samples[:250], testHyper.Lambda)
		if err != nil {
			t.Fatal(err)
		}
		if !(after.Mean < 0.8*before.Mean) {
			t.Errorf("%s: loss %.4f after training, from %.4f", name, after.Mean, before.Mean)
		}
		r, err := m.Export(&bytes.Buffer{}, samples)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.MaxRaw < 1.1 && r.MeanRaw < 0.6) {
			t.Errorf("%s: integer net departs by %.3f raw units on average, %.3f at most", name, r.MeanRaw, r.MaxRaw)
		}
	}
}

// TestSetQuantise: a net that has learned without rounding computes with it as its
// integer net does, learns on, and without it again is what it was.
func TestSetQuantise(t *testing.T) {
	for _, name := range []string{"HalfKAv2", "All + Hand", "pairs"} {
		samples := randomSamples(63, 400)
		cfg := testConfig()
		cfg.MeanDecay = 0
		m, err := New(architectures()[name], cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		hyper := testHyper
		hyper.LearningRate = 3e-3
		train := func(steps int) {
			for range steps {
				if _, err := m.Fit(samples, hyper); err != nil {
					t.Fatal(err)
				}
			}
		}
		measure := func() trainer.Loss {
			l, err := m.Loss(samples, testHyper.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		train(20)
		plain := measure()
		m.SetQuantise(true)
		if rounded := measure(); rounded == plain {
			t.Errorf("%s: rounding changes nothing", name)
		}
		m.SetQuantise(false)
		if again := measure(); again != plain {
			t.Errorf("%s: %+v after rounding, %+v before", name, again, plain)
		}
		m.SetQuantise(true)
		hyper.LearningRate = 3e-4
		before := measure()
		train(20)
		if after := measure(); !(after.Mean < before.Mean) {
			t.Errorf("%s: loss %.4f after training through the rounding, %.4f before", name, after.Mean, before.Mean)
		}
		r, err := m.Export(&bytes.Buffer{}, samples)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.MaxRaw < 1.1 && r.MeanRaw < 0.6) {
			t.Errorf("%s: integer net departs by %.3f raw units on average, %.3f at most", name, r.MeanRaw, r.MaxRaw)
		}
	}
}

// TestQuantisedIsStraightThrough holds the gradient of a quantised net to that of
// a plain net which has the rounded weights as its own: the rounding is not there
// for derivatives.
func TestQuantisedIsStraightThrough(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	cfg := testConfig()
	plain := testCore(16, cfg, 1)
	cfg.Quantise = true
	quantised := testCore(16, cfg, 1)
	disturb(plain, rng)
	for i, p := range [][]float32{plain.rows.w, plain.virtualRows.w, plain.dense.w} {
		copy([][]float32{quantised.rows.w, quantised.virtualRows.w, quantised.dense.w}[i], p)
	}
	in := randomBatch(rng, 200).input()
	var norms [2]float64
	for i, c := range []*core{plain, quantised} {
		c.prepare(in)
		if _, err := c.differentiate(in); err != nil {
			t.Fatal(err)
		}
		norms[i] = math.Sqrt(c.gradientSquares())
	}
	var difference float64
	for i, g := range plain.gradD {
		d := float64(g - quantised.gradD[i])
		difference += d * d
	}
	if difference = math.Sqrt(difference); difference == 0 || difference > 0.1*norms[0] || math.Abs(norms[1]/norms[0]-1) > 0.05 {
		t.Errorf("gradients of norm %g and %g differ by %g", norms[0], norms[1], difference)
	}
	before := append([]float32(nil), quantised.dense.w...)
	quantised.update(1e-6, 200)
	moved := 0
	for i, w := range quantised.dense.w {
		if w != before[i] {
			moved++
		}
	}
	if moved < len(before)/4 {
		t.Errorf("a step below the grid moves %d of %d parameters", moved, len(before))
	}
}

// TestQuantisedLimits looks for the limits asked for in the integer net.
func TestQuantisedLimits(t *testing.T) {
	cfg := testConfig()
	cfg.Quantise, cfg.MeanDecay = true, 0
	cfg.HiddenLimit, cfg.OutputLimit, cfg.TransformerLimit = 0.25, 0.2, 0.125
	m, err := New(nnue.Narrow(16), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	hyper := testHyper
	hyper.LearningRate = 0.05
	samples := randomSamples(62, 200)
	for range 15 {
		if _, err := m.Fit(samples, hyper); err != nil {
			t.Fatal(err)
		}
	}
	n, err := m.Network()
	if err != nil {
		t.Fatal(err)
	}
	largest := func(weights []int8) (most int) {
		for _, w := range weights {
			most = max(most, int(max(w, -w)))
		}
		return most
	}
	var hidden, output, transformer int
	for i := range n.Stacks {
		hidden = max(hidden, largest(n.Stacks[i].L1Weights), largest(n.Stacks[i].L2Weights))
		output = max(output, largest(n.Stacks[i].OutWeights))
	}
	for f := range m.set.Size() {
		for _, w := range n.FTRow(f) {
			transformer = max(transformer, int(max(w, -w)))
		}
	}
	if hidden != 16 || output != 15 || transformer != 16 {
		t.Errorf("largest weights %d, %d, %d; expected the limits 16, 15, 16 to bind", hidden, output, transformer)
	}
}
