package data

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// NewReplayAudit returns the command that looks into a replay buffer.
func NewReplayAudit() *cobra.Command {
	var asJSON, ids bool
	audit := &cobra.Command{
		Use:   "audit DIR",
		Short: "Recount a replay buffer from its segments; exits 1 if anything is wrong",
		Long: `Read every record of every segment of the replay buffer in DIR, or in DIR/replay
if DIR is a run's directory, trusting no index: games, how many are distinct, how
many stand twice, how many cannot be read, and how many are lost of those that the
manifest counts. Reading only; the run may be going on.

With --ids the ids of the stored games are printed instead, one a line in the
order stored, those that stand twice twice; nothing is checked then.`,
		Example: `  selfplay replay audit runs/crazyhouse-laptop
  selfplay replay audit --ids runs/crazyhouse-laptop/replay | sort | uniq -d`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if ids && asJSON {
				return fmt.Errorf("%w: found --ids with --json, expected one of them", cli.ErrUsage)
			}
			dir, err := dataset.BufferDir(args[0])
			if err != nil {
				return err
			}
			if ids {
				return replayIDs(c.Context(), c.OutOrStdout(), dir)
			}
			return replayAudit(c.Context(), c.OutOrStdout(), dir, asJSON)
		},
	}
	audit.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	audit.Flags().BoolVar(&ids, "ids", false, "print the id of every stored game instead, one a line")
	return audit
}

func replayIDs(ctx context.Context, w io.Writer, dir string) error {
	buffered := bufio.NewWriter(w)
	err := cli.Stream(ctx, func(emit func(string) bool) error {
		return replay.VisitIDs(dir, func(id string) { emit(id) })
	}, func(id string) error {
		_, err := fmt.Fprintln(buffered, id)
		return err
	})
	return errors.Join(err, buffered.Flush())
}

func replayAudit(ctx context.Context, w io.Writer, dir string, asJSON bool) error {
	var report replay.AuditReport
	err := cli.Stream(ctx, func(emit func(replay.AuditReport) bool) error {
		found, err := replay.Audit(dir)
		emit(found)
		return err
	}, func(found replay.AuditReport) error {
		report = found
		return nil
	})
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
	if report.Wrong() {
		return cli.ErrSilent
	}
	return nil
}
