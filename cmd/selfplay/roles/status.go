package roles

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func newStatus() *cobra.Command {
	o := &role{}
	c := &cobra.Command{
		Use:   "status --nats URL --run NAME",
		Short: "Say who works for a run on a server, and what waits for whom",
		Long: `Say who works for a run on a server, which net it plays with, and how many games are
on their way. Lines that begin with ! say what stands still and why; the exit code is
1 then.`,
		Example: `  selfplay status --nats nats://10.0.0.1:4222 --run crazyhouse
  selfplay status --nats nats://10.0.0.1:4222 --run crazyhouse --json | jq .findings`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.config.Bus = &o.bus
			cfg, err := o.config.LoadOwn(c)
			if err == nil {
				err = o.check(cfg)
			}
			if err != nil {
				return err
			}
			v, err := selfplay.ReadOverview(c.Context(), cfg, selfplay.Options{Build: c.Root().Version, Role: o.name, Patience: o.bus.Wait})
			if err != nil {
				return err
			}
			err = cli.WriteReport(c.OutOrStdout(), o.json, v, func(w io.Writer) error { return v.Write(w) })
			if err == nil && len(v.Findings) > 0 {
				err = cli.ErrSilent
			}
			return err
		},
	}
	o.name = c.Name()
	o.bus.Add(c)
	o.config.AddOwn(c)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}
