package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

func newBenchKernelCommand() *cobra.Command {
	var level string
	var each time.Duration
	c := &cobra.Command{
		Use:   "kernel",
		Short: "Time every numeric kernel at every level of instructions",
		Long: `Run each kernel on data in the first- or second-level cache, at every level of
instructions that this machine has, and print the median CPU time of a call and
its rate: GB/s of what is read and written, GOP/s or GFLOP/s counting a
multiplication and an addition as two. Beside plain Go, the level generic, each
other level has a column that says how many times as fast it is.`,
		Example: "  selfplay bench kernel\n  selfplay bench kernel --level avx2",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			levels, err := benchLevels(level)
			if err != nil {
				return err
			}
			if each < time.Microsecond || each > time.Minute {
				return fmt.Errorf("%w: found --each %s, expected 1µs to 1m", cli.ErrUsage, each)
			}
			return benchKernels(c.Context(), c.OutOrStdout(), levels, each)
		},
	}
	c.Flags().StringVar(&level, "level", "", levelNames+"; default all that this machine has")
	c.Flags().DurationVar(&each, "each", 20*time.Millisecond, "time of one measurement; the median of five counts")
	return c
}

// levelNames are those that --level takes.
const levelNames = "generic, avx2, avx512 or amx (arm64: neon or dotprod)"

// benchLevels returns the named level, or all.
func benchLevels(name string) ([]kernel.Level, error) {
	var all []kernel.Level
	for l := kernel.Generic; l <= kernel.Best(); l++ {
		if l.String() == name {
			return []kernel.Level{l}, nil
		}
		all = append(all, l)
	}
	if name != "" {
		return nil, fmt.Errorf("%w: found --level %s, expected one of %v", cli.ErrUsage, name, all)
	}
	return all, nil
}

