package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// loadWith builds a configuration as a command with flags of the bus does.
func loadWith(t *testing.T, args ...string) (configs.Config, BusFlags, error) {
	t.Helper()
	var bus BusFlags
	flags := ConfigFlags{Bus: &bus}
	var cfg configs.Config
	c := &cobra.Command{Use: "role", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) (err error) {
		cfg, err = flags.Load(c)
		return err
	}}
	flags.Add(c)
	bus.Add(c)
	c.SetArgs(args)
	err := c.Execute()
	return cfg, bus, err
}

func TestBusFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "role.yaml")
	if err := os.WriteFile(file, []byte("schema: 1\nrun: {name: filed}\nbus: {url: 'nats://filed', creds: filed, token_file: filed}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SELFPLAY_BUS_TLS_CA", "environment")
	cfg, bus, err := loadWith(t, "--config", file, "--nats", "tls://given:1,tls://other", "--creds", "given", "--wait", "5s", "--set", "bus.url=nats://set")
	if err != nil {
		t.Fatal(err)
	}
	want := cfg.Bus
	want.URL, want.Creds, want.TLSCA, want.TokenFile = "tls://given:1,tls://other", "given", "environment", "filed"
	if cfg.Bus != want || cfg.Run.Name != "filed" || bus.Wait != 5*time.Second {
		t.Errorf("found %+v, run %q, wait %v", cfg.Bus, cfg.Run.Name, bus.Wait)
	}
	if cfg, bus, err := loadWith(t, "--run", "given", "--config", file); err != nil || cfg.Run.Name != "given" || cfg.Bus.URL != "nats://filed" || bus.Wait != time.Minute {
		t.Errorf("found run %q at %q, wait %v, error %v", cfg.Run.Name, cfg.Bus.URL, bus.Wait, err)
	}
	for args, want := range map[string]string{
		"--nats foo":                    "bus.url",
		"--nats nats://me:planted@host": "a user or a password",
		"--run a/b":                     "run.name",
		"--run=":                        "--run: found nothing",
		"--wait 0":                      "--wait: found 0s",
		"--creds file":                  "bus.creds",
	} {
		if _, _, err := loadWith(t, strings.Fields(args)...); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: error %v, expected wrong usage with %q", args, err, want)
		}
	}
}
