package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// convShape is a convolution to test: depthwise ones have no inputs of their own.
type convShape struct {
	out, in, size int
	depthwise     bool
}

func (s convShape) String() string {
	if s.depthwise {
		return fmt.Sprintf("FloatDepthwise of %d, %d×%[2]d", s.out, s.size)
	}
	return fmt.Sprintf("FloatConv of %d to %d, %d×%[3]d", s.in, s.out, s.size)
}

// convCall makes a convolution of random images whose channels are those of the
// shape, padded.
func convCall(r *rand.Rand, s convShape, random randomSlice) *floatCall {
	n := 1 + r.IntN(2)
	weights, bias := random(r, s.out*s.in*s.size*s.size), random(r, s.out)
	if r.IntN(4) == 0 {
		bias = nil
	}
	var apply func(dst, src, add FloatImages, n int, b Bounds)
	in, out := 0, 0
	if s.depthwise {
		c := NewFloatDepthwise(weights, bias, s.out, s.size)
		apply, in, out = c.Apply, c.Channels(), c.Channels()
	} else {
		c := NewFloatConv(weights, bias, s.out, s.in, s.size)
		apply, in, out = c.Apply, c.in, c.out
	}
	dst := randomImages(r, n, s.out, out, r.IntN(2), random)
	src := randomImages(r, n, max(s.in, in*btoi(s.depthwise)), in, s.size/2+r.IntN(2), random)
	add := FloatImages{Channels: out, Border: dst.Border}
	args := [][]float32{dst.Data, src.Data}
	if r.IntN(2) == 0 {
		add = randomImages(r, n, out, out, dst.Border, random)
		args = append(args, add.Data)
	}
	b := []Bounds{Unbounded, ReLU, ReLU6, {-0.5, 0.25}}[r.IntN(4)]
	return &floatCall{name: s.String(), args: args,
		run: func(args [][]float32) {
			dst, src, add := dst, src, add
			dst.Data, src.Data = args[0], args[1]
			if add.Data != nil {
				add.Data = args[2]
			}
			apply(dst, src, add, n, b)
		},
		twin: func(args [][]float64) [][]float64 {
			return convTwin(s, weights, bias, dst, src, args, n, b)
		}}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// convTwin computes the convolution in float64 from the ONNX order of weights, an
// output after the other, and returns the tolerances.
func convTwin(s convShape, weights, bias []float32, dst, src FloatImages, args [][]float64, n int, b Bounds) [][]float64 {
	tolerance := make([][]float64, len(args))
	tolerance[0] = make([]float64, len(args[0]))
	for image := range n {
		for o := range dst.Channels {
			for row := range ImageSide {
				for column := range ImageSide {
					at := dst.At(image, row, column) + o
					sum := 0.0
					if bias != nil && o < s.out {
						sum = float64(bias[o])
					}
					magnitude := math.Abs(sum)
					term := func(x float64) {
						sum += x
						magnitude += math.Abs(x)
					}
					for i := range s.in {
						if o >= s.out {
							break // padding
						}
						from := i
						if s.depthwise {
							from = o
						}
						for k := range s.size * s.size {
							y, x := row+k/s.size-s.size/2, column+k%s.size-s.size/2
							if 0 <= y && y < ImageSide && 0 <= x && x < ImageSide {
								term(args[1][src.At(image, y, x)+from] * float64(weights[(o*s.in+i)*s.size*s.size+k]))
							}
						}
					}
					if len(args) > 2 {
						term(args[2][at])
					}
					args[0][at] = min(max(sum, float64(b.Low)), float64(b.High))
					tolerance[0][at] = sumTolerance(s.in*s.size*s.size+1, magnitude)
				}
			}
		}
	}
	return tolerance
}

// randomImages has zeros in its border and in the channels used leaves.
func randomImages(r *rand.Rand, n, used, channels, border int, random randomSlice) FloatImages {
	m := NewFloatImages(n, channels, border)
	for i := range n {
		for row := range ImageSide {
			for column := range ImageSide {
				copy(m.Data[m.At(i, row, column):], random(r, used))
			}
		}
	}
	return m
}

var convShapes = []convShape{
	{out: 1, in: 1, size: 1}, {out: 16, in: 4, size: 1}, {out: 17, in: 3, size: 3}, {out: 33, in: 5, size: 1},
	{out: 48, in: 8, size: 3}, {out: 64, in: 12, size: 3}, {out: 80, in: 2, size: 5}, {out: 81, in: 7, size: 3},
	{out: 112, in: 4, size: 1},
	{out: 1, in: 1, size: 1, depthwise: true}, {out: 16, in: 1, size: 3, depthwise: true}, {out: 40, in: 1, size: 5, depthwise: true},
}

func TestFloatConv(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range convShapes {
		for range 2 {
			convCall(r, s, randomFloats).check(t, true)
			convCall(r, s, strangeFloats).check(t, false)
		}
	}
}

// TestFloatConvInPlace adds what stands where the result goes.
func TestFloatConvInPlace(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		c := NewFloatConv(randomFloats(r, 40*8*9), randomFloats(r, 40), 40, 8, 3)
		src, add := randomImages(r, 2, 8, 8, 1, randomFloats), randomImages(r, 2, 48, 48, 1, randomFloats)
		dst := NewFloatImages(2, 48, 1)
		c.Apply(dst, src, add, 2, ReLU)
		c.Apply(add, src, add, 2, ReLU)
		for i, x := range add.Data {
			if !sameBits(x, dst.Data[i]) {
				t.Fatalf("element %d is %g in place, %g elsewhere", i, x, dst.Data[i])
			}
		}
	})
}

