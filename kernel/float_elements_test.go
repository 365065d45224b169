package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// elementwise makes the call of a kernel that treats elements one by one. f is
// its twin: it changes the elements at one index of all arguments. Results of
// the first outputs arguments may err by the given number of roundings of the
// magnitude that f returns.
func elementwise(name string, args [][]float32, run func([][]float32), outputs int, roundings float64, f func(x []float64) (magnitude float64)) *floatCall {
	return &floatCall{name: name, args: args, run: run, exact: true, twin: func(args [][]float64) [][]float64 {
		tolerance := make([][]float64, len(args))
		for k := range outputs {
			tolerance[k] = make([]float64, len(args[k]))
		}
		at := make([]float64, len(args))
		for i := range args[0] {
			for k := range args {
				at[k] = args[k][i]
			}
			magnitude := f(at)
			for k := range args {
				args[k][i] = at[k]
			}
			for k := range outputs {
				tolerance[k][i] = roundings * rounding * magnitude
			}
		}
		return tolerance
	}}
}

type randomSlice = func(*rand.Rand, int) []float32

func addCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatAdd", [][]float32{random(r, n), random(r, n)},
		func(a [][]float32) { FloatAdd(a[0], a[1]) },
		1, 1, func(x []float64) float64 {
			x[0] += x[1]
			return math.Abs(x[0])
		})
}

func mulCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatMul", [][]float32{random(r, n), random(r, n)},
		func(a [][]float32) { FloatMul(a[0], a[1]) },
		1, 1, func(x []float64) float64 {
			x[0] *= x[1]
			return math.Abs(x[0])
		})
}

func scaleCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	f := r.Float32()
	return elementwise("FloatScale", [][]float32{random(r, n)},
		func(a [][]float32) { FloatScale(a[0], f) },
		1, 1, func(x []float64) float64 {
			x[0] *= float64(f)
			return math.Abs(x[0])
		})
}

func lerpCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	share := r.Float32()
	return elementwise("FloatLerp", [][]float32{random(r, n), random(r, n)},
		func(a [][]float32) { FloatLerp(a[0], a[1], share) },
		1, 3, func(x []float64) float64 {
			magnitude := math.Abs(x[0]) + math.Abs(x[1])
			x[0] += float64(share) * (x[1] - x[0])
			return magnitude
		})
}

func mixCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	a, b := r.Float32(), r.Float32()
	return elementwise("FloatMix", [][]float32{random(r, n), random(r, n)},
		func(x [][]float32) { FloatMix(x[0], x[1], a, b) },
		1, 2, func(x []float64) float64 {
			magnitude := math.Abs(x[0]) + math.Abs(x[1])
			x[0] = float64(a)*x[0] + float64(b)*x[1]
			return magnitude
		})
}

func addSquaresCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatAddSquares", [][]float32{random(r, n), random(r, n)},
		func(a [][]float32) { FloatAddSquares(a[0], a[1]) },
		1, 2, func(x []float64) float64 {
			magnitude := math.Abs(x[0]) + x[1]*x[1]
			x[0] += x[1] * x[1]
			return magnitude
		})
}

// quantiseCall's twin rounds before it looks for an integer as the kernel does:
// beside a tie a bit decides.
func quantiseCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	const scale, offset = 9600.0 / 127, -0.49
	return elementwise("FloatQuantise", [][]float32{random(r, n)},
		func(a [][]float32) { FloatQuantise(a[0], scale, offset) },
		1, 3, func(x []float64) float64 {
			product := float32(float64(float32(scale)) * x[0])
			x[0] = math.RoundToEven(float64(product+float32(offset))) / float64(float32(scale))
			return math.Abs(x[0])
		})
}

func clampCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	limit := r.Float32()
	return elementwise("FloatClampSum without base", [][]float32{random(r, n)},
		func(a [][]float32) { FloatClampSum(a[0], nil, limit) },
		0, 0, func(x []float64) float64 {
			x[0] = min(max(x[0], -float64(limit)), float64(limit))
			return 0
		})
}

func clampSumCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	limit := r.Float32()
	return elementwise("FloatClampSum", [][]float32{random(r, n), random(r, n)},
		func(a [][]float32) { FloatClampSum(a[0], a[1], limit) },
		1, 2, func(x []float64) float64 {
			magnitude := math.Abs(x[0]) + math.Abs(x[1])
			x[0] = min(max(x[0]+x[1], -float64(limit)), float64(limit)) - x[1]
			return magnitude
		})
}

func clipped(x float64) float64 { return min(max(x, 0), 1) }

// around returns values of which some lie within 0 and 1, some on either side.
func around(r *rand.Rand, n int, random randomSlice) []float32 {
	x := random(r, n)
	for i := range x {
		x[i] *= 2
	}
	return x
}

func clipCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatClip", [][]float32{random(r, n), around(r, n, random)},
		func(a [][]float32) { FloatClip(a[0], a[1]) },
		0, 0, func(x []float64) float64 {
			x[0] = clipped(x[1])
			return 0
		})
}

func squareClipCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatSquareClip", [][]float32{random(r, n), around(r, n, random)},
		func(a [][]float32) { FloatSquareClip(a[0], a[1]) },
		1, 1, func(x []float64) float64 {
			x[0] = clipped(x[1]) * clipped(x[1])
			return x[0]
		})
}

func clipBackCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatClipBack", [][]float32{random(r, n), around(r, n, random), random(r, n)},
		func(a [][]float32) { FloatClipBack(a[0], a[1], a[2]) },
		0, 0, func(x []float64) float64 {
			if x[0] = 0; x[1] > 0 && x[1] < 1 {
				x[0] = x[2]
			}
			return 0
		})
}

func squareClipBackCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	return elementwise("FloatSquareClipBack", [][]float32{random(r, n), around(r, n, random), random(r, n)},
		func(a [][]float32) { FloatSquareClipBack(a[0], a[1], a[2]) },
		1, 1, func(x []float64) float64 {
			if x[0] = 0; x[1] > 0 && x[1] < 1 {
				x[0] = 2 * x[1] * x[2]
			}
			return math.Abs(x[0])
		})
}

// squares returns values that second moments have.
func squares(r *rand.Rand, n int, random randomSlice) []float32 {
	x := random(r, n)
	for i, v := range x {
		x[i] = v * v
	}
	return x
}

func adamCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	step := AdamStep{Beta1: 0.9, Beta2: 0.999, Rate: 0.01, Epsilon: 1e-3, Keep: 0.99}
	beta1, beta2 := float64(step.Beta1), float64(step.Beta2)
	return elementwise("FloatAdam", [][]float32{random(r, n), random(r, n), squares(r, n, random), random(r, n)},
		func(a [][]float32) { FloatAdam(a[0], a[1], a[2], a[3], &step) },
		3, 16, func(x []float64) float64 {
			magnitude := math.Abs(x[0]) + math.Abs(x[1]) + math.Abs(x[2]) + math.Abs(x[3])
			x[1] = beta1*x[1] + (1-beta1)*x[3]
			x[2] = beta2*x[2] + (1-beta2)*x[3]*x[3]
			move := float64(step.Rate) / (math.Sqrt(x[2]) + float64(step.Epsilon))
			x[0] = float64(step.Keep)*x[0] - move*x[1]
			return magnitude * (1 + move)
		})
}

func adamIdleCall(r *rand.Rand, n int, random randomSlice) *floatCall {
	const keep, drift, epsilon = float32(0.97), float32(0.03), float32(1e-3)
	return elementwise("FloatAdamIdle", [][]float32{random(r, n), random(r, n), random(r, n), squares(r, n, random)},
		func(a [][]float32) { FloatAdamIdle(a[0], a[1], a[2], a[3], keep, drift, epsilon) },
		1, 8, func(x []float64) float64 {
			move := float64(drift) / (math.Sqrt(x[3]) + float64(epsilon)) * x[2]
			x[0] = float64(keep)*x[1] - move
			return math.Abs(x[1]) + math.Abs(move)
		})
}

// TestFloatAdamIdleInPlace lets dst be w, as the trainer does.
func TestFloatAdamIdleInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range testSizes {
		c := adamIdleCall(r, n, randomFloats)
		c.run = func(a [][]float32) {
			FloatAdamIdle(a[1], a[1], a[2], a[3], 0.97, 0.03, 1e-3)
			copy(a[0], a[1])
			copy(a[1], c.args[1])
		}
		c.check(t, true)
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
	floatsClose(t, "w", w, stepped)
	FloatScale(m, float32(math.Pow(beta1, steps)))
	floatsClose(t, "m", m, sm)
}

func floatsClose(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= 1e-6) {
			t.Fatalf("%s[%d] = %g, want %g (difference %g)", what, i, got[i], want[i], d)
		}
	}
}

func TestFloatClampSumValues(t *testing.T) {
	nan := float32(math.NaN())
	atEveryLevel(t, func(t *testing.T) {
		w := []float32{-3, -1, 0, 1, 3, nan, 3}
		FloatClampSum(w, []float32{0, -2, 5, 0.5, 0.25, 1, nan}, 2)
		for i, want := range []float32{-2, 0, -3, 1, 1.75, nan, 3} {
			if !sameBits(w[i], want) {
				t.Errorf("with base, element %d is %g, want %g", i, w[i], want)
			}
		}
		FloatClampSum(w, nil, 1)
		for i, want := range []float32{-1, 0, -1, 1, 1, nan, 1} {
			if !sameBits(w[i], want) {
				t.Errorf("without base, element %d is %g, want %g", i, w[i], want)
			}
		}
	})
}

// TestFloatClipValues shows the edges: zero of both signs, NaN of both signs.
func TestFloatClipValues(t *testing.T) {
	nan, negative := float32(math.NaN()), math.Float32frombits(0xffc00000)
	zero, inf := math.Float32frombits(1<<31), float32(math.Inf(1))
	src := []float32{0, zero, 1e-45, -1e-45, 1, 1.5, nan, negative, inf, -inf}
	want := []float32{0, 0, 1e-45, 0, 1, 1, nan, nan, 1, 0}
	atEveryLevel(t, func(t *testing.T) {
		dst := make([]float32, len(src))
		FloatClip(dst, src)
		for i := range want {
			if !sameBits(dst[i], want[i]) {
				t.Errorf("clip(%g) = %g, want %g", src[i], dst[i], want[i])
			}
		}
	})
}

// TestFloatQuantiseValues shows ties, offsets and what is no number.
func TestFloatQuantiseValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		offset    float32
		src, want []float32
	}{
		{0, []float32{0, 0.125, 0.375, -0.125, -0.375, 0.13, 100.2, nan, inf, -inf}, []float32{0, 0, 0.5, 0, -0.5, 0.25, 100.25, nan, inf, -inf}},
		{-0.49, []float32{0, 0.2, 0.25, 0.49, 0.5, 0.99, 1}, []float32{0, 0, 0.25, 0.25, 0.5, 0.75, 1}},
	} {
		atEveryLevel(t, func(t *testing.T) {
			x := slices.Clone(c.src)
			FloatQuantise(x, 4, c.offset)
			for i, want := range c.want {
				if x[i] != want && !sameBits(x[i], want) {
					t.Errorf("quarters of %g, offset %g: %g, want %g", c.src[i], c.offset, x[i], want)
				}
			}
		})
	}
}
