package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByteConv wants the same bits at all levels, and what the bytes stand for
// convolved within the errors of quantisation and rounding.
func TestByteConv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, s := range []convShape{{out: 1, in: 1, size: 1}, {out: 20, in: 16, size: 3}, {out: 48, in: 24, size: 3}, {out: 80, in: 16, size: 5}, {out: 96, in: 40, size: 1}} {
		for _, low := range []float32{0, -0.7} {
			checkByteConv(t, r, s, low)
		}
	}
}

func checkByteConv(t *testing.T, r *rand.Rand, s convShape, low float32) {
	t.Helper()
	const n = 2
	weights, bias := randomFloats(r, s.out*s.in*s.size*s.size), randomFloats(r, s.out)
	for i := range weights[:len(weights)/s.out] { // the first output's sums are as large as they get
		weights[i] = 1
	}
	q := Quantise(low, 1)
	c := NewByteConv(weights, bias, s.out, s.in, s.size, q)
	src := randomImages(r, n, s.in, c.in, s.size/2, func(r *rand.Rand, n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = min(low+(1.1-low)*r.Float32(), 1)
		}
		return x
	})
	add := randomImages(r, n, s.out, c.out, 1, randomFloats)
	space := new(ByteSpace)
	apply := func(c *ByteConv, l Level, inPlace bool) []float32 {
		forceLevel(t, l)
		bytes, dst, before := NewByteImages(n, c.in, s.size/2, q), NewFloatImages(n, c.out, 1), add
		bytes.Set(src, n)
		if inPlace {
			copy(dst.Data, add.Data)
			before = dst
		}
		c.Apply(dst, bytes, before, n, Unbounded, space)
		return dst.Data
	}
	whole := *c // reads all of the border
	whole.bands, whole.outer = []byteBand{{0, ImageSide, 0, s.size}}, 0
	want := apply(&whole, Generic, false)
	for l := Generic; l <= Best(); l++ {
		for _, inPlace := range []bool{false, true} {
			if got := apply(c, l, inPlace); !slices.EqualFunc(got, want, sameBits) {
				t.Errorf("%v, from %g: level %v, in place %v, differs from plain code of the whole window", s, low, l, inPlace)
			}
		}
	}
	// Steps of the inputs are 1/Scale; of the weights 1/127 of the largest, 1.
	dst := NewFloatImages(n, c.out, 1)
	args := [][]float64{widen(dst.Data), widen(src.Data), widen(add.Data)}
	convTwin(s, weights, bias, dst, src, args, n, Unbounded)
	inputs := float64(s.in * s.size * s.size)
	allowed := inputs*(0.5/float64(q.Scale)+0.5/byteMost) + 1e-4
	worst := 0.0
	for i, x := range want {
		worst = max(worst, math.Abs(float64(x)-args[0][i]))
	}
	if !(worst <= allowed) {
		t.Errorf("%v, from %g: off by %g, expected at most %g", s, low, worst, allowed)
	}
}

func TestByteImagesSet(t *testing.T) {
	for _, channels := range []int{4, 8, 12} { // rows of 32 bytes take other kernels than those of 64
		checkByteImagesSet(t, channels)
	}
}

func checkByteImagesSet(t *testing.T, channels int) {
	numbers := []float32{0, 0.5, 1.5, 2.5, 127, 127.4, 127.5, 128, 255, 1e9, -0.4, -0.5, -0.6, -100, -1e9, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 100.49}
	src := NewFloatImages(1, channels, 1)
	for i := range 64 * channels {
		square := i / channels
		src.Data[src.At(0, square/8, square%8)+i%channels] = numbers[i%len(numbers)]
	}
	atEveryLevel(t, func(t *testing.T) {
		for _, zero := range []uint8{0, 7, 127} {
			m := NewByteImages(1, channels, 2, Quantisation{Scale: 1, Zero: zero})
			m.Set(src, 1)
			for i, b := range m.Data {
				row, column := i/m.Row()-2, i/channels%12-2
				want := float64(zero)
				if row >= 0 && row < 8 && column >= 0 && column < 8 {
					x := float64(src.Data[src.At(0, row, column)+i%channels])
					if x != x {
						x = math.Inf(1)
					}
					want = min(max(math.RoundToEven(x)+want, 0), 127)
				}
				if float64(b) != want {
					t.Fatalf("%d channels, zero %d: byte %d is %d, expected %v", channels, zero, i, b, want)
				}
			}
		}
	})
}

func TestQuantise(t *testing.T) {
	for _, c := range []struct {
		low, high float32
		want      Quantisation
	}{
		{0, 2, Quantisation{63.5, 0}}, {-1, 1, Quantisation{63.5, 64}}, {1, 127, Quantisation{1, 0}}, {-127, -3, Quantisation{1, 127}},
		{0, 0, Quantisation{1, 0}}, {0, float32(math.Inf(1)), Quantisation{1, 0}},
	} {
		if got := Quantise(c.low, c.high); got != c.want {
			t.Errorf("Quantise(%g, %g) = %v, expected %v", c.low, c.high, got, c.want)
		}
	}
}

func TestByteConvDoesNotAllocate(t *testing.T) {
	q := Quantise(0, 1)
	c := NewByteConv(make([]float32, 48*16*9), nil, 48, 16, 3, q)
	x, y, b, space := NewFloatImages(1, 16, 1), NewFloatImages(1, 48, 1), NewByteImages(1, 16, 1, q), new(ByteSpace)
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() {
			b.Set(x, 1)
			c.Apply(y, b, y, 1, ReLU, space)
		}); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}

func BenchmarkByteConv(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	q := Quantise(0, 1)
	for _, s := range []convShape{{64, 64, 3, false}, {48, 48, 3, false}} {
		c := NewByteConv(randomFloats(r, s.out*s.in*9), nil, s.out, s.in, s.size, q)
		dst, src, space := NewFloatImages(1, s.out, 1), NewByteImages(1, s.in, 1, q), new(ByteSpace)
		src.Set(randomImages(r, 1, s.in, s.in, 1, randomFloats), 1) // plain Go skips zeros
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					c.Apply(dst, src, FloatImages{}, 1, ReLU, space)
				}
			})
		})
	}
}

func BenchmarkByteImagesSet(b *testing.B) {
	src, dst := NewFloatImages(1, 64, 1), NewByteImages(1, 64, 1, Quantise(0, 1))
	benchEveryLevel(b, func(b *testing.B) {
		for b.Loop() {
			dst.Set(src, 1)
		}
	})
}