func TestFloatScaleChannels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	const n, channels = 2, 48
	dst, src := randomImages(r, n, channels, channels, 0, randomFloats), randomImages(r, n, channels, channels, 1, randomFloats)
	call := &floatCall{name: "FloatScaleChannels", args: [][]float32{dst.Data, src.Data, randomFloats(r, n*channels)},
		run: func(args [][]float32) {
			dst, src := dst, src
			dst.Data, src.Data = args[0], args[1]
			FloatScaleChannels(dst, src, args[2], n)
		},
		twin: func(args [][]float64) [][]float64 {
			tolerance := make([]float64, len(dst.Data))
			for i := range n * ImageSide * ImageSide * channels {
				image, square, c := i/channels/64, i/channels%64, i%channels
				at := dst.At(image, square/8, square%8) + c
				args[0][at] = args[1][src.At(image, square/8, square%8)+c] * args[2][image*channels+c]
				tolerance[at] = rounding * math.Abs(args[0][at])
			}
			return [][]float64{tolerance, nil, nil}
		}}
	call.check(t, true)
}

// TestFloatDepthwiseInPlace overwrites what it reads.
func TestFloatDepthwiseInPlace(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		c := NewFloatDepthwise(randomFloats(r, 32), randomFloats(r, 32), 32, 1)
		m, factors := randomImages(r, 2, 32, 32, 1, randomFloats), randomFloats(r, 64)
		dst := NewFloatImages(2, 32, 1)
		c.Apply(dst, m, FloatImages{}, 2, ReLU)
		FloatScaleChannels(dst, dst, factors, 2)
		twice := NewFloatImages(2, 32, 1)
		c.Apply(m, m, FloatImages{}, 2, ReLU)
		FloatScaleChannels(twice, m, factors, 2)
		for i, x := range twice.Data {
			if !sameBits(x, dst.Data[i]) {
				t.Fatalf("element %d is %g, %g if not in place first", i, x, dst.Data[i])
			}
		}
	})
}

