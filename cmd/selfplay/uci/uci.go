// Package uci has the commands uci and xboard: our engine for any GUI.
package uci

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/uci/server"
	xboard "github.com/crazyhouse-rl/selfplay/xboard/server"
)

// Commands returns the commands.
func Commands() []*cobra.Command { return []*cobra.Command{newUCICommand(), newXBoardCommand()} }

func newUCICommand() *cobra.Command {
	return newEngineCommand(&cobra.Command{
		Use:   "uci",
		Short: "Play as a UCI engine for any GUI, bot or match runner",
		Long: `Speak UCI on standard input and output, from the GUI's first "uci" to "quit". If
the first command is "xboard", speak CECP instead, as selfplay xboard --help says.

Options: Hash, Threads, EvalFile, UCI_Variant, UCI_Chess960, MultiPV, Move
Overhead, Ponder, Clear Hash, UCI_ShowWDL, UCI_LimitStrength, UCI_Elo, Skill Level,
Skill Seed, Debug Log File, UCI_EngineAbout. There is no SyzygyPath: crazyhouse has no
endgame tables.

EvalFile is a net file, or the directory of a run or of learn for its newest net.
Without it the engine plays crazyhouse by the net that the program carries, and chess
by material. While EvalFile names what cannot be read, isready says so and every move
is 0000: the engine never plays by another net than it was asked to. So it is with a
net for another variant, in whatever order the two are set, until UCI_Variant is set to
that. The first search after ucinewgame or setoption says which net the engine plays by.

UCI_LimitStrength with UCI_Elo, or Skill Level below 20, bounds the nodes of a search
and draws its move among the best ones. UCI_Elo is on the scale of selfplay ladder,
where material with 400 nodes a move was 0 when the scale was measured;
docs/experiments/strength-limit.md has what was measured. Equal values of Skill Seed
give equal draws; 0 draws anew for each game. Debug Log File gets every line of both directions with its time.

With --search mcts it plays by tree search, EvalFile is a plane net in an ONNX
file, and Batch Size, CPuct, CPuct Base, FPU Reduction, Policy Temperature, Mate
Probe, Reuse Tree, LCB, Q Veto, Gumbel Actions and Runtime are options too.
Without a net all moves are alike to it. Hash bounds the memory of the tree,
Threads search one tree, each with a copy of the net.

Runtime is what computes the net: native, the kernels of this program; int8, the
same with bytes, faster and a little less exact (see net quantcheck); onnxgo,
onnx-go on Gorgonia, a slow reference; ort, ONNX Runtime, of programs built with
cgo and -tags ort, which loads its library, from --library if the system does not
find it.`,
		Example: `  selfplay uci --eval-file crazyhouse.nnue
  selfplay uci --search mcts --eval-file net.onnx
  selfplay uci --search mcts --eval-file net.onnx --runtime int8`,
	})
}

func newXBoardCommand() *cobra.Command {
	return newEngineCommand(&cobra.Command{
		Use:   "xboard",
		Short: "Play as an engine for XBoard, WinBoard and whatever speaks their protocol",
		Long: `Speak CECP, the protocol of XBoard and WinBoard, version 2, on standard input and
output, from the first "xboard" to "quit". The program is that of selfplay uci: the
first command says which protocol follows.

A new game is one of chess, as the protocol has it; "variant crazyhouse" makes it
crazyhouse, where drops are written P@e4 and setboard takes the hands in brackets. "st"
may have a fraction. "memory" is the option Hash, "cores" is Threads, and the other
options are those that selfplay uci --help describes, as features. With "nps N" a
second is N nodes: "nps 400" and "st 1" search 400 nodes a move.

The net of --eval-file or EvalFile may be for a variant that comes later. If the
engine is to move in another one, it says so and does not.`,
		Example: `  selfplay xboard --eval-file crazyhouse.nnue
  xboard -fcp "selfplay xboard" -variant crazyhouse`,
	})
}

// newEngineCommand adds the flags and the program to an engine's command.
func newEngineCommand(c *cobra.Command) *cobra.Command {
	var evalFile, search, runtime, library string
	c.Args = cli.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		s := player.Spec{Search: player.Search(search), Net: evalFile}
		o := server.Options{Name: "selfplay", Author: "the selfplay authors", Version: c.Root().Version, XBoard: xboard.New}
		switch s.Search {
		case player.AlphaBeta:
			if c.Flags().Changed("runtime") || c.Flags().Changed("library") {
				return fmt.Errorf("%w: found --runtime or --library without --search mcts, which alone has them", cli.ErrUsage)
			}
			n, err := player.ReadNet(player.Builtin, chess.Crazyhouse)
			if err != nil {
				return err
			}
			o.Net = n
		case player.TreeSearch:
			if err := runtimes.Check(runtime); err != nil {
				return fmt.Errorf("%w: --runtime: %w", cli.ErrUsage, err)
			}
			// Where it can be set later, by the option Runtime, the library is for that too.
			if err := cli.NeedsORT(c.Flags(), append(runtimes.Names(), runtime)...); err != nil {
				return err
			}
			s.Runtime = player.Runtime{Name: runtime, Library: library}
		default:
			return fmt.Errorf("%w: found --search %s, expected ab or mcts", cli.ErrUsage, search)
		}
		o.Player = s
		return server.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
	}
	c.Flags().StringVar(&search, "search", "ab", "alpha-beta (ab) or tree search (mcts)")
	c.Flags().StringVar(&evalFile, "eval-file", "", "net to begin with, as the option EvalFile")
	c.Flags().StringVar(&runtime, "runtime", runtimes.Native, "of mcts: runtime to begin with, as the option Runtime")
	c.Flags().StringVar(&library, "library", "", "of --runtime ort: ONNX Runtime's library")
	return c
}
