// Package net is the command net: it inspects, checks and converts net files, and
// says or changes which one a run plays with.
package net

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newNetCommand()} }

func newNetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "net",
		Short: "Inspect, check, import and export net files; see and change which one a run plays with",
		Example: `  selfplay net inspect crazyhouse.nnue
  selfplay net quantcheck crazyhouse.nnue
  selfplay net export runs/fsf/nets/ID.nnue crazyhouse-mine.nnue
  selfplay net rollback runs/fsf --why "it hangs its queen"`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newInspectCommand(),
		newQuantcheckCommand(),
		&cobra.Command{
			Use:   "import IN OUT",
			Short: "Read a net in any known format and write it in its own",
			Long: `Read a net, check it and write it again. Files of Fairy-Stockfish and of
Stockfish 12 come out byte for byte as they went in.`,
			Example: "  selfplay net import crazyhouse.nnue copy.nnue",
			Args:    cli.ExactArgs(2),
			RunE: func(c *cobra.Command, args []string) error {
				in, err := cli.NetFile(c.ErrOrStderr(), args[0])
				if err != nil {
					return err
				}
				return netImport(c.OutOrStdout(), in, args[1])
			},
		},
		newExportCommand(),
		newHistoryCommand(),
		newPromoteCommand(),
		newRollbackCommand(),
	)
	return c
}

// readNet reads a net of any variant, or is the program's own.
func readNet(path string) (*player.Net, error) {
	var refused error
	for _, v := range chess.Variants() {
		n, err := player.ReadNNUE(path, v)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, nnue.ErrVariant) {
			return nil, err
		}
		refused = err
	}
	return nil, refused
}

func netImport(w io.Writer, in, out string) error {
	n, err := readNet(in)
	if err != nil {
		return err
	}
	return writeNet(w, n.NNUE, out)
}

func writeNet(w io.Writer, n *nnue.Network, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%w: found the directory %s, expected the name of a file to write", cli.ErrUsage, path)
	}
	if err := durable.Write(path, n.Write); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err := fmt.Fprintf(w, "wrote %s\n", path)
	return err
}

// exportTargets are the programs whose files net export writes, by what --to
// calls them, each with the architecture it loads for a variant.
var exportTargets = map[string]struct {
	program      string
	architecture func(*chess.Variant) nnue.Architecture
}{
	"fairy-stockfish": {"Fairy-Stockfish", nnue.FairyFor},
	"stockfish-12":    {"Stockfish 12", func(*chess.Variant) nnue.Architecture { return nnue.HalfKP() }},
}

func newExportCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "export NET OUT",
		Short: "Write a net as a file that another engine loads",
		Long: `Write a net as Fairy-Stockfish's own file, or Stockfish 12's. A net of another
architecture is refused, with the fields in which it differs: that engine has no
place for it. So is a net whose sums could overflow.`,
		Example: `  selfplay net export runs/fsf/nets/ID.nnue crazyhouse-mine.nnue
  selfplay net export --to stockfish-12 halfkp.nnue nn-mine.nnue`,
		Args: cli.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			in, err := cli.NetFile(c.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			return netExport(c.OutOrStdout(), in, args[1], to)
		},
	}
	c.Flags().StringVar(&to, "to", "fairy-stockfish", "whose file: fairy-stockfish or stockfish-12")
	return c
}

func netExport(w io.Writer, in, out, to string) error {
	target, known := exportTargets[to]
	if !known {
		return fmt.Errorf("%w: --to: found %q, expected fairy-stockfish or stockfish-12", cli.ErrUsage, to)
	}
	read, err := readNet(in)
	if err != nil {
		return err
	}
	n := read.NNUE
	if err := netstat.Fits(n.Architecture(), target.architecture(n.Variant())); err != nil {
		return fmt.Errorf("%s: %s does not load such a net: %w", in, target.program, err)
	}
	if err := n.Check(); err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return writeNet(w, n, out)
}
