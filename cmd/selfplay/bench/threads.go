package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

type benchThreadsOptions struct {
	net                       string
	threads, depth, positions int
	hashMB, rounds            int
}

func newBenchThreadsCommand() *cobra.Command {
	var o benchThreadsOptions
	c := &cobra.Command{
		Use:   "threads",
		Short: "What more threads do for alpha-beta search: time to a depth, nodes a second",
		Long: `Search positions of the program's own book to a depth, with one thread and with
several, in turn, each from an empty table. Print, as geometric means over the
positions with their 95 % intervals, how several threads compare with one:

  time     the time to the depth
  nodes    the nodes that each of the threads searches to the depth. It is what the
           time would be if the threads ran at full speed, and so holds on a busy
           machine too
  nodes/s  the nodes that all search in a second

Searches with several threads differ from run to run; what counts of a position is
the median of the ratios in its rounds. With the settings as they are this takes
some minutes.`,
		Example: `  selfplay bench threads
  selfplay bench threads --depth 13 --rounds 1
  selfplay bench threads --net crazyhouse.nnue --threads 4`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return benchThreads(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", player.Builtin, netHelp)
	f.IntVar(&o.threads, "threads", 2, "threads to compare with one")
	f.IntVar(&o.depth, "depth", 16, "plies")
	f.IntVar(&o.positions, "positions", 40, "number of positions")
	f.IntVar(&o.hashMB, "hash", 64, "size of the table in MiB")
	f.IntVar(&o.rounds, "rounds", 3, "times each is measured")
	return c
}

func benchThreads(ctx context.Context, w, stderr io.Writer, o benchThreadsOptions) error {
	if o.threads < 2 || o.threads > 512 || o.depth < 1 || o.depth >= search.MaxPly || o.positions < 1 || o.rounds < 1 || o.hashMB < 1 || o.hashMB > 1<<16 {
		return fmt.Errorf("%w: found --threads %d --depth %d --positions %d --rounds %d --hash %d, expected 2 to 512, 1 to %d, at least 1, at least 1 and 1 to 65536",
			cli.ErrUsage, o.threads, o.depth, o.positions, o.rounds, o.hashMB, search.MaxPly-1)
	}
	n, err := alphaBetaNet(stderr, o.net)
	if err != nil {
		return err
	}
	b, _, err := book.Default(chess.Crazyhouse)
	if err != nil {
		return err
	}
	engines := []*ab.Engine{
		ab.New(n.Evaluator, ab.Options{HashMB: o.hashMB}),
		ab.New(n.Evaluator, ab.Options{HashMB: o.hashMB, Threads: o.threads}),
	}
	var all [3][]float64 // logarithms of ratios, by what is compared
	positions := min(o.positions, len(b.Entries))
	for i := range positions {
		opening := b.Entries[i*len(b.Entries)/positions].Opening
		line := chess.NewLine(opening.Start)
		for _, m := range opening.Moves {
			line.Push(m)
		}
		var ratios [3][]float64
		var one depthSearch
		for range o.rounds {
			var several depthSearch
			if one, err = searchDepth(ctx, engines[0], line, o.depth); err != nil {
				return err
			}
			if several, err = searchDepth(ctx, engines[1], line, o.depth); err != nil {
				return err
			}
			nodes, seconds := several.nodes/one.nodes, several.seconds/one.seconds
			for j, ratio := range []float64{seconds, nodes / float64(o.threads), nodes / seconds} {
				ratios[j] = append(ratios[j], ratio)
			}
		}
		fmt.Fprintf(w, "%-3d  one thread %.2f s, %.0f nodes; %d threads:", i+1, one.seconds, one.nodes, o.threads)
		for j, name := range threadFigures {
			all[j] = append(all[j], math.Log(median.Of(ratios[j])))
			fmt.Fprintf(w, "  %s %.2f", name, median.Of(ratios[j]))
		}
		fmt.Fprintln(w)
	}
	for j, name := range threadFigures {
		mean, half := interval95(all[j])
		fmt.Fprintf(w, "%-8s %.2f", name, math.Exp(mean))
		if positions > 1 {
			fmt.Fprintf(w, "  (%.2f to %.2f)", math.Exp(mean-half), math.Exp(mean+half))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// threadFigures are what bench threads compares.
var threadFigures = [3]string{"time", "nodes", "nodes/s"}

// depthSearch is what a search to a depth took.
type depthSearch struct{ seconds, nodes float64 }

func searchDepth(ctx context.Context, e *ab.Engine, line *chess.Line, depth int) (depthSearch, error) {
	e.Clear()
	start := time.Now()
	r, err := e.Search(ctx, line, search.Limits{Depth: depth})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && r.Depth != depth {
		err = fmt.Errorf("a search of depth %d ended at %d", depth, r.Depth)
	}
	return depthSearch{time.Since(start).Seconds(), float64(r.Nodes)}, err
}

// interval95 returns the mean of values and half of its 95 % interval, by the normal
// distribution.
func interval95(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, 1.96 * math.Sqrt(squares/(n-1)/n)
}
