package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// ConfigFlags are the flags that every command with a configuration shares.
type ConfigFlags struct {
	Preset string
	// Bus, if not nil, are flags of the same command that override settings too.
	Bus *BusFlags

	file    string
	variant string
	seed    uint64
	set     []string

	text []byte // of file, once read
}

func (f *ConfigFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Preset, "preset", "laptop", strings.Join(configs.Presets(), ", ")+", unless the --config file names one")
	c.Flags().StringVar(&f.file, "config", "", "YAML file over the preset, which its key preset may name")
	c.Flags().StringVar(&f.variant, "variant", "crazyhouse", "crazyhouse, or with the presets fairy, planes and tiny chess")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	c.Flags().StringArrayVar(&f.set, "set", nil, "override one setting, key=value; may be repeated")
}

// AddOwn adds the flags of a role that has the run's settings from the run: a file and
// single settings, for what each machine decides for itself.
func (f *ConfigFlags) AddOwn(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "config", "", "YAML file of this machine's own settings (bus.*, actor.workers, replay.max_bytes …)")
	c.Flags().StringArrayVar(&f.set, "set", nil, "override one of this machine's own settings, key=value; may be repeated")
}

// LoadOwn builds the configuration of such a role. Settings that are the run's are
// refused, whatever their values: they would do nothing.
func (f *ConfigFlags) LoadOwn(c *cobra.Command) (configs.Config, error) {
	cfg, err := configs.Preset("laptop")
	if err != nil {
		return cfg, err
	}
	if err := f.Overlay(c, &cfg); err != nil {
		return cfg, err
	}
	shared, err := configs.SharedGiven(f.text, f.file, os.Environ(), f.set)
	if err != nil {
		return cfg, err
	}
	if len(shared) > 0 {
		return cfg, fmt.Errorf("%w: found %s, expected settings of this machine only: those of the run are given to its trainer", ErrUsage, strings.Join(shared, ", "))
	}
	return cfg, nil
}

// LoadOrResume returns the configuration of the run in dir with the file, the environment
// and the flags laid over it, or that of Load if there is no run. Usual sets dir if that is
// empty, by the configuration of Load.
func (f *ConfigFlags) LoadOrResume(c *cobra.Command, dir *string, usual func(configs.Config) error) (cfg configs.Config, resumed bool, err error) {
	if *dir != "" { // what is given need not go with the preset, only with the run
		if cfg, resumed, err = f.resume(c, *dir); err != nil || resumed {
			return cfg, resumed, err
		}
	}
	fresh, err := f.Load(c)
	if err != nil || *dir != "" {
		return fresh, false, err
	}
	if err := usual(fresh); err != nil {
		return fresh, false, err
	}
	if cfg, resumed, err = f.resume(c, *dir); err != nil || resumed {
		return cfg, resumed, err
	}
	return fresh, false, nil
}

// resume is LoadOrResume for a run; resumed is false if there is none.
func (f *ConfigFlags) resume(c *cobra.Command, dir string) (cfg configs.Config, resumed bool, err error) {
	cfg, resumed, err = selfplay.SavedConfig(dir)
	if err != nil || !resumed {
		return cfg, false, err
	}
	if c.Flags().Changed("preset") && cfg.Preset != f.Preset {
		return cfg, false, fmt.Errorf("%s: found a run of preset %s, expected %s: give another --dir or leave --preset out", dir, cfg.Preset, f.Preset)
	}
	return cfg, true, f.Overlay(c, &cfg)
}

// Load builds the configuration: preset, file, environment, flags.
func (f *ConfigFlags) Load(c *cobra.Command) (configs.Config, error) {
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
			err = f.Overlay(c, &cfg)
			return cfg, err
		}
	}
	cfg, err := configs.Preset(f.Preset)
	if err != nil {
		return cfg, fmt.Errorf("%w: --preset: %w", ErrUsage, err)
	}
	err = f.Overlay(c, &cfg)
	return cfg, err
}

// read reads the file once: it may be a pipe.
func (f *ConfigFlags) read() (err error) {
	if f.file == "" || f.text != nil {
		return nil
	}
	if f.text, err = configs.ReadFile(f.file); err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	return nil
}

// Overlay applies the file, the environment and the flags that were given. What
// the last two make invalid is wrong usage.
func (f *ConfigFlags) Overlay(c *cobra.Command, cfg *configs.Config) error {
	if err := f.read(); err != nil {
		return err
	}
	if f.file != "" {
		if err := cfg.Merge(f.text, f.file); err != nil {
			return err
		}
	}
	before := selfplay.Check(*cfg)
	if err := cfg.SetEnv(os.Environ()); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if c.Flags().Changed("variant") {
		cfg.Variant = f.variant
	}
	if c.Flags().Changed("seed") {
		cfg.Seed = f.seed
	}
	if err := cfg.SetPairs(f.set); err != nil {
		return fmt.Errorf("%w: --set: %w", ErrUsage, err)
	}
	if f.Bus != nil {
		if err := f.Bus.Apply(c, cfg); err != nil {
			return err
		}
	}
	err := selfplay.Check(*cfg)
	if err != nil && before == nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return err
}
