package nnuefit

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

// denseTwin is the twin of the optimisers with idle rows: every real row, touched
// or not, takes part in every step, in float64, by the formulas as published.
type denseTwin struct{ w, m, v, slow []float64 }

func newDenseTwin(c *core) *denseTwin {
	n := c.features * c.row()
	t := &denseTwin{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		t.w[i] = float64(c.rows.row(i / c.row()).w[i%c.row()])
	}
	copy(t.slow, t.w)
	return t
}

// step makes step t with gradient g, summed over a number of examples.
func (d *denseTwin) step(g []float64, cfg Config, lr float64, t, examples int, decays func(i int) bool) {
	decay := cfg.WeightDecay
	if cfg.Optimiser == trainer.Adam {
		decay = 0
	}
	correction1, correction2 := 1-math.Pow(cfg.Beta1, float64(t)), 1-math.Pow(cfg.Beta2, float64(t))
	for i := range d.w {
		if decays(i) {
			d.w[i] -= lr * decay * d.w[i]
		}
		rate := lr * cfg.RowRate
		if cfg.Optimiser == trainer.SGD {
			mean := g[i] / float64(examples)
			d.m[i] = cfg.Momentum*d.m[i] + mean
			if cfg.Nesterov {
				d.w[i] -= rate * (mean + cfg.Momentum*d.m[i])
			} else {
				d.w[i] -= rate * d.m[i]
			}
			continue
		}
		d.m[i] = cfg.Beta1*d.m[i] + (1-cfg.Beta1)*g[i]
		d.v[i] = cfg.Beta2*d.v[i] + (1-cfg.Beta2)*g[i]*g[i]
		adaptive := d.m[i] / correction1 * math.Sqrt(correction2) / (math.Sqrt(d.v[i]) + cfg.Epsilon)
		switch cfg.Optimiser {
		case trainer.Adam, trainer.AdamW:
			d.w[i] -= rate * adaptive
		default:
			most := 2/(1-cfg.Beta2) - 1
			length := most - 2*float64(t)*math.Pow(cfg.Beta2, float64(t))/correction2
			if length > 5 {
				d.w[i] -= rate * adaptive * math.Sqrt((length-4)*(length-2)*most/((most-4)*(most-2)*length))
			} else {
				d.w[i] -= rate * d.m[i] / correction1 / float64(examples)
			}
		}
	}
	if cfg.Optimiser == trainer.Ranger && t%6 == 0 {
		for i := range d.w {
			d.slow[i] += 0.5 * (d.w[i] - d.slow[i])
			d.w[i] = d.slow[i]
		}
	}
}

func TestIdleRowsEqualDense(t *testing.T) {
	type change = func(cfg *Config)
	for name, set := range map[string]change{
		"sgd":           func(cfg *Config) { cfg.Optimiser, cfg.Momentum = trainer.SGD, 0 },
		"momentum":      func(cfg *Config) { cfg.Optimiser = trainer.SGD },
		"Nesterov":      func(cfg *Config) { cfg.Optimiser, cfg.Nesterov, cfg.Momentum = trainer.SGD, true, 0.95 },
		"adam":          func(cfg *Config) { cfg.Optimiser = trainer.Adam },
		"adamw":         func(cfg *Config) {},
		"small epsilon": func(cfg *Config) { cfg.Epsilon = 1e-8 },
		"epsilon":       func(cfg *Config) { cfg.Epsilon = 1e-4 },
		"radam":         func(cfg *Config) { cfg.Optimiser = trainer.RAdam },
		"ranger":        func(cfg *Config) { cfg.Optimiser = trainer.Ranger },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			set(&cfg)
			scale := 1.0
			if cfg.Optimiser == trainer.SGD {
				scale = 100 // or nothing moves
			}
			idleEqualsDense(t, testCore(8, cfg, 3), cfg, scale)
		})
	}
}

// Without a factoriser rows learn at the full rate, whatever RowRate is.
func TestRowRateWithoutFactoriser(t *testing.T) {
	cfg := testConfig()
	c := shapedCore(plainShape(8), cfg, 3)
	cfg.RowRate = 1 // of the twin
	idleEqualsDense(t, c, cfg, 1)
}

