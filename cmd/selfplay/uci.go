package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/uci"
)

func newUCICommand() *cobra.Command {
	var evalFile, kind string
	c := &cobra.Command{
		Use:   "uci",
		Short: "Play as a UCI engine for any GUI, bot or match runner",
		Long: `Speak UCI on standard input and output, from the GUI's first "uci" to "quit".
Options: Hash, Threads, EvalFile, UCI_Variant, UCI_Chess960, MultiPV, Move
Overhead, Ponder, Clear Hash. Without EvalFile the engine plays crazyhouse by the
net that the program carries, and chess by material.

With --search mcts it plays by tree search, EvalFile is a plane net in an ONNX
file, and Batch Size, CPuct, CPuct Base, FPU Reduction, Policy Temperature, Mate
Probe, Reuse Tree, LCB, Q Veto and Gumbel Actions are options too. Without a net
all moves are alike to it. Hash bounds the memory of the tree, Threads are the
net's; the tree is searched by one.`,
		Example: `  selfplay uci --eval-file crazyhouse.nnue
  selfplay uci --search mcts --eval-file net.onnx`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o := uci.Options{
				Name: "selfplay", Author: "the selfplay authors", Version: build(), EvalFile: evalFile,
				Net: builtin.Net(chess.Crazyhouse),
			}
			switch kind {
			case "ab":
			case "mcts":
				o.Tree = &uci.Tree{Options: mcts.DefaultOptions(), Load: loadPlanes}
			default:
				return fmt.Errorf("%w: found --search %s, expected ab or mcts", errUsage, kind)
			}
			return uci.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
		},
	}
	c.Flags().StringVar(&kind, "search", "ab", "alpha-beta (ab) or tree search (mcts)")
	c.Flags().StringVar(&evalFile, "eval-file", "", "net to begin with, as the option EvalFile")
	return c
}
