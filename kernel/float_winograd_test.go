package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var winogradShapes = []convShape{
	{out: 1, in: 1, size: 3}, {out: 16, in: 16, size: 3}, {out: 33, in: 20, size: 3}, {out: 64, in: 32, size: 3}, {out: 81, in: 17, size: 3},
}

// winogradCall makes a convolution of random images whose channels are those of the
// shape, padded.
func winogradCall(r *rand.Rand, s convShape, random randomSlice) *floatCall {
	n := 1 + r.IntN(winogradImages+1)
	weights, bias := random(r, s.out*s.in*winogradWindow), random(r, s.out)
	if r.IntN(4) == 0 {
		bias = nil
	}
	c, space := NewFloatWinograd(weights, bias, s.out, s.in), new(WinogradSpace)
	dst := randomImages(r, n, s.out, c.out, r.IntN(2), random)
	src := randomImages(r, n, s.in, c.in, 1+r.IntN(2), random)
	add := FloatImages{Channels: c.out, Border: dst.Border}
	args := [][]float32{dst.Data, src.Data}
	if r.IntN(2) == 0 {
		add = randomImages(r, n, c.out, c.out, dst.Border, random)
		args = append(args, add.Data)
	}
	b := []Bounds{Unbounded, ReLU, ReLU6, {-0.5, 0.25}}[r.IntN(4)]
	return &floatCall{name: "FloatWinograd, " + s.String(), args: args,
		run: func(args [][]float32) {
			dst, src, add := dst, src, add
			dst.Data, src.Data = args[0], args[1]
			if add.Data != nil {
				add.Data = args[2]
			}
			c.Apply(dst, src, add, n, b, space)
		},
		twin: func(args [][]float64) [][]float64 {
			tolerance := convTwin(s, weights, bias, dst, src, args, n, b)
			allowWinograd(s, weights, dst, src, args[1], n, tolerance[0])
			return tolerance
		}}
}

// allowWinograd adds what Apply says of errors to the tolerances of convTwin, which
// cover the last additions.
func allowWinograd(s convShape, weights []float32, dst, src FloatImages, x []float64, n int, tolerance []float64) {
	magnitude := make([]float64, s.out*s.in) // of windows
	for i, w := range weights {
		magnitude[i/winogradWindow] += math.Abs(float64(w))
	}
	for tile := range n * winogradTiles {
		image, row, column := tile/winogradTiles, tile%winogradTiles/winogradAcross*winogradTile, tile%winogradAcross*winogradTile
		for o := range s.out {
			sum := 0.0
			for i := range s.in {
				most := 0.0
				for k := range winogradParts {
					most = max(most, math.Abs(x[src.At(image, row-1+k/winogradSpan, column-1+k%winogradSpan)+i]))
				}
				sum += most * magnitude[o*s.in+i]
			}
			for k := range winogradTile * winogradTile {
				tolerance[dst.At(image, row+k/winogradTile, column+k%winogradTile)+o] += float64(s.in+12) * 36 * rounding * sum
			}
		}
	}
}

func TestFloatWinograd(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range winogradShapes {
		for range 2 {
			winogradCall(r, s, randomFloats).check(t, true)
			winogradCall(r, s, strangeFloats).check(t, false)
		}
	}
}

// TestFloatWinogradExact wants the bits of FloatConv, forward and back, where no
// operation rounds: of small whole numbers and weights that are multiples of 4.
func TestFloatWinogradExact(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	whole := func(step int) randomSlice {
		return func(r *rand.Rand, n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((r.IntN(17) - 8) * step)
			}
			return x
		}
	}
	var space WinogradSpace
	atEveryLevel(t, func(t *testing.T) {
		for _, s := range winogradShapes {
			weights, bias := whole(4)(r, s.out*s.in*winogradWindow), whole(1)(r, s.out)
			fast := NewFloatWinograd(weights, bias, s.out, s.in)
			slow := NewFloatConv(make([]float32, fast.out*fast.in*winogradWindow), nil, fast.out, fast.in, 3)
			slow.SetWeights(weights, bias, s.out, s.in)
			const n = winogradImages + 1
			src, add := randomImages(r, n, s.in, fast.in, 1, whole(1)), randomImages(r, n, s.out, fast.out, 1, whole(1))
			for name, b := range map[string]Bounds{"all": Unbounded, "bounded": {-100, 300}} {
				got, want := NewFloatImages(n, fast.out, 1), NewFloatImages(n, fast.out, 1)
				fast.Apply(got, src, add, n, b, &space)
				slow.Apply(want, src, add, n, b)
				wantSame(t, fmt.Sprint(s, name), got, want)
			}
			zeros := make([]float32, fast.out*fast.in*winogradWindow)
			back, slowBack := NewFloatWinograd(zeros, nil, fast.in, fast.out), NewFloatConv(zeros, nil, fast.in, fast.out, 3)
			back.SetBack(weights, s.out, s.in)
			slowBack.SetBack(weights, s.out, s.in)
			got, want := NewFloatImages(n, fast.in, 1), NewFloatImages(n, fast.in, 1)
			back.Apply(got, add, FloatImages{}, n, Unbounded, &space)
			slowBack.Apply(want, add, FloatImages{}, n, Unbounded)
			wantSame(t, fmt.Sprint(s, "back"), got, want)
		}
	})
}