// idleEqualsDense trains at rates around scale/1000. It looks at the rows at
// steps around which much happens to those that are idle, and then seldom.
func idleEqualsDense(t *testing.T, c *core, cfg Config, scale float64) {
	rng := rand.New(rand.NewPCG(3, 3))
	row := c.row()
	twin := newDenseTwin(c)
	decays := func(i int) bool { return i%row < c.width && c.rows.last[i/row] > 0 }
	buf := make([]float32, row)
	moved := 0.0
	for step := 1; step <= 600; step++ {
		lr := 1e-3 * scale * (1 + math.Sin(float64(step)/20)/2)
		// Two positions touch few rows, so most sleep through many steps.
		const positions = 2
		in := randomBatch(rng, positions).input()
		c.prepare(in)
		if _, err := c.differentiate(in); err != nil {
			t.Fatal(err)
		}
		g := make([]float64, len(twin.w))
		for slot, f := range c.batch.feats {
			if sum := c.gradient(slot); sum != nil {
				for j, x := range sum[:row] {
					g[int(f)*row+j] = float64(x)
				}
			}
		}
		c.update(lr, positions)
		twin.step(g, cfg, lr, step, positions, decays)
		if step > 20 && step%100 != 0 {
			continue
		}
		for f := range c.features {
			c.rows.peek(buf, f, &c.idle, c.optimiser.step)
			for j, got := range buf {
				want := twin.w[f*row+j]
				if math.Abs(float64(got)-want) > 1e-5 {
					t.Fatalf("step %d: row %d column %d is %g, every row in every step gives %g", step, f, j, got, want)
				}
				moved = max(moved, math.Abs(want))
			}
		}
	}
	if moved < 0.2 {
		t.Errorf("no weight beyond %g: the test shows nothing", moved)
	}
}

// TestOptimisersLearn wants every optimiser to memorise a small set, or nearly
// so.
func TestOptimisersLearn(t *testing.T) {
	for _, o := range trainer.Optimisers() {
		cfg := testConfig()
		cfg.Optimiser = o
		lr := 3e-3
		if o == trainer.SGD {
			lr = 1
		}
		b := randomBatch(rand.New(rand.NewPCG(5, 5)), 64)
		c := testCore(32, cfg, 5)
		var first, last float64
		for step := range 400 {
			loss, err := c.fit(b.input(), lr)
			if err != nil {
				t.Fatal(err)
			}
			if step == 0 {
				first = loss
			}
			last = loss
		}
		if last > first/10 {
			t.Errorf("%s: loss %g after 400 steps on 64 positions, from %g", o, last, first)
		}
	}
}

// TestCheckpointOfOptimisers trains on beside a model that was restored, over
// Lookahead's merges and RAdam's first steps.
func TestCheckpointOfOptimisers(t *testing.T) {
	arch := architectures()["All + Hand"]
	samples := randomSamples(70, 200)
	for _, o := range trainer.Optimisers() {
		for _, steps := range []int{3, 16} {
			cfg := testConfig()
			cfg.Optimiser = o
			var models [2]*Model
			for i := range models {
				var err error
				if models[i], err = New(arch, cfg, uint64(i)); err != nil {
					t.Fatal(err)
				}
			}
			fit(t, models[0], samples, 8, steps)
			var saved bytes.Buffer
			if err := models[0].Checkpoint(&saved); err != nil {
				t.Fatal(err)
			}
			if err := models[1].Restore(&saved); err != nil {
				t.Fatal(err)
			}
			for _, m := range models {
				fit(t, m, samples, 8, 10)
			}
			sameBits(t, models[0].core, models[1].core)
			if models[0].core.optimiser != models[1].core.optimiser {
				t.Fatalf("%s: the optimisers' states differ", o)
			}
		}
	}
}

// TestRestoreOtherOptimiser goes on with every optimiser where every other one
// stopped: at its weights, with moments of nothing.
func TestRestoreOtherOptimiser(t *testing.T) {
	arch := architectures()["All + Hand"]
	samples := randomSamples(71, 200)
	for _, from := range trainer.Optimisers() {
		cfg := testConfig()
		cfg.Optimiser = from
		old, err := New(arch, cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		fit(t, old, samples, 8, 15)
		var saved bytes.Buffer
		if err := old.Checkpoint(&saved); err != nil {
			t.Fatal(err)
		}
		for _, to := range trainer.Optimisers() {
			if to == from {
				continue
			}
			cfg.Optimiser = to
			m, err := New(arch, cfg, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Restore(bytes.NewReader(saved.Bytes())); err != nil {
				t.Fatal(err)
			}
			if c := &m.core.optimiser; m.Steps() != 15 || c.started != 15 || c.rule.Optimiser != to {
				t.Errorf("%s after %s: step %d, moments of step %d, %s", to, from, m.Steps(), c.started, c.rule.Optimiser)
			}
			for _, moments := range [][]float32{m.core.rows.m, m.core.rows.v, m.core.dense.m, m.core.dense.v} {
				for _, x := range moments {
					if x != 0 {
						t.Fatalf("%s after %s: a moment of %g", to, from, x)
					}
				}
			}
			if a, b := old.Evaluate(&samples[3].Pos), m.Evaluate(&samples[3].Pos); a != b {
				t.Errorf("%s after %s: value %g, was %g", to, from, b, a)
			}
			fit(t, m, samples, 8, 8)
		}
	}
}
