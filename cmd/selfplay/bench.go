package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/search"
)

func newBenchCommand() *cobra.Command {
	var depth int
	var net string
	c := &cobra.Command{
		Use:   "bench",
		Short: "Search fixed positions; the node count is the engine's signature",
		Example: `  selfplay bench
  selfplay bench --net crazyhouse.nnue
  selfplay bench perft --peer fairy-stockfish
  selfplay bench search --peer fairy-stockfish --net crazyhouse.nnue
  selfplay bench nnue
  selfplay bench kernel
  selfplay bench planes
  selfplay bench train
  selfplay bench tree`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if depth < 1 || depth >= search.MaxPly {
				return fmt.Errorf("%w: found --depth %d, expected 1 to %d", errUsage, depth, search.MaxPly-1)
			}
			return benchSignature(c.Context(), c.OutOrStdout(), net, depth)
		},
	}
	c.Flags().IntVar(&depth, "depth", ab.BenchDepth, "plies")
	c.Flags().StringVar(&net, "net", builtinNet, netHelp)
	c.AddCommand(newBenchPerftCommand(), newBenchSearchCommand(), newBenchNNUECommand(), newBenchKernelCommand(), newBenchPlanesCommand(), newBenchTrainCommand(), newBenchTreeCommand())
	return c
}

func benchSignature(ctx context.Context, w io.Writer, net string, depth int) error {
	evaluator, _, err := newEvaluator(net, chess.Crazyhouse)
	if err != nil {
		return err
	}
	start := time.Now()
	nodes, err := ab.Bench(ctx, evaluator, depth)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Fprintf(w, "depth %d\ntime  %s\nnps   %.0f\nnodes %d\n", depth, elapsed.Round(time.Millisecond), float64(nodes)/elapsed.Seconds(), nodes)
	return nil
}

// Words that stand where a net file may.
const (
	builtinNet  = "builtin"
	materialNet = "material"
	netHelp     = `net file, or "builtin", the program's own, or "material"`
)

// newEvaluator returns a factory of evaluators over a net, and the net (nil for
// material).
func newEvaluator(name string, v *chess.Variant) (func() ab.Evaluator, *nnue.Network, error) {
	if name == materialNet {
		return func() ab.Evaluator { return ab.NewMaterial() }, nil, nil
	}
	n, err := netFor(name, v)
	if err != nil {
		return nil, nil, err
	}
	return func() ab.Evaluator { return nnue.NewAccumulator(n) }, n, nil
}

// netFor returns the net of a file, or the program's own.
func netFor(name string, v *chess.Variant) (*nnue.Network, error) {
	if filepath.Ext(name) == ".onnx" {
		return nil, fmt.Errorf("%w: found the plane net %s, expected an NNUE net: plane nets serve uci --search mcts, players mcts:FILE and net inspect", errUsage, name)
	}
	if name != builtinNet {
		return nnue.ReadFileVariant(name, v)
	}
	if n := builtin.Net(v); n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%w: found no net for %s in the program, expected a file", errUsage, v.Name)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
