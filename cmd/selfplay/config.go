package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// configFlags are the flags that every command with a configuration shares.
type configFlags struct {
	preset  string
	file    string
	variant string
	seed    uint64
	set     []string
}

func (f *configFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.preset, "preset", "laptop", "laptop, fairy or tiny")
	c.Flags().StringVar(&f.file, "config", "", "YAML file over the preset")
	c.Flags().StringVar(&f.variant, "variant", "crazyhouse", "crazyhouse or chess")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	c.Flags().StringArrayVar(&f.set, "set", nil, "override one setting, key=value; may be repeated")
}

// load builds the configuration: preset, file, environment, flags.
func (f *configFlags) load(c *cobra.Command) (configs.Config, error) {
	cfg, err := configs.Preset(f.preset)
	if err != nil {
		return cfg, fmt.Errorf("%w: --preset: %w", errUsage, err)
	}
	err = f.overlay(c, &cfg)
	return cfg, err
}

// overlay applies the file, the environment and the flags that were given.
func (f *configFlags) overlay(c *cobra.Command, cfg *configs.Config) error {
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return fmt.Errorf("--config: %w", err)
		}
		if err := cfg.Merge(text, f.file); err != nil {
			return err
		}
	}
	if err := cfg.SetEnv(os.Environ()); err != nil {
		return err
	}
	if c.Flags().Changed("variant") {
		cfg.Variant = f.variant
	}
	if c.Flags().Changed("seed") {
		cfg.Seed = f.seed
	}
	if err := cfg.SetPairs(f.set); err != nil {
		return fmt.Errorf("%w: --set: %w", errUsage, err)
	}
	return cfg.Validate()
}

func newConfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or check the effective configuration",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []struct{ use, short string }{
		{"show", "Print the effective configuration as a file"},
		{"check", "Say whether the effective configuration is valid"},
	} {
		var f configFlags
		cmd := &cobra.Command{
			Use:     sub.use,
			Short:   sub.short,
			Example: "  selfplay config " + sub.use + " --preset fairy --set train.lr=0.001",
			Args:    noArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				cfg, err := f.load(c)
				if err != nil {
					return err
				}
				if sub.use == "check" {
					_, err = fmt.Fprintln(c.OutOrStdout(), "ok")
					return err
				}
				_, err = c.OutOrStdout().Write(cfg.YAML())
				return err
			},
		}
		f.add(cmd)
		c.AddCommand(cmd)
	}
	return c
}
