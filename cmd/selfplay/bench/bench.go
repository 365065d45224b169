// Package bench is the command bench: speeds, and the search's signature.
package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newBenchCommand()} }

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
  selfplay bench features 'All + Hand + Threats'
  selfplay bench kernel
  selfplay bench planes
  selfplay bench train
  selfplay bench tree
  selfplay bench threads`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if depth < 1 || depth >= search.MaxPly {
				return fmt.Errorf("%w: found --depth %d, expected 1 to %d", cli.ErrUsage, depth, search.MaxPly-1)
			}
			return benchSignature(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), net, depth)
		},
	}
	c.Flags().IntVar(&depth, "depth", ab.BenchDepth, "plies")
	c.Flags().StringVar(&net, "net", player.Builtin, netHelp)
	c.AddCommand(newBenchPerftCommand(), newBenchSearchCommand(), newBenchNNUECommand(), newBenchFeaturesCommand(), newBenchKernelCommand(), newBenchPlanesCommand(), newBenchTrainCommand(), newBenchTreeCommand(), newBenchThreadsCommand())
	return c
}

func benchSignature(ctx context.Context, w, stderr io.Writer, net string, depth int) error {
	n, err := alphaBetaNet(stderr, net)
	if err != nil {
		return err
	}
	start := time.Now()
	nodes, err := ab.Bench(ctx, n.Evaluator, depth)
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Fprintf(w, "depth %d\ntime  %s\nnps   %.0f\nnodes %d\n", depth, elapsed.Round(time.Millisecond), float64(nodes)/elapsed.Seconds(), nodes)
	return nil
}

const netHelp = `net file, directory of a run or of learn, "builtin", the program's own, or "material"`

// alphaBetaNet reads what alpha-beta search evaluates by: an NNUE net or material.
func alphaBetaNet(stderr io.Writer, name string) (*player.Net, error) {
	read := player.ReadNNUE
	if name == player.Material {
		read = player.ReadNet
	}
	n, err := read(name, chess.Crazyhouse)
	if err == nil {
		cli.ShowOrigin(stderr, n.Origin)
	}
	return n, err
}
