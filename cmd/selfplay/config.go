package main

import (
	"fmt"
	"os"
	"strings"

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

	text []byte // of file, once read
}

func (f *configFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.preset, "preset", "laptop", strings.Join(configs.Presets(), ", ")+", unless the --config file names one")
	c.Flags().StringVar(&f.file, "config", "", "YAML file over the preset, which its key preset may name")
	c.Flags().StringVar(&f.variant, "variant", "crazyhouse", "crazyhouse or chess")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	c.Flags().StringArrayVar(&f.set, "set", nil, "override one setting, key=value; may be repeated")
}

// load builds the configuration: preset, file, environment, flags.
func (f *configFlags) load(c *cobra.Command) (configs.Config, error) {
	if err := f.read(); err != nil {
		return configs.Config{}, err
	}
	if !c.Flags().Changed("preset") && f.file != "" {
		named, err := configs.FilePreset(f.text, f.file)
		if err != nil {
			return configs.Config{}, err
		}
		if named != "" {
			cfg, err := configs.Preset(named)
			if err != nil {
				return cfg, fmt.Errorf("%s: %w", f.file, err)
			}
			err = f.overlay(c, &cfg)
			return cfg, err
		}
	}
	cfg, err := configs.Preset(f.preset)
	if err != nil {
		return cfg, fmt.Errorf("%w: --preset: %w", errUsage, err)
	}
	err = f.overlay(c, &cfg)
	return cfg, err
}

// read reads the file once: it may be a pipe.
func (f *configFlags) read() (err error) {
	if f.file == "" || f.text != nil {
		return nil
	}
	if f.text, err = os.ReadFile(f.file); err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	return nil
}

// overlay applies the file, the environment and the flags that were given. What
// the last two make invalid is wrong usage.
func (f *configFlags) overlay(c *cobra.Command, cfg *configs.Config) error {
	if err := f.read(); err != nil {
		return err
	}
	if f.file != "" {
		if err := cfg.Merge(f.text, f.file); err != nil {
			return err
		}
	}
	before := cfg.Validate()
	if err := cfg.SetEnv(os.Environ()); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
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
	err := cfg.Validate()
	if err != nil && before == nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return err
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
