package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// gradientCall adds up derivatives with respect to the weights of a convolution of
// the shape.
func gradientCall(r *rand.Rand, s convShape, random randomSlice) *floatCall {
	n := 1 + r.IntN(2*gradientImages)
	var sums []float32
	var run func(sums []float32, src, d FloatImages)
	in, out := 0, 0
	if s.depthwise {
		g := NewFloatDepthwiseGradient(s.out, s.size)
		sums, in, out = g.sums, g.channels, g.channels
		run = func(sums []float32, src, d FloatImages) {
			g.sums = sums
			g.Add(src, d, n)
		}
	} else {
		g := NewFloatConvGradient(s.out, s.in, s.size)
		sums, in, out = g.sums, g.in, g.out
		run = func(sums []float32, src, d FloatImages) {
			g.sums = sums
			g.Add(src, d, n)
		}
	}
	copy(sums, random(r, len(sums)))
	d := randomImages(r, n, out, out, r.IntN(2), random)
	src := randomImages(r, n, in, in, s.size/2+r.IntN(2), random)
	return &floatCall{name: "gradient of " + s.String(), args: [][]float32{sums, src.Data, d.Data},
		run: func(args [][]float32) {
			src, d := src, d
			src.Data, d.Data = args[1], args[2]
			run(args[0], src, d)
		},
		twin: func(args [][]float64) [][]float64 { return gradientTwin(s, in, out, src, d, args, n) }}
}

// gradientTwin adds the products one weight after the other.
func gradientTwin(s convShape, in, out int, src, d FloatImages, args [][]float64, n int) [][]float64 {
	tolerance := [][]float64{make([]float64, len(args[0])), nil, nil}
	place := func(o, i, k int) int { return k*out + o }
	if s.depthwise {
		in = 1
	} else {
		place = func(o, i, k int) int {
			first, width := convGroup(o/convBlock, out/convBlock)
			first, width = first*convBlock, width*convBlock
			return first*in*s.size*s.size + (k*in+i)*width + o - first
		}
	}
	for o := range out {
		for i := range in {
			from := i
			if s.depthwise {
				from = o
			}
			for k := range s.size * s.size {
				at := place(o, i, k)
				magnitude := math.Abs(args[0][at])
				for image := range n {
					for square := range ImageSide * ImageSide {
						row, column := square/ImageSide, square%ImageSide
						x := args[1][src.At(image, row+k/s.size-s.size/2, column+k%s.size-s.size/2)+from]
						product := x * args[2][d.At(image, row, column)+o]
						args[0][at] += product
						magnitude += math.Abs(product)
					}
				}
				tolerance[0][at] = sumTolerance(n*ImageSide*ImageSide+1, magnitude)
			}
		}
	}
	return tolerance
}

func TestFloatConvGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []convShape{
		{out: 1, in: 1, size: 1}, {out: 17, in: 3, size: 3}, {out: 48, in: 8, size: 1}, {out: 64, in: 12, size: 1}, {out: 80, in: 2, size: 1},
		{out: 16, in: 1, size: 3, depthwise: true}, {out: 40, in: 1, size: 5, depthwise: true},
	} {
		gradientCall(r, s, randomFloats).check(t, true)
		gradientCall(r, s, strangeFloats).check(t, false)
	}
}

func TestFloatImageSums(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, random := range []randomSlice{randomFloats, strangeFloats} {
		for _, channels := range []int{16, 48} {
			x, y := randomImages(r, 2, channels, channels, 1, random), randomImages(r, 2, channels, channels, 0, random)
			c := &floatCall{name: "FloatImageSums", args: [][]float32{random(r, channels), random(r, channels), x.Data, y.Data}}
			c.run = func(a [][]float32) {
				x, y := x, y
				x.Data, y.Data = a[2], a[3]
				FloatImageSums(a[0], a[1], x, y, 1)
			}
			c.twin = func(a [][]float64) [][]float64 {
				tolerance := [][]float64{make([]float64, channels), make([]float64, channels), nil, nil}
				for i := range channels {
					var magnitude [2]float64
					for square := range ImageSide * ImageSide {
						p := a[2][x.At(1, square/8, square%8)+i]
						q := p * a[3][y.At(1, square/8, square%8)+i]
						a[0][i] += p
						a[1][i] += q
						magnitude[0] += math.Abs(p)
						magnitude[1] += math.Abs(q)
					}
					for k := range 2 {
						tolerance[k][i] = sumTolerance(ImageSide*ImageSide+1, magnitude[k]+1)
					}
				}
				return tolerance
			}
			c.check(t, isFinite(c.args))
		}
	}
}

func isFinite(args [][]float32) bool {
	for _, x := range args {
		for _, v := range x {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return false
			}
		}
	}
	return true
}

// wholeFloats are small whole numbers, of which sums of products are exact.
func wholeFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(7) - 3)
	}
	return x
}

// inner is the inner product of an image's squares with another's.
func inner(x, y FloatImages) float64 {
	sum := 0.0
	for square := range ImageSide * ImageSide {
		a, b := x.At(0, square/8, square%8), y.At(0, square/8, square%8)
		for c := range x.Channels {
			sum += float64(x.Data[a+c]) * float64(y.Data[b+c])
		}
	}
	return sum
}

