package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func testRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// extremes are accumulator lanes and sums at which clipping changes its mind.
var extremes = []int32{math.MinInt32, math.MinInt16, -1, 0, 1, 63, 64, 126, 127, 128, 8127, 8128, 8191, 8192,
	math.MaxInt16, math.MaxInt16 + 1, math.MaxInt32}

// randomLanes returns values around the clipping range, and extremes.
func randomLanes(rng *rand.Rand, n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(rng.Uint64()) >> rng.IntN(14)
		if rng.IntN(8) == 0 {
			s[i] = int16(extremes[rng.IntN(len(extremes))])
		}
	}
	return s
}

func randomSums(rng *rand.Rand, n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(rng.Uint64()) >> rng.IntN(30)
		if rng.IntN(8) == 0 {
			s[i] = extremes[rng.IntN(len(extremes))]
		}
	}
	return s
}

// guarded returns a slice of n numbers in the middle of a longer one filled
// with a pattern, and a function that says whether the rest is untouched.
func guarded[T uint8 | int32](n int) (s []T, intact func() bool) {
	const guard = 64
	all := make([]T, n+2*guard)
	for i := range all {
		all[i] = 0x5a
	}
	return all[guard : guard+n : guard+n], func() bool {
		for i := range guard {
			if all[i] != 0x5a || all[guard+n+i] != 0x5a {
				return false
			}
		}
		return true
	}
}

func checkTransforms(t *testing.T, us, them []int16) {
	t.Helper()
	clip := func(v int16) int { return min(max(int(v), 0), 127) }
	for _, c := range []struct {
		name string
		f    func(dst []uint8, us, them []int16)
		want func(v int16) uint8
	}{
		{"Transform", Transform, func(v int16) uint8 { return uint8(clip(v)) }},
		{"TransformSquare", TransformSquare, func(v int16) uint8 { return uint8(clip(v) * clip(v) / 127) }},
	} {
		got, intact := guarded[uint8](2 * len(us))
		c.f(got, us, them)
		for i, v := range slices.Concat(us, them) {
			if got[i] != c.want(v) {
				t.Fatalf("%s of %d lanes: [%d] of %d is %d, want %d", c.name, len(us), i, v, got[i], c.want(v))
			}
		}
		if !intact() {
			t.Fatalf("%s of %d lanes wrote past its end", c.name, len(us))
		}
	}
	n := len(us) / 2
	if n%laneStep != 0 {
		return
	}
	got, intact := guarded[uint8](2 * n)
	TransformPairs(got, us, them)
	seconds := slices.Concat(us[n:], them[n:])
	for i, x := range slices.Concat(us[:n], them[:n]) {
		y := seconds[i]
		if want := uint8(clip(x) * clip(y) / 127); got[i] != want {
			t.Fatalf("TransformPairs of %d lanes: [%d] of %d and %d is %d, want %d", len(us), i, x, y, got[i], want)
		}
	}
	if !intact() {
		t.Fatalf("TransformPairs of %d lanes wrote past its end", len(us))
	}
}

// TestTransformEveryPair multiplies all numbers that clipping leaves.
func TestTransformEveryPair(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		var us, them [256]int16
		for x := range int16(128) {
			for y := range int16(128) {
				us[y], us[128+y] = x, y
				them[y], them[128+y] = y, x
			}
			checkTransforms(t, us[:], them[:])
		}
	})
}

func TestTransform(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		for width := laneStep; width <= 2048; width += laneStep {
			checkTransforms(t, randomLanes(rng, width), randomLanes(rng, width))
		}
		all := make([]int16, 1<<16)
		for i := range all {
			all[i] = int16(i)
		}
		checkTransforms(t, all[:1<<15], all[1<<15:])
	})
}

func FuzzTransform(f *testing.F) {
	f.Add([]byte{0, 0, 127, 0, 128, 0, 255, 127, 0, 128}, uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		lanes := make([]int16, 2*laneStep*int(width))
		for i := range min(len(lanes), len(data)/2) {
			lanes[i] = int16(data[2*i]) | int16(data[2*i+1])<<8
		}
		for l := Generic; l <= Best(); l++ {
			forceLevel(t, l)
			checkTransforms(t, lanes[:len(lanes)/2], lanes[len(lanes)/2:])
		}
	})
}

