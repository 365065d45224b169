package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/search"
)

type benchTreeOptions struct {
	architecture         string
	batch, nodes, rounds int
	threads              int
}

func newBenchTreeCommand() *cobra.Command {
	var o benchTreeOptions
	c := &cobra.Command{
		Use:   "tree",
		Short: "Time tree search and compare it with its net alone",
		Long: `Search middlegames of crazyhouse with a random plane net on one core and print, as
the median of several rounds of CPU time: the evaluations a second of the net alone
in full batches, and for each length of the mates that are looked for at new
positions the nodes a second of the search and their share of the net's.

Then print how many times as many nodes a second several threads search as one, by
wall time, which a busy machine disturbs, in searches that take turns, and the
share that one thread's nodes are of its net's evaluations alone, and those of
several threads of what as many nets evaluate side by side.`,
		Example: `  selfplay bench tree
  selfplay bench tree --arch 2x32 --nodes 5000 --threads 4`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return benchTree(c.Context(), c.OutOrStdout(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.architecture, "arch", "5x64", "architecture of the random net")
	f.IntVar(&o.batch, "batch", 8, "positions the net is given at once")
	f.IntVar(&o.nodes, "nodes", 1000, "nodes of each search")
	f.IntVar(&o.rounds, "rounds", 5, "times each is measured")
	f.IntVar(&o.threads, "threads", 2, "threads to compare with one")
	return c
}

// benchTreeFENs are middlegames without a mate nearby.
var benchTreeFENs = []string{
	"r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20",
	"r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10",
	"r1bqkb1r/ppp2ppp/2n2n2/3pp3/4P3/2NP1N2/PPP2PPP/R1BQKB1R[] w KQkq - 0 5",
}

func benchTree(ctx context.Context, w io.Writer, o benchTreeOptions) error {
	if o.batch < 1 || o.batch > mcts.MaxBatch || o.nodes < 1 || o.rounds < 1 || o.rounds > 1000 || o.threads < 2 || o.threads > 512 {
		return fmt.Errorf("%w: found --batch %d --nodes %d --rounds %d --threads %d, expected --batch 1 to %d, --nodes from 1, --rounds 1 to 1000, --threads 2 to 512",
			cli.ErrUsage, o.batch, o.nodes, o.rounds, o.threads, mcts.MaxBatch)
	}
	a, err := arch.Parse(o.architecture)
	if err != nil {
		return err
	}
	file, err := randomPlanes(a)
	if err != nil {
		return err
	}
	bare, nets := make([]planes.Runtime, o.threads), make([]mcts.Evaluator, o.threads)
	for i := range nets {
		if bare[i], err = file.Runtime(runtimes.Options{}); err != nil {
			return err
		}
		defer bare[i].Close()
		if nets[i], err = planes.NewNet(bare[i], file.Meta); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	probes := []int{0, 1, 3}
	alone, searched := []float64{}, make([][]float64, len(probes))
	for range o.rounds {
		rate, err := o.alone(bare[:1], cputime.Thread)
		if err != nil {
			return err
		}
		alone = append(alone, rate)
		for i, probe := range probes {
			rate, err := o.search(ctx, nets[:1], probe, cputime.Thread)
			if err != nil {
				return err
			}
			searched[i] = append(searched[i], rate)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s, batch %d\tper second\tshare\t\n", a, o.batch)
	fmt.Fprintf(table, "evaluations alone\t%.0f\t1.00\t\n", median.Of(alone))
	for i, probe := range probes {
		fmt.Fprintf(table, "nodes, mates of %d plies\t%.0f\t%.2f\t\n", probe, median.Of(searched[i]), median.Of(searched[i])/median.Of(alone))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return o.compareThreads(ctx, w, bare, nets)
}

// alone returns the evaluations per second of a clock in full batches, with a thread for
// each of the nets and this one for the first, over about as many positions as a
// round of searches asks for.
func (o *benchTreeOptions) alone(nets []planes.Runtime, clock func() time.Duration) (float64, error) {
	in := make([]float32, o.batch*planes.Size)
	for i := range o.batch {
		p, err := chess.ParseFEN(chess.Crazyhouse, benchTreeFENs[i%len(benchTreeFENs)])
		if err != nil {
			return 0, err
		}
		planes.Encode(in[i*planes.Size:], &p, 0)
	}
	count := max(1, o.nodes*len(benchTreeFENs)/o.batch/len(nets))
	errs := make([]error, len(nets))
	start := clock()
	var others sync.WaitGroup
	for i, net := range nets[1:] {
		others.Go(func() { _, errs[1+i] = timeRuns(net, in, o.batch, count, clock) })
	}
	_, errs[0] = timeRuns(nets[0], in, o.batch, count, clock)
	others.Wait()
	return float64(len(nets)*count*o.batch) / (clock() - start).Seconds(), cmp.Or(errs...)
}

// compareThreads prints how several threads compare with one, and both with the nets
// alone, bare.
func (o *benchTreeOptions) compareThreads(ctx context.Context, w io.Writer, bare []planes.Runtime, nets []mcts.Evaluator) error {
	began := time.Now()
	wall := func() time.Duration { return time.Since(began) }
	probe := mcts.DefaultOptions().MateProbe
	threads := []int{1, o.threads}
	var ratios []float64
	shares := make([][]float64, len(threads))
	for range o.rounds {
		rates := make([]float64, len(threads))
		for i, n := range threads {
			alone, err := o.alone(bare[:n], wall)
			if err != nil {
				return err
			}
			if rates[i], err = o.search(ctx, nets[:n], probe, wall); err != nil {
				return err
			}
			shares[i] = append(shares[i], rates[i]/alone)
		}
		ratios = append(ratios, rates[1]/rates[0])
	}
	_, err := fmt.Fprintf(w, `%d threads, mates of %d plies: %.2f times the nodes/s of one (%.2f to %.2f)
share of as many nets alone: 1 thread %.2f, %d threads %.2f
`, o.threads, probe, median.Of(ratios), slices.Min(ratios), slices.Max(ratios), median.Of(shares[0]), o.threads, median.Of(shares[1]))
	return err
}

// search returns the nodes per second of a clock, with a thread for each of the nets.
func (o *benchTreeOptions) search(ctx context.Context, nets []mcts.Evaluator, probe int, clock func() time.Duration) (float64, error) {
	options := mcts.DefaultOptions()
	options.Batch, options.MateProbe = o.batch, probe
	e, err := mcts.New(nets[0], options, nets[1:]...)
	if err != nil {
		return 0, err
	}
	nodes := uint64(0)
	start := clock()
	for _, fen := range benchTreeFENs {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			return 0, err
		}
		r, err := e.Search(ctx, chess.NewLine(p), search.Limits{Nodes: uint64(o.nodes)})
		if err != nil {
			return 0, err
		}
		nodes += r.Nodes
	}
	return float64(nodes) / (clock() - start).Seconds(), ctx.Err()
}
