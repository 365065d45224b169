package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowTail is the definition of Eval.
func slowTail(shift int, layers []layer, sums []int32) int32 {
	for _, l := range layers {
		in := make([]uint8, l.inputs)
		for i := range in {
			in[i] = uint8(min(max(int64(sums[i])>>shift, 0), MaxActivation))
		}
		sums = l.slowMul(in)
	}
	return sums[0]
}

// checkTail evaluates random sums, padded with zeros as Mul leaves them.
func checkTail(t *testing.T, rng *rand.Rand, shift int, layers []layer) {
	t.Helper()
	var dense []*Dense
	inputs := 1
	for i, l := range layers {
		dense = append(dense, l.dense())
		if i == 0 {
			inputs = l.inputs
		}
	}
	tail := NewTail(shift, dense...)
	for range 10 {
		sums := make([]int32, roundUp(inputs, blockOutputs))
		copy(sums, randomSums(rng, inputs))
		before := slices.Clone(sums)
		if got, want := tail.Eval(sums), slowTail(shift, layers, sums); got != want {
			t.Fatalf("%d layers, %d inputs, shift %d: got %d, want %d", len(layers), inputs, shift, got, want)
		}
		if !slices.Equal(sums, before) {
			t.Fatalf("%d layers, %d inputs, shift %d: changed its input", len(layers), inputs, shift)
		}
	}
}

func TestTail(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		checkTail(t, rng, 6, nil)
		sizes := []int{1, 15, 16, 17, 31, 32, 33, 64, 128}
		for _, l2 := range sizes {
			for shift := range 8 {
				checkTail(t, rng, shift, []layer{randomLayer(rng, 1, l2)})
			}
			checkTail(t, rng, 6, []layer{extremeLayer(1, l2)})
			for _, l3 := range sizes {
				checkTail(t, rng, rng.IntN(16), []layer{randomLayer(rng, l3, l2), randomLayer(rng, 1, l3)})
				checkTail(t, rng, 6, []layer{extremeLayer(l3, l2), extremeLayer(1, l3)})
			}
		}
	})
}

// checkAccumulators evaluates random accumulators by the parts and in one.
func checkAccumulators(t *testing.T, rng *rand.Rand, lanes int, first layer, rest ...layer) {
	t.Helper()
	d := first.dense()
	var dense []*Dense
	for _, l := range rest {
		dense = append(dense, l.dense())
	}
	tail := NewTail(6, dense...)
	in, sums := make([]uint8, d.PaddedInputs()), make([]int32, d.PaddedOutputs())
	for range 5 {
		us, them := randomLanes(rng, lanes), randomLanes(rng, lanes)
		clipped := make([]uint8, 2*lanes)
		for i, v := range slices.Concat(us, them) {
			clipped[i] = uint8(min(max(v, 0), MaxActivation))
		}
		want := slowTail(6, rest, first.slowMul(clipped))
		if got := tail.EvalAccumulators(d, us, them, in, sums); got != want {
			t.Fatalf("%d lanes, %d outputs: got %d, want %d", lanes, first.outputs, got, want)
		}
	}
}

func TestEvalAccumulators(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		for lanes := laneStep; lanes <= 640; lanes += laneStep {
			for _, outputs := range []int{1, 8, 15, 16, 17, 32} {
				rest := []layer{randomLayer(rng, 32, outputs), randomLayer(rng, 1, 32)}
				checkAccumulators(t, rng, lanes, randomLayer(rng, outputs, 2*lanes), rest...)
				checkAccumulators(t, rng, lanes, randomLayer(rng, outputs, 2*lanes).small(), rest...)
				checkAccumulators(t, rng, lanes, extremeLayer(outputs, 2*lanes), rest...)
				checkAccumulators(t, rng, lanes, extremeLayer(outputs, 2*lanes).small(), rest...)
				checkAccumulators(t, rng, lanes, randomLayer(rng, outputs, 2*lanes), randomLayer(rng, 1, outputs))
			}
		}
		checkAccumulators(t, rng, 64, randomLayer(rng, 1, 128))
	})
}