// TestFloatConvRefuses wants a panic for shapes that do not fit.
func TestFloatConvRefuses(t *testing.T) {
	c := NewFloatConv(make([]float32, 16*4*9), nil, 16, 4, 3)
	dst, src, none := NewFloatImages(2, 16, 1), NewFloatImages(2, 4, 1), FloatImages{}
	for name, call := range map[string]func(){
		"weights":      func() { NewFloatConv(make([]float32, 5), nil, 1, 1, 1) },
		"biases":       func() { NewFloatConv(make([]float32, 1), make([]float32, 2), 1, 1, 1) },
		"even window":  func() { NewFloatDepthwise(make([]float32, 4), nil, 1, 2) },
		"too few":      func() { c.Apply(dst, src, none, 3, ReLU) },
		"no border":    func() { c.Apply(dst, NewFloatImages(2, 4, 0), none, 2, ReLU) },
		"channels":     func() { c.Apply(dst, dst, none, 2, ReLU) },
		"what to add":  func() { c.Apply(dst, src, src, 2, ReLU) },
		"short to add": func() { c.Apply(dst, src, NewFloatImages(1, 16, 1), 2, ReLU) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func TestFloatConvDoesNotAllocate(t *testing.T) {
	c, d := NewFloatConv(make([]float32, 48*16*9), nil, 48, 16, 3), NewFloatDepthwise(make([]float32, 48*9), nil, 48, 3)
	x, y := NewFloatImages(1, 16, 1), NewFloatImages(1, 48, 1)
	z := NewFloatImages(1, 48, 1)
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() {
			c.Apply(y, x, z, 1, ReLU)
			d.Apply(z, y, FloatImages{}, 1, ReLU)
		}); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}

func BenchmarkFloatConv(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []convShape{{64, 64, 3, false}, {48, 48, 3, false}, {96, 64, 3, false}, {16, 64, 1, false}, {128, 64, 1, false}} {
		c := NewFloatConv(randomFloats(r, s.out*s.in*s.size*s.size), nil, s.out, s.in, s.size)
		dst, src := NewFloatImages(1, s.out, 1), randomImages(r, 1, s.in, s.in, 1, randomFloats)
		b.Run(s.String(), func(b *testing.B) {
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					c.Apply(dst, src, FloatImages{}, 1, ReLU)
				}
				b.ReportMetric(2*64*float64(s.out*s.in*s.size*s.size)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		})
	}
	d := NewFloatDepthwise(randomFloats(r, 128*9), nil, 128, 3)
	x, y := NewFloatImages(1, 128, 1), randomImages(r, 1, 128, 128, 1, randomFloats)
	b.Run("depthwise", func(b *testing.B) {
		benchEveryLevel(b, func(b *testing.B) {
			for b.Loop() {
				d.Apply(x, y, FloatImages{}, 1, ReLU)
			}
		})
	})
}

// TestChannelsFirst wants every number where ONNX has it, and none behind them.
func TestChannelsFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	atEveryLevel(t, func(t *testing.T) {
		for _, c := range []struct{ padded, channels, border int }{{16, 1, 0}, {16, 4, 1}, {16, 8, 0}, {16, 16, 2}, {48, 33, 1}, {96, 81, 1}, {3, 3, 0}} {
			m := NewFloatImages(2, c.padded, c.border)
			copy(m.Data, randomFloats(r, len(m.Data)))
			for image := range 2 {
				dst := make([]float32, 64*c.channels+1)
				dst[64*c.channels] = 7
				m.ChannelsFirst(dst, image, c.channels)
				for i, x := range dst[:64*c.channels] {
					if want := m.Data[m.At(image, i%64/8, i%8)+i/64]; x != want {
						t.Fatalf("%+v, image %d: element %d is %v, expected %v", c, image, i, x, want)
					}
				}
				if dst[64*c.channels] != 7 {
					t.Errorf("%+v: written behind the channels", c)
				}
			}
		}
	})
}

func BenchmarkChannelsFirst(b *testing.B) {
	m, dst := NewFloatImages(1, 96, 1), make([]float32, 81*64)
	benchEveryLevel(b, func(b *testing.B) {
		for b.Loop() {
			m.ChannelsFirst(dst, 0, 81)
		}
	})
}
