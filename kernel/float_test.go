package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomFloats returns n values in −1..1, about a third of them zero.
func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if r.IntN(3) > 0 {
			x[i] = 2*r.Float32() - 1
		}
	}
	return x
}

func floatsClose(t *testing.T, what string, got, want []float32, tol float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tol) {
			t.Fatalf("%s[%d] = %g, want %g (difference %g)", what, i, got[i], want[i], d)
		}
	}
}

func TestFloatGatherSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 7, 8, 9, 24, 33} {
		stride := width + 3
		table := randomFloats(r, 50*stride)
		rows := make([]int32, 20)
		for i := range rows {
			rows[i] = int32(r.IntN(50))
		}
		got := randomFloats(r, width)
		want := append([]float32(nil), got...)
		for _, row := range rows {
			for j := range want {
				want[j] += table[int(row)*stride+j]
			}
		}
		FloatGatherSum(got, table, stride, rows)
		floatsClose(t, "sum", got, want, 0)
	}
}

func TestFloatAffine(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, shape := range [][2]int{{1, 1}, {5, 3}, {16, 8}, {64, 16}, {17, 32}, {33, 11}} {
		in, out := shape[0], shape[1]
		w, src, d := randomFloats(r, in*out), randomFloats(r, in), randomFloats(r, out)
		for i := range src {
			src[i] *= 2
		}
		x, idx := make([]float32, in), make([]int32, in)
		active := FloatClampActive(x, src, idx)
		for i, v := range src {
			if want := min(max(v, 0), 1); x[i] != want {
				t.Fatalf("clamp(%g) = %g", v, x[i])
			}
		}
		got := randomFloats(r, out)
		want := append([]float32(nil), got...)
		gw := randomFloats(r, in*out)
		wantGW := append([]float32(nil), gw...)
		dx, wantDX := randomFloats(r, in), make([]float32, in)
		for k := range in {
			for o := range out {
				want[o] += x[k] * w[k*out+o]
				wantGW[k*out+o] += x[k] * d[o]
				if src[k] > 0 && src[k] < 1 {
					wantDX[k] += d[o] * w[k*out+o]
				}
			}
		}
		FloatAffine(got, w, x, active)
		FloatAffineBack(gw, dx, w, x, d, active)
		floatsClose(t, "out", got, want, 1e-5)
		floatsClose(t, "gw", gw, wantGW, 1e-5)
		floatsClose(t, "dx", dx, wantDX, 1e-5)
	}
}

// TestFloatAdamIdle holds the closed form of idle steps against stepping with
// zero gradients one by one, with a rate that changes on the way.
func TestFloatAdamIdle(t *testing.T) {
	const beta1, beta2, steps = 0.9, 0.999, 40
	r := rand.New(rand.NewPCG(5, 6))
	w, g := randomFloats(r, 50), randomFloats(r, 50)
	m, v := make([]float32, 50), make([]float32, 50)
	step := AdamStep{Beta1: beta1, Beta2: beta2, Rate: 1e-3, Epsilon: 1e-9, Keep: 1}
	FloatAdam(w, m, v, g, &step)

	drift, keep, ratio := 0.0, 1.0, 1.0
	stepped := append([]float32(nil), w...)
	sm, sv := append([]float32(nil), m...), append([]float32(nil), v...)
	zero := make([]float32, 50)
	for i := range steps {
		step.Rate = 1e-3 * float32(1+i%3)
		step.Keep = 1 - float32(i)*1e-4
		FloatAdam(stepped, sm, sv, zero, &step)
		ratio *= beta1 / math.Sqrt(beta2)
		drift = drift*float64(step.Keep) + float64(step.Rate)*ratio
		keep *= float64(step.Keep)
	}
	FloatAdamIdle(w, w, m, v, float32(keep), float32(drift), 1e-9)
	floatsClose(t, "w", w, stepped, 1e-6)
	FloatScale(m, float32(math.Pow(beta1, steps)))
	floatsClose(t, "m", m, sm, 1e-6)
}

func TestFloatClampSum(t *testing.T) {
	w := []float32{-3, -1, 0, 1, 3}
	FloatClampSum(w, []float32{0, -2, 5, 0.5, 0.25}, 2)
	floatsClose(t, "w", w, []float32{-2, 0, -3, 1, 1.75}, 0)
	FloatClampSum(w, nil, 1)
	floatsClose(t, "w", w, []float32{-1, 0, -1, 1, 1}, 0)
}

func BenchmarkFloatGatherSum(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	const rows, width = 4000, 64
	table, dst := randomFloats(r, rows*width), make([]float32, width)
	idx := make([]int32, 32)
	for i := range idx {
		idx[i] = int32(r.IntN(rows))
	}
	b.SetBytes(int64(len(idx) * width * 4))
	for b.Loop() {
		FloatGatherSum(dst, table, width, idx)
	}
}
