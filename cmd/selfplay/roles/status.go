package roles

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func newStatus() *cobra.Command {
	var r ofRun
	var asJSON, check bool
	var over time.Duration
	c := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Say who works for a run, and what waits for whom",
		Long: `Say who works for a run, which net it plays with, and how many games are on their way.
Lines that begin with ! say what stands still and why; the exit code is 1 then. Of a run
that has ended in order they say that nobody works for it.

The run is that of a directory, or with --nats and --run one on a server. Of a run whose
server is closed to others the directory tells what its processes last said.

With --check it looks twice, --over apart, compares what went in with what came out, and
says in one sentence whether the run is calm or stuck. A run that waits for nothing is
calm, however long that lasts; the exit code is 1 only if work waits and nothing comes
out.`,
		Example: `  selfplay status runs/crazyhouse-laptop
  selfplay status --nats nats://10.0.0.1:4222 --run crazyhouse
  selfplay status --nats nats://10.0.0.1:4222 --run crazyhouse --check || echo stuck`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || over <= 0 {
				return fmt.Errorf("%w: found %d arguments and --over %v, expected at most the directory of a run, and a time above 0", cli.ErrUsage, len(args), over)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := r.choose(c, args); err != nil {
				return err
			}
			v, err := r.overview(c.Context())
			if err != nil {
				return err
			}
			if check {
				return r.check(c, &v, over, asJSON)
			}
			err = cli.WriteReport(c.OutOrStdout(), asJSON, v, func(w io.Writer) error { return v.Write(w) })
			if err == nil && len(v.Findings) > 0 {
				err = cli.ErrSilent
			}
			return err
		},
	}
	r.bus.Add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&check, "check", false, "look twice and say whether the run is stuck; the exit code is 1 then")
	c.Flags().DurationVar(&over, "over", 10*time.Second, "time between the two looks of --check")
	return c
}

// overview looks at the run.
func (r *ofRun) overview(ctx context.Context) (selfplay.Overview, error) {
	if r.cfg.Bus.URL == "" {
		return selfplay.LocalOverview(r.dir, r.cfg, time.Now())
	}
	cfg, err := selfplay.NamedBy(r.dir, r.cfg)
	if err != nil {
		return selfplay.Overview{}, err
	}
	o := r.o
	o.Role = "status"
	return selfplay.ReadOverview(ctx, cfg, o)
}

// check looks once more and says whether the run is stuck.
func (r *ofRun) check(c *cobra.Command, before *selfplay.Overview, over time.Duration, asJSON bool) error {
	if !pause.For(c.Context(), over) {
		return c.Context().Err()
	}
	v, err := r.overview(c.Context())
	if err != nil {
		return err
	}
	sentence, stuck := v.Progress(before)
	report := struct {
		Stuck bool   `json:"stuck"`
		Says  string `json:"says"`
	}{stuck, sentence}
	err = cli.WriteReport(c.OutOrStdout(), asJSON, report, func(w io.Writer) error {
		if stuck {
			sentence = "! " + sentence
		}
		_, err := fmt.Fprintln(w, sentence)
		return err
	})
	if err == nil && stuck {
		err = cli.ErrSilent
	}
	return err
}
