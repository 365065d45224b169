package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// floatCall is a float kernel with one set of arguments.
type floatCall struct {
	name string
	args [][]float32 // all slices of floats it is given
	run  func(args [][]float32)
	// twin computes the call in float64, in place. It returns by how much the
	// elements of each argument may differ from that; nil where none may change.
	twin func(args [][]float64) (tolerance [][]float64)
	// exact says that all levels give the same bits.
	exact bool
}

// check runs a call at every level, twice. It must write nothing outside its
// arguments, give the same bits again, the same bits at all levels if exact and
// otherwise at all but the plain one, and numbers of the same kind at all. With
// finite arguments results must be those of the twin.
func (c *floatCall) check(t *testing.T, finite bool) {
	t.Helper()
	results := make([][][]float32, Best()+1)
	for l := Generic; l <= Best(); l++ {
		results[l] = c.at(t, l)
		c.compare(t, l, "run again", c.at(t, l), results[l], sameBits)
		c.compare(t, l, "plain code", results[l], results[Generic], sameKind)
		if c.exact {
			c.compare(t, l, "plain code", results[l], results[Generic], sameBits)
		} else if lowest := Generic + 1; l > lowest {
			c.compare(t, l, lowest.String(), results[l], results[lowest], sameBits)
		}
		if finite {
			c.compareTwin(t, l, results[l])
		}
	}
}

// at runs the call at a level with its arguments between guards.
func (c *floatCall) at(t *testing.T, l Level) [][]float32 {
	t.Helper()
	const guards = 40
	guard := math.Float32frombits(0x7fc12345)
	var whole, args [][]float32
	for _, a := range c.args {
		w := make([]float32, len(a)+2*guards)
		for i := range w {
			w[i] = guard
		}
		copy(w[guards:], a)
		whole, args = append(whole, w), append(args, w[guards:guards+len(a)])
	}
	restore, err := Force(l)
	if err != nil {
		t.Fatal(err)
	}
	c.run(args)
	restore()
	for i, w := range whole {
		for j, x := range w {
			if (j < guards || j >= len(w)-guards) && math.Float32bits(x) != math.Float32bits(guard) {
				t.Fatalf("%s at level %v writes to element %d of argument %d, which has %d", c.name, l, j-guards, i, len(args[i]))
			}
		}
	}
	return args
}

func (c *floatCall) compare(t *testing.T, l Level, with string, got, want [][]float32, same func(a, b float32) bool) {
	t.Helper()
	for i := range got {
		for j, x := range got[i] {
			if !same(x, want[i][j]) {
				t.Fatalf("%s at level %v: argument %d is %g at %d, expected %g as by %s", c.name, l, i, x, j, want[i][j], with)
			}
		}
	}
}

func (c *floatCall) compareTwin(t *testing.T, l Level, got [][]float32) {
	t.Helper()
	args := make([][]float64, len(c.args))
	for i, a := range c.args {
		args[i] = widen(a)
	}
	tolerance := c.twin(args)
	for i := range got {
		for j, x := range got[i] {
			allowed := 0.0
			if tolerance[i] != nil {
				allowed = tolerance[i][j]
			}
			if d := math.Abs(float64(x) - args[i][j]); !(d <= allowed) {
				t.Fatalf("%s at level %v: argument %d is %g at %d, expected %g ± %g", c.name, l, i, x, j, args[i][j], allowed)
			}
		}
	}
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// sameBits takes one NaN for another: which one comes out of two is open.
func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// sameKind says whether both are NaN, the same infinity, or neither.
func sameKind(a, b float32) bool {
	return a == b || a != a && b != b || !math.IsInf(float64(a), 0) && !math.IsInf(float64(b), 0) && a == a && b == b
}

// rounding is the relative error of one rounding.
const rounding = 1.0 / (1 << 24)

// sumTolerance is the error that the package documentation allows a sum of n
// terms, given the sum of their magnitudes.
func sumTolerance(n int, magnitude float64) float64 { return float64(n+2) * rounding * magnitude }

// testSizes are lengths around those of vectors and of blocks of vectors.
var testSizes = []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 31, 32, 33, 40, 63, 64, 65, 72, 80, 95, 96, 97, 128, 144, 200, 256, 257, 272, 320, 520}

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

