// Package cluster has the commands for who operates a run on many machines: init, which
// writes what they are set up with, and doctor, which checks them.
package cluster

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/doctor"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command { return []*cobra.Command{newInit(), newDoctor()} }

// doctorWait is how long one server is tried if --wait does not say.
const doctorWait = 5 * time.Second

func newDoctor() *cobra.Command {
	var flags cli.BusFlags
	var dir, system string
	var monitors []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether this machine and the servers are fit for a run",
		Long: `Check whether this machine and the servers are fit for a run. Each line says what was
found; where something is wrong, a line begins with !, says what was expected, and the
next one what to do. The exit code is 1 then. A line that begins with ? says what could
not be looked at.

Without --nats the machine alone is checked: processor, open files, the disk of --dir
(room, and how fast it syncs), and the modes of files of secrets. With it each server is
checked too: version, round trip, max_payload, TLS and its certificate, the copies of
what it holds, and the clock of this machine against the servers'. Whether a server
syncs what it acknowledges, and how full its store is, it says only to a user of the
servers' own account, --system, or at its address for health and figures, --monitor.`,
		Example: `  selfplay doctor --dir /data/crazyhouse
  selfplay doctor --nats tls://n1:4222,tls://n2:4222,tls://n3:4222 --tls-ca ca.pem --creds operator.creds --system system.creds --run crazyhouse
  selfplay doctor --nats nats://10.0.0.1:4222 --monitor http://10.0.0.1:8222 --json | jq .findings`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var cfg configs.Config
			if err := flags.Apply(c, &cfg); err != nil {
				return err
			}
			if cfg.Bus.URL == "" && (cfg.Run.Name != "" || len(monitors) > 0 || system != "") {
				return fmt.Errorf("%w: --nats: found nothing, expected the servers that --run, --monitor and --system are about", cli.ErrUsage)
			}
			if cfg.Bus.URL != "" {
				if err := bus.CheckURL(cfg.Bus.URL); err != nil {
					return fmt.Errorf("%w: --nats: %w", cli.ErrUsage, err)
				}
			}
			for _, m := range monitors {
				if u, err := url.Parse(m); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
					return fmt.Errorf("%w: --monitor: found %q, expected http://host:8222", cli.ErrUsage, m)
				}
			}
			if _, err := os.Stat(dir); err != nil {
				return fmt.Errorf("%w: --dir: %w", cli.ErrUsage, err)
			}
			wait := doctorWait
			if c.Flags().Changed("wait") {
				wait = flags.Wait
			}
			var r doctor.Report
			r.Machine(dir, []string{cfg.Bus.Creds, cfg.Bus.TokenFile, system})
			if cfg.Bus.URL != "" {
				r.Cluster(c.Context(), doctor.Servers{
					URL: cfg.Bus.URL, Monitors: monitors, System: system, Run: cfg.Run.Name,
					Options: bus.Options{Creds: cfg.Bus.Creds, TLSCA: cfg.Bus.TLSCA, TokenFile: cfg.Bus.TokenFile, Patience: wait, Name: "doctor"},
				})
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			err := cli.WriteReport(c.OutOrStdout(), asJSON, r, func(w io.Writer) error { return r.Write(w) })
			if err == nil && r.Wrong > 0 {
				err = cli.ErrSilent
			}
			return err
		},
	}
	flags.Add(c)
	f := c.Flags()
	f.Lookup("wait").DefValue = doctorWait.String()
	f.StringVar(&dir, "dir", ".", "directory whose disk and secrets are checked: that of a role, or of a server's store")
	f.StringArrayVar(&monitors, "monitor", nil, "a server's address for health and figures, http://host:8222; may be given several times")
	f.StringVar(&system, "system", "", "file of credentials of the servers' own account, mode 0600, such as system.creds of init cluster")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
