package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// gradients returns the sums of both kinds of gradient for the same images, in the order
// of weights.
func gradients(s convShape, src, d FloatImages, n int) (fast, slow []float32) {
	var space WinogradSpace
	f, g := NewFloatWinogradGradient(s.out, s.in), NewFloatConvGradient(d.Channels, src.Channels, 3)
	for range 2 { // what was summed before is cleared
		f.Clear()
		g.Clear()
		f.Add(src, d, n, &space)
		g.Add(src, d, n)
	}
	fast, slow = make([]float32, s.out*s.in*winogradWindow), make([]float32, s.out*s.in*winogradWindow)
	f.AddTo(fast, s.out, s.in)
	g.AddTo(slow, s.out, s.in)
	return fast, slow
}

// TestFloatWinogradGradientExact wants the bits of FloatConvGradient where no operation
// rounds.
func TestFloatWinogradGradientExact(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const n = winogradImages + 1
	atEveryLevel(t, func(t *testing.T) {
		for _, s := range winogradShapes {
			src, d := randomImages(r, n, s.in, roundUp(s.in, convBlock), 1, wholeFloats), randomImages(r, n, s.out, roundUp(s.out, convBlock), 1, wholeFloats)
			fast, slow := gradients(s, src, d, n)
			for i, x := range fast {
				if x != slow[i] {
					t.Fatalf("%v: weight %d is %g, expected %g", s, i, x, slow[i])
				}
			}
		}
	})
}

// TestFloatWinogradGradientAccurate wants errors like those of FloatConvGradient.
func TestFloatWinogradGradientAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	const n = 8
	s := convShape{out: 16, in: 16, size: 3}
	src, d := randomImages(r, n, s.in, s.in, 1, randomFloats), randomImages(r, n, s.out, s.out, 1, randomFloats)
	exact := make([]float64, s.out*s.in*winogradWindow)
	for w := range exact {
		o, i, k := w/winogradWindow/s.in, w/winogradWindow%s.in, w%winogradWindow
		for square := range n * ImageSide * ImageSide {
			image, row, column := square/64, square%64/8, square%8
			exact[w] += float64(src.Data[src.At(image, row+k/3-1, column+k%3-1)+i]) * float64(d.Data[d.At(image, row, column)+o])
		}
	}
	off := func(x []float32) (sum float64) {
		for i, v := range x {
			sum += (float64(v) - exact[i]) * (float64(v) - exact[i])
		}
		return math.Sqrt(sum / float64(len(x)))
	}
	atEveryLevel(t, func(t *testing.T) {
		a, b := gradients(s, src, d, n)
		fast, slow := off(a), off(b)
		t.Logf("root mean square error %.2g, of FloatConvGradient %.2g", fast, slow)
		if !(fast <= 3*slow) {
			t.Errorf("found a root mean square error of %g, expected at most three times that of FloatConvGradient, %g", fast, slow)
		}
	})
}

func TestFloatWinogradGradientRefuses(t *testing.T) {
	g, space := NewFloatWinogradGradient(16, 16), new(WinogradSpace)
	x := NewFloatImages(2, 16, 1)
	for name, call := range map[string]func(){
		"too few":   func() { g.Add(x, x, 3, space) },
		"no border": func() { g.Add(NewFloatImages(2, 16, 0), x, 2, space) },
		"channels":  func() { g.Add(NewFloatImages(2, 32, 1), x, 2, space) },
		"weights":   func() { g.AddTo(make([]float32, 5), 1, 1) },
		"outputs":   func() { g.AddTo(make([]float32, 17*9), 17, 1) },
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

func TestFloatWinogradBackDoesNotAllocate(t *testing.T) {
	g, space, weights := NewFloatWinogradGradient(48, 16), new(WinogradSpace), make([]float32, 48*16*9)
	c := NewFloatWinograd(weights, nil, 48, 16)
	x, y := NewFloatImages(2, 16, 1), NewFloatImages(2, 48, 1)
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() {
			g.Add(x, y, 2, space)
			g.AddTo(weights, 48, 16)
			c.SetWeights(weights, nil, 48, 16)
		}); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}

func BenchmarkFloatWinogradGradient(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range []convShape{{32, 32, 3, false}, {48, 48, 3, false}, {64, 64, 3, false}} {
		const n = 4
		d, src := randomImages(r, n, s.out, s.out, 1, randomFloats), randomImages(r, n, s.in, s.in, 1, randomFloats)
		fast, slow, space := NewFloatWinogradGradient(s.out, s.in), NewFloatConvGradient(s.out, s.in, 3), new(WinogradSpace)
		for name, add := range map[string]func(){
			"winograd": func() { fast.Add(src, d, n, space) }, "direct": func() { slow.Add(src, d, n) },
		} {
			b.Run(fmt.Sprintf("%d to %d, %s", s.in, s.out, name), func(b *testing.B) {
				benchEveryLevel(b, func(b *testing.B) {
					for b.Loop() {
						add()
					}
				})
			})
		}
	}
}
