package cli

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// BusFlags are the flags that every command on a run's server shares. All but Wait
// override settings, which a configuration may give as well.
type BusFlags struct {
	url       string
	run       string
	creds     string
	tlsCA     string
	tokenFile string

	Wait time.Duration // that the first connection is tried for
}

// defaultWait is the time that the first connection is tried for.
const defaultWait = time.Minute

// Add defines the flags.
func (f *BusFlags) Add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.url, "nats", "", "NATS server of the run, nats://host:port, or several of a cluster with commas between them")
	flags.StringVar(&f.run, "run", "", "name of the run")
	flags.StringVar(&f.creds, "creds", "", "file of NATS credentials, mode 0600")
	flags.StringVar(&f.tlsCA, "tls-ca", "", "file of the certificates that vouch for the server, PEM; default those of the system")
	flags.StringVar(&f.tokenFile, "token-file", "", "file of the secret that the server asks for, mode 0600")
	flags.DurationVar(&f.Wait, "wait", defaultWait, "how long to try the first connection to the server")
}

// WhichRun ends the help of commands that change or show a run with these flags.
const WhichRun = `

The run is that of a directory, which must be stopped, or with --nats and --run one on
a server, which goes on meanwhile.`

// Options are those of a command that changes or shows a run.
func (f *BusFlags) Options(c *cobra.Command) selfplay.Options {
	log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	return selfplay.Options{Build: c.Root().Version, Patience: f.Wait, Log: log}
}

// Apply puts the flags that were given into the configuration, whose check refuses
// values that are wrong. Errors wrap ErrUsage.
func (f *BusFlags) Apply(c *cobra.Command, cfg *configs.Config) error {
	for name, setting := range map[string]struct{ to, value *string }{
		"nats": {&cfg.Bus.URL, &f.url}, "run": {&cfg.Run.Name, &f.run}, "creds": {&cfg.Bus.Creds, &f.creds},
		"tls-ca": {&cfg.Bus.TLSCA, &f.tlsCA}, "token-file": {&cfg.Bus.TokenFile, &f.tokenFile},
	} {
		if c.Flags().Changed(name) {
			*setting.to = *setting.value
		}
	}
	if c.Flags().Changed("run") && f.run == "" {
		return fmt.Errorf("%w: --run: found nothing, expected the name of a run", ErrUsage)
	}
	if f.Wait <= 0 {
		return fmt.Errorf("%w: --wait: found %v, expected a time above 0", ErrUsage, f.Wait)
	}
	return nil
}

// Configuration returns that of the run in dir, or with an empty dir what leads to the
// run that the flags name; in both cases under the environment and the flags. Errors wrap
// ErrUsage if neither is there.
func (f *BusFlags) Configuration(c *cobra.Command, dir string) (cfg configs.Config, err error) {
	found := false
	if dir != "" {
		cfg, found, err = selfplay.SavedConfig(dir)
	}
	if err == nil && !found {
		cfg, err = configs.Preset("laptop")
	}
	if err != nil {
		return cfg, err
	}
	if err := cfg.SetEnv(os.Environ()); err != nil {
		return cfg, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err := f.Apply(c, &cfg); err != nil {
		return cfg, err
	}
	if dir != "" && !found && cfg.Bus.URL == "" {
		of, err := selfplay.NamedBy(dir, configs.Config{})
		if err != nil {
			return cfg, err
		}
		return cfg, fmt.Errorf("%w: %s is the directory of a role of run %s, whose settings are on its servers: say where they are by --nats, with --creds and --tls-ca or --token-file as they ask for", ErrUsage, dir, of.Run.Name)
	}
	if dir == "" && (cfg.Bus.URL == "" || cfg.Run.Name == "") {
		return cfg, fmt.Errorf("%w: found neither the directory of a run nor both --nats and --run, expected one of them", ErrUsage)
	}
	if err := selfplay.Check(cfg); err != nil {
		return cfg, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return cfg, nil
}

// AddReplaceBuffer adds the flag of commands that keep a run's games.
func AddReplaceBuffer(c *cobra.Command, replace *bool) {
	c.Flags().BoolVar(replace, "replace-buffer", false, "let the replay buffer of this directory take the place of the run's, which is lost")
}
