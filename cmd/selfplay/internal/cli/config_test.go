package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// loadOwn builds the configuration of a role as its command does.
func loadOwn(args ...string) (cfg configs.Config, err error) {
	var flags ConfigFlags
	c := &cobra.Command{Use: "role", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) (err error) {
		cfg, err = flags.LoadOwn(c)
		return err
	}}
	flags.AddOwn(c)
	c.SetArgs(args)
	return cfg, c.Execute()
}

// A role takes settings of its machine, and refuses those of its run even with the values
// that it would have without.
func TestLoadOwn(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "own.yaml")
		if err := os.WriteFile(path, []byte("schema: 1\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	laptop, err := configs.Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"--config", file("actor: {workers: 3}\nreplay: {max_bytes: 1000000000}\n"), "--set", "actor.name=a2"}
	if cfg, err := loadOwn(own...); err != nil || cfg.Actor.Workers != 3 || cfg.Actor.Name != "a2" || cfg.Actor.Nodes != laptop.Actor.Nodes {
		t.Errorf("settings of one machine: found %+v, error %v", cfg.Actor, err)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, err := loadOwn(args...); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "found "+want+", expected settings of this machine only") {
			t.Errorf("%q: error %v, expected wrong usage with %s", args, err, want)
		}
	}
	nodes := fmt.Sprint(laptop.Actor.Nodes)
	refused("actor.nodes", "--set", "actor.nodes="+nodes)
	refused("actor.nodes", "--set", "actor.nodes=400")
	refused("actor.nodes", "--config", file("actor: {nodes: "+nodes+"}\n"))
	t.Setenv("SELFPLAY_ACTOR_NODES", nodes)
	refused("SELFPLAY_ACTOR_NODES")
}

// The help of --variant names the presets that take chess.
func TestPresetsOfChess(t *testing.T) {
	var flags ConfigFlags
	c := new(cobra.Command)
	flags.Add(c)
	usage := c.Flags().Lookup("variant").Usage
	for _, name := range configs.Presets() {
		cfg, err := configs.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Variant = "chess"
		if takes := cfg.Validate() == nil; takes != strings.Contains(usage, name) {
			t.Errorf("%s takes chess: %t, help: %s", name, takes, usage)
		}
	}
}