// strangeFloats are random ones with a few that follow rules of their own.
func strangeFloats(r *rand.Rand, n int) []float32 {
	x := randomFloats(r, n)
	strange := []float32{
		float32(math.NaN()), math.Float32frombits(0xffc00000), float32(math.Inf(1)), float32(math.Inf(-1)),
		math.Float32frombits(1 << 31), math.SmallestNonzeroFloat32, 1, -1, 1e-39,
	}
	for range n/8 + 1 {
		if n > 0 {
			x[r.IntN(n)] = strange[r.IntN(len(strange))]
		}
	}
	return x
}

// floatKernels are the makers of calls of a size, with arguments from random.
var floatKernels = map[string]func(r *rand.Rand, size int, random func(*rand.Rand, int) []float32) *floatCall{
	"Add":            addCall,
	"Mul":            mulCall,
	"Scale":          scaleCall,
	"Lerp":           lerpCall,
	"Mix":            mixCall,
	"AddSquares":     addSquaresCall,
	"Quantise":       quantiseCall,
	"Clamp":          clampCall,
	"ClampSum":       clampSumCall,
	"Clip":           clipCall,
	"ClipBack":       clipBackCall,
	"SquareClip":     squareClipCall,
	"SquareClipBack": squareClipBackCall,
	"Adam":           adamCall,
	"AdamIdle":       adamIdleCall,
	"GatherSum":      gatherSumCall,
	"Gemm":           gemmCall,
	"GemmClipBack":   gemmClipBackCall,
}

func TestFloatKernels(t *testing.T) {
	for name, call := range floatKernels {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for _, size := range testSizes {
				call(r, size, randomFloats).check(t, true)
				call(r, size, strangeFloats).check(t, false)
			}
		})
	}
}

// FuzzFloatKernels checks all kernels on arguments of any size.
func FuzzFloatKernels(f *testing.F) {
	for i, size := range testSizes {
		f.Add(uint64(i), uint16(size), i%2 == 0)
	}
	f.Add(uint64(99), uint16(1100), true)
	f.Fuzz(func(t *testing.T, seed uint64, size uint16, finite bool) {
		random := strangeFloats
		if finite {
			random = randomFloats
		}
		for _, call := range floatKernels {
			call(rand.New(rand.NewPCG(seed, 1)), int(size%2048), random).check(t, finite)
		}
	})
}

// TestFloatBlocks passes over the lengths at which calls are cut into blocks.
func TestFloatBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"Add", "Mul", "Scale", "Lerp", "Mix", "AddSquares", "Quantise", "Clamp", "ClampSum", "Adam", "AdamIdle"} {
		for _, size := range []int{floatBlock, floatBlock + 1, 2*floatBlock + 17} {
			floatKernels[name](r, size, randomFloats).check(t, true)
		}
	}
}

func TestFloatKernelsDoNotAllocate(t *testing.T) {
	const n = 100
	x, y, z, w := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	table, rows := make([]float32, n*n), []int32{1, 2, 3}
	matrix := func() FloatMatrix { return NewFloatMatrix(make([]float32, n*n), n, n) }
	a, b, c := matrix(), matrix(), matrix()
	atEveryLevel(t, func(t *testing.T) {
		if allocs := testing.AllocsPerRun(10, func() {
			step := AdamStep{Epsilon: 1}
			FloatAdd(x, y)
			FloatMul(x, y)
			FloatScale(x, 2)
			FloatLerp(x, y, 0.5)
			FloatMix(x, y, 1, 2)
			FloatAddSquares(x, y)
			FloatQuantise(x, 127, 0)
			FloatClampSum(x, y, 1)
			FloatClampSum(x, nil, 1)
			FloatAdam(x, y, z, w, &step)
			FloatAdamIdle(x, y, z, w, 1, 1, 1)
			FloatGatherSum(x, x, table, n, rows)
			FloatGemm(c, a, b)
			FloatGemm(c, a, b.T())
			FloatGemmClipBack(c, a, b)
		}); allocs != 0 {
			t.Errorf("%v allocations per run, want none", allocs)
		}
	})
}