// TestFloatConvBack: the derivative of a linear map is its transpose, and
// ⟨y, A·x⟩ = ⟨Aᵀ·y, x⟩.
func TestFloatConvBack(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	none := FloatImages{}
	for _, size := range []int{1, 3, 5} {
		const out, in = 19, 9
		weights := wholeFloats(r, out*in*size*size)
		c, back := NewFloatConv(make([]float32, 32*16*size*size), nil, 32, 16, size), NewFloatConv(make([]float32, 16*32*size*size), nil, 16, 32, size)
		c.SetWeights(weights, make([]float32, out), out, in)
		back.SetBack(weights, out, in)
		d, dBack := NewFloatDepthwise(make([]float32, 32*size*size), nil, 32, size), NewFloatDepthwise(make([]float32, 32*size*size), nil, 32, size)
		d.SetWeights(weights[:out*size*size], make([]float32, out), out)
		dBack.SetBack(weights[:out*size*size], out)
		for range 10 {
			x, y, z := randomImages(r, 1, 16, 16, 2, wholeFloats), randomImages(r, 1, 32, 32, 2, wholeFloats), randomImages(r, 1, 32, 32, 2, wholeFloats)
			ax, ay := NewFloatImages(1, 32, 2), NewFloatImages(1, 16, 2)
			c.Apply(ax, x, none, 1, Unbounded)
			back.Apply(ay, y, none, 1, Unbounded)
			if a, b := inner(y, ax), inner(ay, x); a != b {
				t.Fatalf("size %d: %g forward, %g back", size, a, b)
			}
			dx, dy := NewFloatImages(1, 32, 2), NewFloatImages(1, 32, 2)
			d.Apply(dx, z, none, 1, Unbounded)
			dBack.Apply(dy, y, none, 1, Unbounded)
			if a, b := inner(y, dx), inner(dy, z); a != b {
				t.Fatalf("depthwise, size %d: %g forward, %g back", size, a, b)
			}
		}
	}
}

// TestFloatConvSetWeights: weights set are those that the convolution was made with.
func TestFloatConvSetWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, s := range convShapes {
		weights, bias := randomFloats(r, s.out*s.in*s.size*s.size), randomFloats(r, s.out)
		var got, want []float32
		if s.depthwise {
			c := NewFloatDepthwise(randomFloats(r, len(weights)), nil, s.out, s.size)
			c.SetWeights(weights, bias, s.out)
			made := NewFloatDepthwise(weights, bias, s.out, s.size)
			got, want = append(c.weights, c.bias...), append(made.weights, made.bias...)
		} else {
			c := NewFloatConv(randomFloats(r, len(weights)), nil, s.out, s.in, s.size)
			c.SetWeights(weights, bias, s.out, s.in)
			made := NewFloatConv(weights, bias, s.out, s.in, s.size)
			got, want = append(c.weights, c.bias...), append(made.weights, made.bias...)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v: element %d is %g, want %g", s, i, got[i], want[i])
			}
		}
	}
}

// TestFloatConvGradientAddTo reads sums back in the order of weights.
func TestFloatConvGradientAddTo(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range convShapes {
		want := randomFloats(r, s.out*s.in*s.size*s.size)
		got := make([]float32, len(want))
		if s.depthwise {
			g := NewFloatDepthwiseGradient(s.out, s.size)
			copy(g.sums, NewFloatDepthwise(want, nil, s.out, s.size).weights)
			g.AddTo(got, s.out)
		} else {
			g := NewFloatConvGradient(s.out, s.in, s.size)
			c := NewFloatConv(make([]float32, g.out*g.in*s.size*s.size), nil, g.out, g.in, s.size)
			c.SetWeights(want, nil, s.out, s.in)
			copy(g.sums, c.weights)
			g.AddTo(got, s.out, s.in)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v: element %d is %g, want %g", s, i, got[i], want[i])
			}
		}
	}
}

func TestFloatReLUBackValues(t *testing.T) {
	nan := float32(math.NaN())
	out, d := []float32{0, 1, -1, nan, 1e-45, 2}, []float32{1, 2, 3, 4, 5, nan}
	atEveryLevel(t, func(t *testing.T) {
		dst := make([]float32, len(out))
		FloatReLUBack(dst, out, d)
		for i, want := range []float32{0, 2, 0, 0, 5, nan} {
			if !sameBits(dst[i], want) {
				t.Errorf("element %d is %g, want %g", i, dst[i], want)
			}
		}
	})
}

func TestFloatConvBackDoesNotAllocate(t *testing.T) {
	g, d := NewFloatConvGradient(48, 16, 3), NewFloatDepthwiseGradient(48, 3)
	x, y := NewFloatImages(2, 16, 1), NewFloatImages(2, 48, 1)
	c, weights, bias := NewFloatConv(make([]float32, 48*16*9), nil, 48, 16, 3), make([]float32, 48*16*9), make([]float32, 48)
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() {
			g.Add(x, y, 2)
			d.Add(y, y, 2)
			g.AddTo(weights, 48, 16)
			c.SetWeights(weights, bias, 48, 16)
			FloatImageSums(bias, bias, y, y, 1)
			FloatReLUBack(y.Data, y.Data, y.Data)
		}); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}

func BenchmarkFloatConvGradient(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []convShape{{64, 64, 3, false}, {48, 48, 3, false}, {96, 64, 3, false}, {64, 40, 3, false}, {16, 64, 1, false}, {128, 64, 1, false}} {
		const n = 4
		g := NewFloatConvGradient(s.out, s.in, s.size)
		d, src := randomImages(r, n, s.out, s.out, 1, randomFloats), randomImages(r, n, s.in, s.in, 1, randomFloats)
		b.Run(s.String(), func(b *testing.B) {
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					g.Add(src, d, n)
				}
				b.ReportMetric(2*64*n*float64(s.out*s.in*s.size*s.size)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		})
	}
}
