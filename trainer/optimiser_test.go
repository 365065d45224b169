package trainer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestRectification holds RAdam's factor against its course: none for five steps,
// rising, all of the rate in the end.
func TestRectification(t *testing.T) {
	last := 0.0
	for step := 1.0; step < 20000; step++ {
		x := rectification(0.999, step)
		if (x > 0) != (step > 5) || x < last || x >= 1 {
			t.Fatalf("step %g: %g after %g", step, x, last)
		}
		last = x
	}
	if last < 0.999 {
		t.Errorf("%g at the end", last)
	}
	if x := rectification(0.999, 6); math.Abs(x-0.0258) > 0.0001 {
		t.Errorf("%g at step 6", x)
	}
}

// published is the twin of Rule: one parameter in float64, by the formulas as
// published.
type published struct{ w, m, v float64 }

func (x *published) step(r Rule, t int, lr, g float64, examples int, decays bool) {
	decay := 0.0
	if decays && r.Optimiser != Adam {
		decay = r.WeightDecay
	}
	if r.Optimiser == SGD {
		g /= float64(examples)
		if r.DecayInGradient {
			g += decay * x.w
		} else {
			x.w -= lr * decay * x.w
		}
		x.m = r.Momentum*x.m + g
		if r.Nesterov {
			x.w -= lr * (g + r.Momentum*x.m)
		} else {
			x.w -= lr * x.m
		}
		return
	}
	x.w -= lr * decay * x.w
	x.m = r.Beta1*x.m + (1-r.Beta1)*g
	x.v = r.Beta2*x.v + (1-r.Beta2)*g*g
	correction1, correction2 := 1-math.Pow(r.Beta1, float64(t)), 1-math.Pow(r.Beta2, float64(t))
	adaptive := x.m / correction1 * math.Sqrt(correction2) / (math.Sqrt(x.v) + r.Epsilon)
	if r.Optimiser == RAdam || r.Optimiser == Ranger {
		share := rectification(r.Beta2, float64(t))
		if share == 0 {
			adaptive, share = x.m/correction1/float64(examples), 1
		}
		adaptive *= share
	}
	x.w -= lr * adaptive
}

// TestRule follows random gradients with every optimiser, beside its twin.
func TestRule(t *testing.T) {
	base := Rule{Momentum: 0.9, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-3, WeightDecay: 0.02}
	rules := map[string]Rule{}
	for _, o := range Optimisers() {
		r := base
		r.Optimiser = o
		rules[string(o)] = r
	}
	nesterov, inGradient := rules["sgd"], rules["sgd"]
	nesterov.Nesterov = true
	inGradient.Nesterov, inGradient.DecayInGradient = true, true
	rules["Nesterov"], rules["decay in the gradient"] = nesterov, inGradient
	for name, r := range rules {
		for _, decays := range []bool{true, false} {
			for _, examples := range []int{1, 4} {
				rng := rand.New(rand.NewPCG(1, 7))
				const n = 37
				var w, m, v, g [n]float32
				var twin [n]published
				for i := range w {
					w[i] = float32(rng.NormFloat64())
					twin[i].w = float64(w[i])
				}
				for step := 1; step <= 40; step++ {
					lr := 0.01 * (1 + rng.Float64())
					for i := range g {
						g[i] = float32(rng.NormFloat64())
						twin[i].step(r, step, lr, float64(g[i]), examples, decays)
					}
					u := r.Update(r.Rates(uint64(step), lr, examples), lr, examples, decays)
					u.Apply(w[:], m[:], v[:], g[:])
					for i := range w {
						if math.Abs(float64(w[i])-twin[i].w) > 1e-4 {
							t.Fatalf("%s, step %d: weight %g, want %g", name, step, w[i], twin[i].w)
						}
					}
				}
			}
		}
	}
}
