package bench

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
)

type benchPlanesOptions struct {
	net, architecture, level, peer, save string
	positions                            string
	library                              string
	int8                                 bool
	runtimes                             []string
	batches                              []int
	rounds                               int
	each                                 time.Duration
}

func newBenchPlanesCommand() *cobra.Command {
	var o benchPlanesOptions
	c := &cobra.Command{
		Use:   "planes",
		Short: "Time plane nets by batch and level of instructions, also against another program",
		Long: `Evaluate positions of random crazyhouse games with a plane net on one core and
print the evaluations a second of CPU time, the median of several rounds, for each
size of batch: with the kernels of every level of instructions that this machine
has, and with the runtimes of --runtime.

A peer is a command that computes the same net on one thread. It reads lines
"BATCH COUNT" from its input, evaluates COUNT batches of BATCH positions for each,
and answers with a line; scripts/peer_onnxruntime.py is one. Rounds of the peer
alternate with ours, and the last column is our speed, of the last column
of kernels, divided by the peer's.

With --int8 and --positions also print how often the net computed with bytes likes
best what it does in float32, and how far its value is off, on the second half of
the positions: what that script prints of the peer's.`,
		Example: `  selfplay bench planes
  selfplay bench planes --net net.onnx --batch 1,16 --level avx2
  selfplay bench planes --runtime onnxgo --batch 1
  selfplay bench planes --save net.onnx --peer "python3 scripts/peer_onnxruntime.py net.onnx"`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cli.NeedsORT(c.Flags(), o.runtimes...); err != nil {
				return err
			}
			return benchPlanes(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", "", "ONNX file, or directory of a run or of learn; default a random net of --arch")
	f.StringVar(&o.architecture, "arch", "5x64", "architecture of the random net")
	f.StringVar(&o.save, "save", "", "write the net to a file, for the peer")
	f.StringVar(&o.positions, "positions", "", "write 1024 encoded positions to a file as little-endian float32, for the peer to calibrate with")
	f.StringVar(&o.level, "level", "", levelNames+"; default all that this machine has")
	f.BoolVar(&o.int8, "int8", false, "also time the net computed with bytes")
	f.StringSliceVar(&o.runtimes, "runtime", nil, "also time the net run by others: onnxgo, or ort in a program built with cgo and -tags ort")
	f.StringVar(&o.library, "library", "", "of --runtime ort: ONNX Runtime's library")
	f.StringVar(&o.peer, "peer", "", "command to compare with")
	f.IntSliceVar(&o.batches, "batch", []int{1, 8, 64}, "positions of a batch")
	f.IntVar(&o.rounds, "rounds", 5, "times each is measured")
	f.DurationVar(&o.each, "each", 300*time.Millisecond, "CPU time of one measurement")
	return c
}

// check reports options that cannot be.
func (o *benchPlanesOptions) check() error {
	if o.rounds < 1 || o.rounds > 1000 || o.each < time.Millisecond || o.each > time.Minute {
		return fmt.Errorf("%w: found --rounds %d --each %s, expected 1 to 1000 and 1ms to 1m", cli.ErrUsage, o.rounds, o.each)
	}
	for _, n := range o.batches {
		if n < 1 || n > 4096 {
			return fmt.Errorf("%w: found --batch %d, expected 1 to 4096", cli.ErrUsage, n)
		}
	}
	return nil
}

func benchPlanes(ctx context.Context, w, stderr io.Writer, o benchPlanesOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	levels, err := benchLevels(o.level)
	if err != nil {
		return err
	}
	file, err := o.file(stderr)
	if err != nil {
		return err
	}
	var written []float32
	if o.positions != "" {
		const count = 1024
		if written, err = benchPositions(ctx, count); err != nil {
			return err
		}
		if err := writeNumbers(o.positions, written); err != nil {
			return err
		}
	}
	var contenders []contender
	add := func(runtime, suffix string) (planes.Runtime, error) {
		net, err := file.Runtime(runtimes.Options{Name: runtime, Calibration: positions.Calibration})
		if err != nil {
			return nil, err
		}
		for _, l := range levels {
			contenders = append(contenders, contender{l.String() + suffix, func(in []float32, n, count int) (time.Duration, error) {
				return timeKernels(net, l, in, n, count)
			}})
		}
		return net, nil
	}
	exact, err := add(runtimes.Native, "")
	if err != nil {
		return err
	}
	if o.int8 {
		bytes, err := add(runtimes.Int8, " int8")
		if err != nil {
			return err
		}
		if written != nil {
			if err := compareBytes(w, exact, bytes, written[len(written)/2:]); err != nil {
				return err
			}
		}
	}
	kernels := len(contenders)
	for _, name := range o.runtimes {
		net, err := file.Runtime(runtimes.Options{Name: name, Calibration: positions.Calibration, Library: o.library})
		if err != nil {
			return err
		}
		defer net.Close()
		contenders = append(contenders, contender{name, func(in []float32, n, count int) (time.Duration, error) {
			return timeRuntime(net, in, n, count)
		}})
	}
	if o.peer != "" {
		p, err := startLinePeer(ctx, o.peer)
		if err != nil {
			return err
		}
		defer p.end()
		contenders = append(contenders, contender{"peer", func(_ []float32, n, count int) (time.Duration, error) { return p.time(n, count) }})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return o.compare(ctx, w, contenders, kernels)
}

// compareBytes prints how far a net computed with bytes is from the exact one, by the
// measures of scripts/peer_onnxruntime.py: moves are compared among all that the policy
// has, legal or not.
func compareBytes(w io.Writer, exact, bytes planes.Runtime, in []float32) error {
	n := len(in) / planes.Size
	var want, got planes.Output
	if err := cmp.Or(exact.Run(in, n, &want), bytes.Run(in, n, &got)); err != nil {
		return err
	}
	best := func(o planes.Output, i int) int {
		p := o.Policy[i*len(o.Policy)/n:][:len(o.Policy)/n]
		return slices.Index(p, slices.Max(p))
	}
	same, sum, most := 0, 0.0, 0.0
	for i := range n {
		if best(want, i) == best(got, i) {
			same++
		}
		off := math.Abs(float64(want.Value[i]) - float64(got.Value[i]))
		sum, most = sum+off, max(most, off)
	}
	_, err := fmt.Fprintf(w, "int8, %d positions: %.1f %% equal best moves of all labels; value: mean error %.4f, largest %.4f\n",
		n, 100*float64(same)/float64(n), sum/float64(n), most)
	return err
}

// file reads or makes the net, and saves it if that is asked for.
func (o *benchPlanesOptions) file(stderr io.Writer) (*runtimes.File, error) {
	file, err := o.open(stderr)
	if err != nil || o.save == "" {
		return file, err
	}
	b, err := onnx.Encode(file.Model)
	if err != nil {
		return nil, err
	}
	return file, os.WriteFile(o.save, b, 0o666)
}

func (o *benchPlanesOptions) open(stderr io.Writer) (*runtimes.File, error) {
	if o.net != "" {
		n, err := player.ReadNet(o.net, chess.Crazyhouse)
		if err != nil {
			return nil, err
		}
		if n.Planes == nil {
			return nil, fmt.Errorf("%w: found %s, expected a plane net", cli.ErrUsage, o.net)
		}
		cli.ShowOrigin(stderr, n.Origin)
		return n.Planes, nil
	}
	a, err := arch.Parse(o.architecture)
	if err != nil {
		return nil, err
	}
	return randomPlanes(a)
}

// randomPlanes makes a plane net with random weights, the same every time.
func randomPlanes(a arch.Architecture) (*runtimes.File, error) {
	p, err := a.New(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		return nil, err
	}
	m, err := a.Model(p, planes.NewMeta(chess.Crazyhouse))
	if err != nil {
		return nil, err
	}
	return runtimes.FromModel(m)
}

// contender is a way to evaluate: it returns the CPU time of count batches of n
// positions.
type contender struct {
	name string
	time func(in []float32, n, count int) (time.Duration, error)
}

// compare measures the contenders, of which the first are our kernels and the last
// is the peer if there is one.
func (o *benchPlanesOptions) compare(ctx context.Context, w io.Writer, contenders []contender, kernels int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "batch\t")
	for _, c := range contenders {
		fmt.Fprintf(table, "%s/s\t", c.name)
	}
	if o.peer != "" {
		fmt.Fprint(table, "ratio\t")
	}
	fmt.Fprintln(table)
	for _, n := range o.batches {
		in, err := benchPositions(ctx, n)
		if err != nil {
			return err
		}
		counts, rates := make([]int, len(contenders)), make([][]float64, len(contenders))
		for range o.rounds {
			for i, c := range contenders {
				rate, err := o.rate(ctx, c, in, n, &counts[i])
				if err != nil {
					return err
				}
				rates[i] = append(rates[i], rate)
			}
		}
		fmt.Fprintf(table, "%d\t", n)
		for _, r := range rates {
			fmt.Fprintf(table, "%.0f\t", median.Of(r))
		}
		if last := len(rates) - 1; o.peer != "" {
			fmt.Fprintf(table, "%.2f\t", median.Of(rates[kernels-1])/median.Of(rates[last]))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// rate measures a contender's evaluations a second. count is how many batches fill
// the time of a measurement, found at the first.
func (o *benchPlanesOptions) rate(ctx context.Context, c contender, in []float32, n int, count *int) (float64, error) {
	for *count = max(*count, 1); ; *count *= 2 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		took, err := c.time(in, n, *count)
		if err != nil {
			return 0, err
		}
		if took >= o.each*2/3 || *count > 1<<24 {
			return float64(n**count) / took.Seconds(), nil
		}
	}
}

// timeKernels times our kernels at a level of instructions, on this thread.
func timeKernels(net planes.Runtime, l kernel.Level, in []float32, n, count int) (time.Duration, error) {
	restore, err := kernel.Force(l)
	if err != nil {
		return 0, err
	}
	defer restore()
	return timeRuns(net, in, n, count, cputime.Thread)
}

// timeRuntime times a runtime whose threads are its own.
func timeRuntime(net planes.Runtime, in []float32, n, count int) (time.Duration, error) {
	return timeRuns(net, in, n, count, func() time.Duration { return cputime.Process(os.Getpid()) })
}

// timeRuns returns the CPU time of count batches by a clock.
func timeRuns(net planes.Runtime, in []float32, n, count int, clock func() time.Duration) (time.Duration, error) {
	var out planes.Output
	start := clock()
	for range count {
		if err := net.Run(in, n, &out); err != nil {
			return 0, err
		}
	}
	return clock() - start, nil
}

// benchPositions encodes n positions of games of this program.
func benchPositions(ctx context.Context, n int) ([]float32, error) {
	list, err := positions.First(positions.SelfPlay(ctx, chess.Crazyhouse, 1), n)
	if err != nil {
		return nil, err
	}
	return positions.Planes(list), nil
}

// linePeer is another program that answers lines with lines.
type linePeer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startLinePeer(ctx context.Context, command string) (*linePeer, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: found an empty --peer", cli.ErrUsage)
	}
	p := &linePeer{cmd: exec.CommandContext(ctx, words[0], words[1:]...)}
	p.cmd.Stderr = os.Stderr
	in, errIn := p.cmd.StdinPipe()
	out, errOut := p.cmd.StdoutPipe()
	if err := cmp.Or(errIn, errOut); err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	return p, p.cmd.Start()
}

// time asks for count batches of n positions.
func (p *linePeer) time(n, count int) (time.Duration, error) {
	start := cputime.Process(p.cmd.Process.Pid)
	_, _ = fmt.Fprintf(p.in, "%d %d\n", n, count) // a peer that does not read does not answer either
	if !p.out.Scan() {
		return 0, fmt.Errorf("peer %s: found the end of its output, expected an answer", p.cmd.Path)
	}
	return cputime.Process(p.cmd.Process.Pid) - start, nil
}

func (p *linePeer) end() {
	_ = p.in.Close()
	_ = p.cmd.Wait() // its figures are in; how it ends does not matter
}