// TestWinogradTransforms wants the same bits of the transforms at every level: they only
// add, in one order.
func TestWinogradTransforms(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, channels := range []int{16, 48} {
		for _, b := range []Bounds{Unbounded, ReLU, ReLU6, {-0.5, 0.25}} {
			x, bias := randomImages(r, 1, channels, channels, 1+r.IntN(2), strangeFloats), strangeFloats(r, channels)
			pass := newImagePass(x, x, FloatImages{}, 1, channels, channels, WinogradSize)
			first, part := x.At(0, 0, 0), winogradTiles*channels+winogradGap
			args := [][]float32{x.Data, strangeFloats(r, winogradParts*part)}
			for name, run := range map[string]func(args [][]float32){
				"input":  func(args [][]float32) { winogradInput(&pass, args[1], part, args[0][pass.start:]) },
				"output": func(args [][]float32) { winogradOutput(&pass, args[0][first:], args[1], part, bias, nil, b) },
				"output, added": func(args [][]float32) {
					winogradOutput(&pass, args[0][first:], args[1], part, bias, args[0][first:], b)
				},
				"back": func(args [][]float32) { winogradBack(&pass, args[1], part, args[0][first:]) },
			} {
				call := floatCall{name: fmt.Sprintf("%s, %d channels", name, channels), args: args, run: run, exact: true}
				call.check(t, false)
			}
		}
	}
}

// inSpace returns Apply with memory of its own.
func inSpace(c *FloatWinograd) func(dst, src, add FloatImages, n int, b Bounds) {
	var space WinogradSpace
	return func(dst, src, add FloatImages, n int, b Bounds) { c.Apply(dst, src, add, n, b, &space) }
}

func wantSame(t *testing.T, name string, got, want FloatImages) {
	t.Helper()
	for i, x := range got.Data {
		if x != want.Data[i] {
			t.Fatalf("%s: element %d is %g, expected %g", name, i, x, want.Data[i])
		}
	}
}

// TestFloatWinogradInPlace adds what stands where the result goes.
func TestFloatWinogradInPlace(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		c := NewFloatWinograd(randomFloats(r, 40*16*9), randomFloats(r, 40), 40, 16)
		src, add := randomImages(r, 2, 16, 16, 1, randomFloats), randomImages(r, 2, 48, 48, 1, randomFloats)
		dst := NewFloatImages(2, 48, 1)
		var space WinogradSpace
		c.Apply(dst, src, add, 2, ReLU, &space)
		c.Apply(add, src, add, 2, ReLU, &space)
		wantSame(t, "in place", add, dst)
	})
}

// TestFloatWinogradAccurate wants errors like those of FloatConv.
func TestFloatWinogradAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	const in, out, n = 64, 64, 2
	weights := randomFloats(r, out*in*9)
	src := randomImages(r, n, in, in, 1, randomFloats)
	exact := NewFloatImages(n, out, 1)
	args := [][]float64{widen(exact.Data), widen(src.Data)}
	convTwin(convShape{out: out, in: in, size: 3}, weights, nil, exact, src, args, n, Unbounded)
	off := func(apply func(dst, src, add FloatImages, n int, b Bounds)) float64 {
		dst, sum := NewFloatImages(n, out, 1), 0.0
		apply(dst, src, FloatImages{}, n, Unbounded)
		for i, x := range dst.Data {
			sum += (float64(x) - args[0][i]) * (float64(x) - args[0][i])
		}
		return math.Sqrt(sum / float64(n*out*64))
	}
	fast, slow := off(inSpace(NewFloatWinograd(weights, nil, out, in))), off(NewFloatConv(weights, nil, out, in, 3).Apply)
	t.Logf("root mean square error %.2g, of FloatConv %.2g", fast, slow)
	if !(fast <= 2*slow) {
		t.Errorf("found a root mean square error of %g, expected at most twice that of FloatConv, %g", fast, slow)
	}
}

func TestFloatWinogradDoesNotAllocate(t *testing.T) {
	c, space := NewFloatWinograd(make([]float32, 48*16*9), nil, 48, 16), new(WinogradSpace)
	x, y := NewFloatImages(1, 16, 1), NewFloatImages(1, 48, 1)
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() { c.Apply(y, x, FloatImages{}, 1, ReLU, space) }); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}

func BenchmarkFloatWinograd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []convShape{{32, 32, 3, false}, {48, 48, 3, false}, {64, 64, 3, false}, {96, 64, 3, false}, {256, 256, 3, false}} {
		weights := randomFloats(r, s.out*s.in*9)
		for _, n := range []int{1, 8} {
			dst, src := NewFloatImages(n, s.out, 1), randomImages(r, n, s.in, s.in, 1, randomFloats)
			for name, apply := range map[string]func(dst, src, add FloatImages, n int, b Bounds){
				"winograd": inSpace(NewFloatWinograd(weights, nil, s.out, s.in)), "direct": NewFloatConv(weights, nil, s.out, s.in, 3).Apply,
			} {
				b.Run(fmt.Sprintf("%d to %d, %d images, %s", s.in, s.out, n, name), func(b *testing.B) {
					benchEveryLevel(b, func(b *testing.B) {
						for b.Loop() {
							apply(dst, src, FloatImages{}, n, ReLU)
						}
					})
				})
			}
		}
	}
}