func benchKernels(ctx context.Context, w io.Writer, levels []kernel.Level, each time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "kernel\tshape\t")
	for _, l := range levels {
		fmt.Fprintf(table, "%v ns\trate\t", l)
		if len(levels) > 1 && l != kernel.Generic {
			fmt.Fprint(table, "× generic\t")
		}
	}
	fmt.Fprintln(table)
	for _, k := range kernelCases() {
		fmt.Fprintf(table, "%s\t%s\t", k.name, k.shape)
		var generic float64
		for _, l := range levels {
			restore, err := kernel.Force(l)
			if err != nil {
				return err
			}
			ns := timeCall(k.call, each)
			restore()
			fmt.Fprintf(table, "%.1f\t%.1f %s\t", ns, k.work/ns, k.unit)
			if l == kernel.Generic {
				generic = ns
			}
			if len(levels) > 1 && l != kernel.Generic {
				fmt.Fprintf(table, "%.2f\t", generic/ns)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// timeCall returns the median CPU time of a call in nanoseconds.
func timeCall(call func(), each time.Duration) float64 {
	n := 1
	var runs []float64
	for len(runs) < 5 {
		start := cputime.Thread()
		for range n {
			call()
		}
		took := cputime.Thread() - start
		if took < each/2 && n < 1<<40 {
			n *= 2
			continue
		}
		runs = append(runs, float64(took.Nanoseconds())/float64(n))
	}
	return median.Of(runs)
}

// kernelCase is a kernel on data of one shape. work is what a call does in
// billionths of the unit's base: bytes or operations.
type kernelCase struct {
	name, shape string
	work        float64
	unit        string
	call        func()
}

func kernelCases() []kernelCase {
	rng := rand.New(rand.NewPCG(1, 2))
	return slices.Concat(integerCases(rng), floatCases(rng), convCases(rng))
}

// block is how many rows share a king square in crazyhouse's HalfKAv2.
const block = 864

func integerCases(rng *rand.Rand) []kernelCase {
	var cases []kernelCase
	for _, width := range []int{512, 64} {
		rows := kernel.NewRows(block, width, 8)
		for i := range block {
			for j, lanes := 0, rows.LanesOf(i); j < width; j++ {
				lanes[j] = int16(rng.IntN(64) - 32)
			}
		}
		sums := rows.Blank(2)
		for _, n := range []struct{ added, removed int }{{1, 1}, {1, 2}, {2, 2}, {32, 0}} {
			picks := make([]int32, 1<<10)
			for i := range picks {
				picks[i] = rng.Int32N(block)
			}
			at := 0
			cases = append(cases, kernelCase{
				name: "apply", shape: fmt.Sprintf("%d lanes +%d -%d", width, n.added, n.removed),
				work: float64((n.added + n.removed + 2) * (2*width + 32)), unit: "GB/s",
				call: func() {
					at = (at + n.added + n.removed) & (len(picks)/2 - 1)
					add := picks[at : at+n.added]
					rows.Apply(sums[0], sums[1], add, picks[at+n.added:at+n.added+n.removed])
				},
			})
		}
		us, them := make([]int16, width), make([]int16, width)
		for i := range us {
			us[i], them[i] = int16(rng.IntN(400)-200), int16(rng.IntN(400)-200)
		}
		bytes := make([]uint8, 2*width)
		for _, t := range []struct {
			name string
			f    func(dst []uint8, us, them []int16)
		}{{"transform", kernel.Transform}, {"transform squared", kernel.TransformSquare}, {"transform pairs", func(dst []uint8, us, them []int16) {
			kernel.TransformPairs(dst[:len(us)], us, them)
		}}} {
			cases = append(cases, kernelCase{
				name: t.name, shape: fmt.Sprintf("2x%d", width), work: float64(2 * width * 3), unit: "GB/s",
				call: func() { t.f(bytes, us, them) },
			})
		}
		cases = append(cases, denseCases(rng, us, them)...)
	}
	return cases
}

// denseCases are the layers after a transformer with these accumulators.
func denseCases(rng *rand.Rand, us, them []int16) []kernelCase {
	layer := func(outputs, inputs int) *kernel.Dense {
		weights := make([]int8, outputs*inputs)
		for i := range weights {
			weights[i] = int8(rng.IntN(64) - 32) // as in nets: larger ones are rare
		}
		return kernel.NewDense(weights, make([]int32, outputs), outputs, inputs, inputs)
	}
	n := 2 * len(us)
	first := layer(16, n)
	in, sums := make([]uint8, first.PaddedInputs()), make([]int32, first.PaddedOutputs())
	kernel.Transform(in[:n], us, them)
	first.Mul(sums, in)
	tail := kernel.NewTail(6, layer(32, 16), layer(1, 32))
	const tailWork = 2 * (16*32 + 32)
	return []kernelCase{
		{"dense", fmt.Sprintf("%d to 16", n), float64(2 * 16 * n), "GOP/s", func() { first.Mul(sums, in) }},
		{"tail", "16 to 32 to 1", tailWork, "GOP/s", func() { tail.Eval(sums) }},
		{"all three", fmt.Sprintf("2x%d to 16 to 32 to 1", len(us)), float64(2*16*n) + tailWork, "GOP/s",
			func() { tail.EvalAccumulators(first, us, them, in, sums) }},
	}
}

func floatCases(rng *rand.Rand) []kernelCase {
	const width, stride = 512, 520
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = rng.Float32() - 0.5
		}
		return x
	}
	table, sum := random(block*stride), random(width)
	picks := make([]int32, 32)
	for i := range picks {
		picks[i] = rng.Int32N(block)
	}
	moment1, moment2 := random(width), make([]float32, width)
	step := kernel.AdamStep{Beta1: 0.9, Beta2: 0.999, Rate: 1e-6, Epsilon: 1e-8, Keep: 1}
	return []kernelCase{
		{"gather-sum", "32 rows of 512", 32 * width * 4, "GB/s", func() {
			clear(sum)
			kernel.FloatGatherSum(sum, sum, table, stride, picks)
		}},
		gemmCase(random, 64, 16, 1024),
		gemmCase(random, 256, 256, 256),
		{"adam", "512", 7 * width * 4, "GB/s", func() {
			kernel.FloatAdam(sum, moment1, moment2, table[:width], &step)
		}},
	}
}

// gemmCase multiplies matrices of m×k and k×n.
func gemmCase(random func(int) []float32, m, n, k int) kernelCase {
	a, b := kernel.NewFloatMatrix(random(m*k), m, k), kernel.NewFloatMatrix(random(k*n), k, n)
	c := kernel.NewFloatMatrix(make([]float32, m*n), m, n)
	return kernelCase{"gemm", fmt.Sprintf("%dx%d by %dx%d", m, k, k, n), float64(2 * m * n * k), "GFLOP/s", func() {
		clear(c.Data)
		kernel.FloatGemm(c, a, b)
	}}
}

// convCases convolve one image, from the usual shapes of small residual nets.
func convCases(rng *rand.Rand) []kernelCase {
	var cases []kernelCase
	for _, s := range []struct{ in, out, size int }{{64, 64, 3}, {48, 48, 3}, {64, 96, 3}, {64, 16, 1}, {64, 128, 1}} {
		weights := make([]float32, s.in*s.out*s.size*s.size)
		for i := range weights {
			weights[i] = rng.Float32() - 0.5
		}
		conv := kernel.NewFloatConv(weights, nil, s.out, s.in, s.size)
		src, dst := kernel.NewFloatImages(1, s.in, 1), kernel.NewFloatImages(1, s.out, 1)
		for square := range 64 {
			at := src.At(0, square/8, square%8)
			for i := range src.Data[at : at+s.in] {
				src.Data[at+i] = rng.Float32()
			}
		}
		q, bytesSpace := kernel.Quantise(0, 1), new(kernel.ByteSpace)
		bytes, byteSrc := kernel.NewByteConv(weights, nil, s.out, s.in, s.size, q), kernel.NewByteImages(1, s.in, 1, q)
		byteSrc.Set(src, 1) // plain Go skips zeros
		shape, operations := fmt.Sprintf("%d to %d, %dx%[3]d", s.in, s.out, s.size), 2*64*float64(len(weights))
		cases = append(cases, kernelCase{"conv", shape, operations, "GFLOP/s", func() {
			conv.Apply(dst, src, kernel.FloatImages{}, 1, kernel.ReLU)
		}})
		cases = append(cases, kernelCase{"byte conv", shape, operations, "GOP/s", func() {
			bytes.Apply(dst, byteSrc, kernel.FloatImages{}, 1, kernel.ReLU, bytesSpace)
		}})
		if s.size != 3 {
			continue
		}
		winograd, space := kernel.NewFloatWinograd(weights, nil, s.out, s.in), new(kernel.WinogradSpace)
		cases = append(cases, kernelCase{"winograd, as conv", shape, operations, "GFLOP/s", func() {
			winograd.Apply(dst, src, kernel.FloatImages{}, 1, kernel.ReLU, space)
		}})
		quantised := 64 * float64(s.in*5) // bytes written, and floats read
		cases = append(cases, kernelCase{"quantise", fmt.Sprintf("%d channels", s.in), quantised, "GB/s", func() { byteSrc.Set(src, 1) }})
	}
	return cases
}
