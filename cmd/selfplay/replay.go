package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
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
		Long: `Read every record of every segment of the replay buffer in DIR, or in DIR/replay
if DIR is a run's directory, trusting no index: games, how many are distinct, how
many stand twice, how many cannot be read. Reading only; the run may be going on.

With --ids the ids of the stored games are printed instead, one a line in the
order stored, those that stand twice twice; nothing is checked then.`,
		Example: `  selfplay replay audit runs/crazyhouse-laptop
  selfplay replay audit --ids runs/crazyhouse-laptop/replay | sort | uniq -d`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if ids && asJSON {
				return fmt.Errorf("%w: found --ids with --json, expected one of them", errUsage)
			}
			dir, err := bufferDir(args[0])
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
	c.AddCommand(audit)
	return c
}

// bufferDir finds the replay buffer in dir, which is its directory or a run's.
func bufferDir(dir string) (string, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return "", err
	}
	for _, d := range []string{dir, filepath.Join(dir, "replay")} {
		segments, _ := durable.Glob(d, "*.seg")
		_, err := os.Stat(filepath.Join(d, "manifest.json"))
		if len(segments) > 0 || err == nil {
			return d, nil
		}
	}
	return "", fmt.Errorf("%s: found no segments (*.seg) and no manifest.json, expected those of a replay buffer, here or in %s", dir, filepath.Join(dir, "replay"))
}

func replayIDs(ctx context.Context, w io.Writer, dir string) error {
	buffered := bufio.NewWriter(w)
	err := stream(ctx, func(emit func(string) bool) error {
		return replay.VisitIDs(dir, func(id string) { emit(id) })
	}, func(id string) error {
		_, err := fmt.Fprintln(buffered, id)
		return err
	})
	return errors.Join(err, buffered.Flush())
}

func replayAudit(ctx context.Context, w io.Writer, dir string, asJSON bool) error {
	var report replay.AuditReport
	err := stream(ctx, func(emit func(replay.AuditReport) bool) error {
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
	if report.Duplicates > 0 || report.Corrupt > 0 || report.Invalid > 0 {
		return errSilent
	}
	return nil
}