func TestTransformRefuses(t *testing.T) {
	for name, f := range map[string]func(dst []uint8, us, them []int16){
		"Transform": Transform, "TransformSquare": TransformSquare,
	} {
		checkPanics(t, name+": short", func() { f(make([]uint8, 31), make([]int16, 16), make([]int16, 16)) })
		checkPanics(t, name+": sides", func() { f(make([]uint8, 48), make([]int16, 16), make([]int16, 32)) })
		checkPanics(t, name+": step", func() { f(make([]uint8, 16), make([]int16, 8), make([]int16, 8)) })
	}
	checkPanics(t, "TransformPairs: long", func() { TransformPairs(make([]uint8, 64), make([]int16, 32), make([]int16, 32)) })
	checkPanics(t, "TransformPairs: sides", func() { TransformPairs(make([]uint8, 32), make([]int16, 32), make([]int16, 64)) })
	checkPanics(t, "TransformPairs: step", func() { TransformPairs(make([]uint8, 16), make([]int16, 16), make([]int16, 16)) })
}

// layer is a Dense and what it was made of.
type layer struct {
	outputs, inputs, stride int
	weights                 []int8
	bias                    []int32
}

func randomLayer(rng *rand.Rand, outputs, inputs int) layer {
	l := layer{outputs: outputs, inputs: inputs, stride: inputs + rng.IntN(3)}
	l.weights, l.bias = make([]int8, outputs*l.stride), make([]int32, outputs)
	for i := range l.weights {
		l.weights[i] = int8(rng.Uint64())
	}
	for i := range l.bias {
		l.bias[i] = int32(rng.Uint64()) >> rng.IntN(25)
	}
	return l
}

// extremeLayer has the weights that make the largest sums, of either sign.
func extremeLayer(outputs, inputs int) layer {
	l := layer{outputs: outputs, inputs: inputs, stride: inputs}
	l.weights, l.bias = make([]int8, outputs*inputs), make([]int32, outputs)
	for i := range l.weights {
		l.weights[i] = math.MinInt8
		if i/inputs%2 == 1 {
			l.weights[i] = math.MaxInt8
		}
	}
	return l
}

// largestNarrow is the largest weight with which any products of 16 inputs, two and two,
// add up in 16 bits: 8 * 32 * 127 < 1<<15.
const largestNarrow = 32

// small bounds the weights by largestNarrow.
func (l layer) small() layer {
	for i, w := range l.weights {
		l.weights[i] = max(min(w, largestNarrow), -largestNarrow)
	}
	return l
}

func (l layer) dense() *Dense { return NewDense(l.weights, l.bias, l.outputs, l.inputs, l.stride) }

// slowMul is the definition of Mul.
func (l layer) slowMul(in []uint8) []int32 {
	out := slices.Clone(l.bias)
	for o := range out {
		for i, w := range l.weights[o*l.stride:][:l.inputs] {
			out[o] += int32(w) * int32(in[i])
		}
	}
	return out
}

// randomInput has activations, many of them zero, and junk in the padding.
func randomInput(rng *rand.Rand, d *Dense) []uint8 {
	in := make([]uint8, d.PaddedInputs())
	for i := range in {
		in[i] = uint8(rng.IntN(128)) * uint8(rng.IntN(2))
		if i >= d.inputs {
			in[i] = uint8(rng.Uint64())
		}
	}
	return in
}

func checkMul(t *testing.T, l layer, in []uint8) {
	t.Helper()
	d := l.dense()
	got, intact := guarded[int32](d.PaddedOutputs())
	d.Mul(got, in)
	want := append(l.slowMul(in), make([]int32, d.PaddedOutputs()-l.outputs)...)
	if !slices.Equal(got, want) {
		t.Fatalf("%d inputs: got %v, want %v", l.inputs, got, want)
	}
	if !intact() {
		t.Fatalf("%d inputs, %d outputs: wrote past the end", l.inputs, l.outputs)
	}
}

func TestDense(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		for _, inputs := range []int{1, 5, 16, 31, 32, 33, 64, 96, 100, 128, 256, 320, 512, 1024, 4096} {
			for _, outputs := range []int{1, 2, 15, 16, 17, 32, 33, 64, 128} {
				if inputs*outputs > 1<<16 {
					continue
				}
				l := randomLayer(rng, outputs, inputs)
				in := randomInput(rng, l.dense())
				checkMul(t, l, in)
				checkMul(t, l.small(), in)
				l = extremeLayer(outputs, inputs)
				in = slices.Repeat([]uint8{MaxActivation}, len(in))
				checkMul(t, l, in)
				checkMul(t, l.small(), in)
			}
		}
	})
}

