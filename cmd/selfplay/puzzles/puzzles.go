// Package puzzles is the command puzzles: positions with one best move, found in games
// and given to players to solve.
package puzzles

import (
	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
)

// Commands returns the command.
func Commands() []*cobra.Command {
	c := &cobra.Command{
		Use:   "puzzles",
		Short: "Find positions with one best move, and measure who solves them",
		Args:  cli.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMineCommand(), newRunCommand())
	return []*cobra.Command{c}
}
