package main

import (
	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/uci"
)

func newUCICommand() *cobra.Command {
	var evalFile string
	c := &cobra.Command{
		Use:   "uci",
		Short: "Play as a UCI engine for any GUI, bot or match runner",
		Long: `Speak UCI on standard input and output, from the GUI's first "uci" to "quit".
Options: Hash, Threads, EvalFile, UCI_Variant, UCI_Chess960, MultiPV, Move
Overhead, Ponder, Clear Hash. Without EvalFile the engine plays crazyhouse by the
net that the program carries, and chess by material.`,
		Example: "  selfplay uci --eval-file crazyhouse.nnue",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return uci.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), uci.Options{
				Name: "selfplay", Author: "the selfplay authors", Version: build(), EvalFile: evalFile,
				Net: builtin.Net(chess.Crazyhouse),
			})
		},
	}
	c.Flags().StringVar(&evalFile, "eval-file", "", "net to begin with, as the option EvalFile")
	return c
}