func TestDenseLargestSums(t *testing.T) {
	l := extremeLayer(2, MaxInputs)
	in := slices.Repeat([]uint8{MaxActivation}, MaxInputs)
	if want := []int32{-128 * 127 * MaxInputs, 127 * 127 * MaxInputs}; !slices.Equal(l.slowMul(in), want) {
		t.Fatalf("definition gives %v, want %v", l.slowMul(in), want)
	}
	atEveryLevel(t, func(t *testing.T) { checkMul(t, l, in) })
}

func TestDenseRefuses(t *testing.T) {
	d := NewDense(make([]int8, 64), make([]int32, 2), 2, 32, 32)
	for name, f := range map[string]func(){
		"no inputs":       func() { NewDense(nil, []int32{0}, 1, 0, 0) },
		"no outputs":      func() { NewDense([]int8{0}, nil, 0, 1, 1) },
		"too many inputs": func() { NewDense(make([]int8, MaxInputs+1), []int32{0}, 1, MaxInputs+1, MaxInputs+1) },
		"narrow stride":   func() { NewDense(make([]int8, 64), make([]int32, 2), 2, 32, 31) },
		"few weights":     func() { NewDense(make([]int8, 63), make([]int32, 2), 2, 32, 32) },
		"few biases":      func() { NewDense(make([]int8, 64), make([]int32, 1), 2, 32, 32) },
		"short input":     func() { d.Mul(make([]int32, 16), make([]uint8, 31)) },
		"short output":    func() { d.Mul(make([]int32, 15), make([]uint8, 32)) },
	} {
		checkPanics(t, name, f)
	}
}

func FuzzDense(f *testing.F) {
	f.Add(uint64(1), uint8(16), uint16(1024), false)
	f.Add(uint64(2), uint8(1), uint16(33), true)
	f.Fuzz(func(t *testing.T, seed uint64, outputs uint8, inputs uint16, extreme bool) {
		rng := rand.New(rand.NewPCG(seed, 0))
		o, i := 1+int(outputs)%64, 1+int(inputs)%2048
		l := randomLayer(rng, o, i)
		in := randomInput(rng, l.dense())
		if extreme {
			l = extremeLayer(o, i)
			in = slices.Repeat([]uint8{MaxActivation}, len(in))
		}
		for v := Generic; v <= Best(); v++ {
			forceLevel(t, v)
			checkMul(t, l, in)
		}
		l = l.small()
		for v := Generic; v <= Best(); v++ {
			forceLevel(t, v)
			checkMul(t, l, in)
		}
	})
}

func BenchmarkTransform(b *testing.B) {
	pairs := func(dst []uint8, us, them []int16) { TransformPairs(dst[:len(us)], us, them) }
	for name, f := range map[string]func(dst []uint8, us, them []int16){"clip": Transform, "square": TransformSquare, "pairs": pairs} {
		for _, width := range []int{64, 512} {
			b.Run(fmt.Sprintf("%s/%d", name, width), func(b *testing.B) {
				rng := testRand()
				us, them := randomLanes(rng, width), randomLanes(rng, width)
				dst := make([]uint8, 2*width)
				benchEveryLevel(b, func(b *testing.B) {
					b.SetBytes(int64(6 * width))
					for b.Loop() {
						f(dst, us, them)
					}
				})
			})
		}
	}
}

func BenchmarkDense(b *testing.B) {
	for _, shape := range []struct{ inputs, outputs int }{{1024, 16}, {512, 32}, {128, 16}, {16, 32}, {32, 32}} {
		rng := testRand()
		l := randomLayer(rng, shape.outputs, shape.inputs)
		for _, size := range []string{"", "-small"} {
			b.Run(fmt.Sprintf("%d-%d%s", shape.inputs, shape.outputs, size), func(b *testing.B) {
				d := l.dense()
				in, dst := randomInput(rng, d), make([]int32, d.PaddedOutputs())
				benchEveryLevel(b, func(b *testing.B) {
					b.SetBytes(int64(shape.inputs * shape.outputs))
					for b.Loop() {
						d.Mul(dst, in)
					}
				})
			})
			l = l.small()
		}
	}
}