func FuzzTail(f *testing.F) {
	f.Add(uint64(1), uint8(6), uint8(15), uint8(31), false)
	f.Add(uint64(2), uint8(4), uint8(31), uint8(0), true)
	f.Fuzz(func(t *testing.T, seed uint64, shift, l2, l3 uint8, one bool) {
		rng := rand.New(rand.NewPCG(seed, 0))
		a, b := 1+int(l2)%MaxHidden, 1+int(l3)%MaxHidden
		layers := []layer{randomLayer(rng, b, a), randomLayer(rng, 1, b)}
		if one {
			layers = layers[1:]
		}
		for l := Generic; l <= Best(); l++ {
			forceLevel(t, l)
			checkTail(t, rng, int(shift)%16, layers)
		}
	})
}

func TestTailRefuses(t *testing.T) {
	rng := testRand()
	one, two := randomLayer(rng, 1, 32).dense(), randomLayer(rng, 32, 16).dense()
	for name, f := range map[string]func(){
		"negative shift":  func() { NewTail(-1, one) },
		"large shift":     func() { NewTail(16, one) },
		"two outputs":     func() { NewTail(6, two) },
		"does not fit":    func() { NewTail(6, one, one) },
		"too many layers": func() { NewTail(6, one, one, one) },
		"too many inputs": func() { NewTail(6, randomLayer(rng, 1, MaxHidden+1).dense()) },
		"short input":     func() { NewTail(6, two, one).Eval(make([]int32, 15)) },
	} {
		checkPanics(t, name, f)
	}
}

func TestIntKernelsDoNotAllocate(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		r := randomTable(rng, 10, 64, 8)
		rows := r.Blank(2)
		l1 := randomLayer(rng, 16, 128).dense()
		small := NewTail(6, randomLayer(rng, 32, 16).dense(), randomLayer(rng, 1, 32).dense())
		large := NewTail(6, randomLayer(rng, 100, 16).dense(), randomLayer(rng, 1, 100).dense())
		if n := testing.AllocsPerRun(100, func() {
			added, removed := [...]int32{1, 2, 3}, [...]int32{4, 5}
			for i := range added {
				r.Apply(rows[0], rows[0], added[:i+1], removed[:])
				r.Apply(rows[1], rows[0], added[:i], removed[:1])
			}
			var (
				in   [128]uint8
				sums [16]int32
			)
			Transform(in[:], rows[0].Lanes(), rows[1].Lanes())
			TransformSquare(in[:], rows[0].Lanes(), rows[1].Lanes())
			TransformPairs(in[:64], rows[0].Lanes(), rows[1].Lanes())
			l1.Mul(sums[:], in[:])
			_ = small.Eval(sums[:]) + large.Eval(sums[:])
		}); n != 0 {
			t.Errorf("%v allocations per run, want none", n)
		}
	})
}

func BenchmarkEvalAccumulators(b *testing.B) {
	for _, lanes := range []int{512, 128} {
		b.Run(fmt.Sprintf("2x%d-16-32-1", lanes), func(b *testing.B) {
			rng := testRand()
			first := randomLayer(rng, 16, 2*lanes).small().dense()
			tail := NewTail(6, randomLayer(rng, 32, 16).dense(), randomLayer(rng, 1, 32).dense())
			us, them := randomLanes(rng, lanes), randomLanes(rng, lanes)
			in, sums := make([]uint8, first.PaddedInputs()), make([]int32, first.PaddedOutputs())
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					_ = tail.EvalAccumulators(first, us, them, in, sums)
				}
			})
		})
	}
}

func BenchmarkTail(b *testing.B) {
	for _, shape := range []struct{ l2, l3 int }{{16, 32}, {32, 32}, {16, 0}, {64, 64}} {
		b.Run(fmt.Sprintf("%d-%d-1", shape.l2, shape.l3), func(b *testing.B) {
			rng := testRand()
			layers := []*Dense{randomLayer(rng, 1, max(shape.l3, shape.l2)).dense()}
			if shape.l3 > 0 {
				layers = []*Dense{randomLayer(rng, shape.l3, shape.l2).dense(), randomLayer(rng, 1, shape.l3).dense()}
			}
			tail := NewTail(6, layers...)
			sums := randomSums(rng, roundUp(shape.l2, blockOutputs))
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					_ = tail.Eval(sums)
				}
			})
		})
	}
}
