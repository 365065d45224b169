package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

// featuresBase is the set that others are compared with.
const featuresBase = "All + Hand"

type benchFeaturesOptions struct {
	width, rounds int
}

func newBenchFeaturesCommand() *cobra.Command {
	var o benchFeaturesOptions
	c := &cobra.Command{
		Use:   "features EXPRESSION...",
		Short: "Time nets of feature sets in turn, against " + featuresBase,
		Long: `Evaluate every node of fixed crazyhouse game trees with a random net of each feature
set, moves generated and made, and print the median CPU time of a node and its ratio to
that of ` + featuresBase + `. The nets take turns, round by round, and differ in their features
alone. learn --list-features lists the blocks of expressions.`,
		Example: `  selfplay bench features 'All + Hand + Threats' HalfKAv2
  selfplay bench features 'All + Hand + DropZone' --width 256 --rounds 9`,
		Args: cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, sets []string) error {
			return benchFeatures(c.Context(), c.OutOrStdout(), sets, o)
		},
	}
	f := c.Flags()
	f.IntVar(&o.width, "width", 128, "outputs of the transformer")
	f.IntVar(&o.rounds, "rounds", 5, "times each is measured")
	return c
}

func benchFeatures(ctx context.Context, w io.Writer, sets []string, o benchFeaturesOptions) error {
	if o.rounds < 1 || o.rounds > 1000 {
		return fmt.Errorf("%w: found --rounds %d, expected 1 to 1000", cli.ErrUsage, o.rounds)
	}
	sets = slices.Insert(slices.Clone(sets), 0, featuresBase)
	replays := make([]*nnue.Replay, len(sets))
	for i, set := range sets {
		a := nnue.Narrow(o.width)
		a.Features = set
		net, err := nnuetest.Random(a, 1)
		if errors.Is(err, nnue.ErrArchitecture) {
			return fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
		if err != nil {
			return err
		}
		if replays[i], err = nnue.NewReplay(net); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := make([][]float64, len(sets))
	for range o.rounds {
		for i, r := range replays {
			start := cputime.Thread()
			r.Live()
			times[i] = append(times[i], float64((cputime.Thread()-start).Nanoseconds())/float64(r.Nodes()))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(w, "width %d, %d nodes, median of %d rounds, CPU time of a node\n", o.width, replays[0].Nodes(), o.rounds)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "features\tns\tratio")
	for i, set := range sets {
		ratios := make([]float64, o.rounds)
		for round := range ratios {
			ratios[round] = times[i][round] / times[0][round]
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.2f\n", set, median.Of(times[i]), median.Of(ratios))
	}
	return table.Flush()
}
