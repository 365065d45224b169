// Package uci is the command uci: our engine for any GUI.
package uci

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/uci/server"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newUCICommand()} }

func newUCICommand() *cobra.Command {
	var evalFile, search, runtime, library string
	c := &cobra.Command{
		Use:   "uci",
		Short: "Play as a UCI engine for any GUI, bot or match runner",
		Long: `Speak UCI on standard input and output, from the GUI's first "uci" to "quit".
Options: Hash, Threads, EvalFile, UCI_Variant, UCI_Chess960, MultiPV, Move
Overhead, Ponder, Clear Hash. EvalFile is a net file, or the directory of a run or of
learn for its newest net. Without it the engine plays crazyhouse by the net that the
program carries, and chess by material.

With --search mcts it plays by tree search, EvalFile is a plane net in an ONNX
file, and Batch Size, CPuct, CPuct Base, FPU Reduction, Policy Temperature, Mate
Probe, Reuse Tree, LCB, Q Veto, Gumbel Actions and Runtime are options too.
Without a net all moves are alike to it. Hash bounds the memory of the tree,
Threads are the net's; the tree is searched by one.

Runtime is what computes the net: native, the kernels of this program; int8, the
same with bytes, faster and a little less exact (see net quantcheck); onnxgo,
onnx-go on Gorgonia, a slow reference; ort, ONNX Runtime, of programs built with
cgo and -tags ort, which loads its library, from --library if the system does not
find it.`,
		Example: `  selfplay uci --eval-file crazyhouse.nnue
  selfplay uci --search mcts --eval-file net.onnx
  selfplay uci --search mcts --eval-file net.onnx --runtime int8`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s := player.Spec{Search: player.Search(search), Net: evalFile}
			o := server.Options{Name: "selfplay", Author: "the selfplay authors", Version: c.Root().Version}
			switch s.Search {
			case player.AlphaBeta:
				n, err := player.ReadNet(player.Builtin, chess.Crazyhouse)
				if err != nil {
					return err
				}
				o.Net = n
			case player.TreeSearch:
				if err := runtimes.Check(runtime); err != nil {
					return fmt.Errorf("%w: --runtime: %w", cli.ErrUsage, err)
				}
				s.Runtime = player.Runtime{Name: runtime, Library: library}
			default:
				return fmt.Errorf("%w: found --search %s, expected ab or mcts", cli.ErrUsage, search)
			}
			o.Player = s
			return server.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
		},
	}
	c.Flags().StringVar(&search, "search", "ab", "alpha-beta (ab) or tree search (mcts)")
	c.Flags().StringVar(&evalFile, "eval-file", "", "net to begin with, as the option EvalFile")
	c.Flags().StringVar(&runtime, "runtime", runtimes.Native, "of mcts: runtime to begin with, as the option Runtime")
	c.Flags().StringVar(&library, "library", "", "of --runtime ort: ONNX Runtime's library")
	return c
}
