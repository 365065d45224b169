package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/replay"
)

func newReplayCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay",
		Short: "Look into a run's replay buffer",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var asJSON, ids bool
	audit := &cobra.Command{
		Use:   "audit DIR",
		Short: "Recount a replay buffer from its segments; exits 1 if anything is wrong",
		Long: `Read every record of every segment in DIR (a run's replay directory), trusting
no index: games, how many are distinct, how many stand twice, how many cannot be
read. Reading only; the run may be going on.`,
		Example: "  selfplay replay audit runs/crazyhouse-laptop/replay",
		Args:    exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if ids {
				return replay.VisitIDs(args[0], func(id string) { fmt.Fprintln(c.OutOrStdout(), id) })
			}
			return replayAudit(c.OutOrStdout(), args[0], asJSON)
		},
	}
	audit.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	audit.Flags().BoolVar(&ids, "ids", false, "print the id of every stored game instead, one a line")
	c.AddCommand(audit)
	return c
}

func replayAudit(w io.Writer, dir string, asJSON bool) error {
	report, err := replay.Audit(dir)
	if err != nil {
		return err
	}
	if asJSON {
		if err := json.NewEncoder(w).Encode(report); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(w, report)
	}
	if report.Duplicates > 0 || report.Corrupt > 0 || report.Invalid > 0 {
		return errSilent
	}
	return nil
}
