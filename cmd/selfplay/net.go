package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

func newNetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "net",
		Short: "Inspect, import and export net files",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use:     "inspect FILE",
			Short:   "Print a net's architecture, size and id",
			Example: "  selfplay net inspect crazyhouse.nnue",
			Args:    exactArgs(1),
			RunE:    func(c *cobra.Command, args []string) error { return netInspect(c.OutOrStdout(), args[0]) },
		},
		&cobra.Command{
			Use:   "import IN OUT",
			Short: "Read a net in any known format and write it in its own",
			Long: `Read a net, check it and write it again. A Fairy-Stockfish file comes out byte
for byte as it went in.`,
			Example: "  selfplay net import crazyhouse.nnue copy.nnue",
			Args:    exactArgs(2),
			RunE: func(c *cobra.Command, args []string) error {
				return netCopy(c.OutOrStdout(), args[0], args[1], false)
			},
		},
		&cobra.Command{
			Use:   "export IN OUT",
			Short: "Write a net as a file that Fairy-Stockfish loads",
			Long: `Write a net as Fairy-Stockfish's own file. Nets of another architecture are
refused: that engine has no place for them.`,
			Example: "  selfplay net export runs/fsf/nets/ID.nnue crazyhouse-mine.nnue",
			Args:    exactArgs(2),
			RunE: func(c *cobra.Command, args []string) error {
				return netCopy(c.OutOrStdout(), args[0], args[1], true)
			},
		},
	)
	return c
}

func netInspect(w io.Writer, path string) error {
	n, err := nnue.ReadFile(path)
	if err != nil {
		return err
	}
	id, err := nets.HashFile(path)
	if err != nil {
		return err
	}
	a := n.Architecture()
	fmt.Fprintf(w, "id            %s\nvariant       %s\narchitecture  %s\ndescription   %q\n", id, a.Variant, a, n.Description)
	if err := n.Check(); err != nil {
		fmt.Fprintf(w, "overflow      possible: %v\n", err)
	} else {
		fmt.Fprintln(w, "overflow      impossible")
	}
	return nil
}

func netCopy(w io.Writer, in, out string, fairyOnly bool) error {
	n, err := nnue.ReadFile(in)
	if err != nil {
		return err
	}
	if a := n.Architecture(); fairyOnly && a != nnue.Fairy() {
		return fmt.Errorf("%s: found %s, expected Fairy-Stockfish's %s", in, a, nnue.Fairy())
	}
	if err := durable.Write(out, n.Write); err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	_, err = fmt.Fprintf(w, "wrote %s\n", out)
	return err
}
