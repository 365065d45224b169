package bench

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/player"
)

type benchNNUEOptions struct {
	net, level, record string
	rounds             int
}

func newBenchNNUECommand() *cobra.Command {
	var o benchNNUEOptions
	c := &cobra.Command{
		Use:   "nnue",
		Short: "Time the evaluation of a net at every level of instructions",
		Long: `Evaluate every node of fixed crazyhouse game trees in several ways and print the
median CPU time of a node:

  sums      both accumulators brought up to date from recorded changes
  values    the same, and the net's value taken
  live      the same from nothing recorded: moves generated, made and compared
  refresh   both accumulators collected anew from all active features
  cached    the same, starting from the last position with that king square

Without --net the net is a random one of Fairy-Stockfish's architecture.`,
		Example: "  selfplay bench nnue\n  selfplay bench nnue --net crazyhouse.nnue --level avx2",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return benchNNUE(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", "", `net file, directory of a run or of learn, or "builtin"; default a random net`)
	f.StringVar(&o.level, "level", "", levelNames+"; default all that this machine has")
	f.IntVar(&o.rounds, "rounds", 5, "times each is measured")
	f.StringVar(&o.record, "record", "", "also write the recorded changes to a file, as little-endian int32")
	return c
}

func benchNNUE(ctx context.Context, w, stderr io.Writer, o benchNNUEOptions) error {
	if o.rounds < 1 || o.rounds > 1000 {
		return fmt.Errorf("%w: found --rounds %d, expected 1 to 1000", cli.ErrUsage, o.rounds)
	}
	levels, err := benchLevels(o.level)
	if err != nil {
		return err
	}
	var net *nnue.Network
	if o.net == "" {
		net, err = nnuetest.Random(nnue.Fairy(), 1)
	} else {
		var read *player.Net
		if read, err = player.ReadNNUE(o.net, chess.Crazyhouse); err == nil {
			net = read.NNUE
			cli.ShowOrigin(stderr, read.Origin)
		}
	}
	if err != nil {
		return err
	}
	replay, err := nnue.NewReplay(net)
	if err != nil {
		return err
	}
	replay.Keep()
	if o.record != "" {
		if err := writeNumbers(o.record, replay.Record()); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%v\n%d nodes, median of %d rounds, ns of CPU time a node\n", net.Architecture(), replay.Nodes(), o.rounds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "level\tsums\tvalues\tlive\trefresh\tcached\tvalues/s\tcached is faster\t")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, l := range levels {
		if err := benchNNUELevel(ctx, table, replay, l, o.rounds); err != nil {
			return err
		}
	}
	return table.Flush()
}

func benchNNUELevel(ctx context.Context, w io.Writer, r *nnue.Replay, l kernel.Level, rounds int) error {
	restore, err := kernel.Force(l)
	if err != nil {
		return err
	}
	defer restore()
	ways := []func(){
		r.Sums,
		func() { r.Values() },
		func() { r.Live() },
		func() { r.Refresh(false) },
		func() { r.Refresh(true) },
	}
	times := make([][]float64, len(ways))
	for range rounds {
		for i, way := range ways {
			start := cputime.Thread()
			way()
			times[i] = append(times[i], float64((cputime.Thread()-start).Nanoseconds())/float64(r.Nodes()))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "%v\t", l)
	for _, t := range times {
		fmt.Fprintf(w, "%.0f\t", median.Of(t))
	}
	fmt.Fprintf(w, "%.2fM\t%.2fx\t\n", 1e3/median.Of(times[1]), median.Of(times[3])/median.Of(times[4]))
	return nil
}

// writeNumbers writes numbers in little-endian order.
func writeNumbers[T int32 | float32](path string, numbers []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = binary.Write(f, binary.LittleEndian, numbers)
	return cmp.Or(err, f.Close())
}
