// Package config is the command config: it shows or checks a run's configuration.
package config

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newConfigCommand()} }

func newConfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or check the effective configuration",
		Args:  cli.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []struct{ use, short, long string }{
		{"show", "Print the effective configuration as a file", ""},
		{"check", "Say whether the effective configuration is valid", `Say whether the effective configuration is valid, on any machine. Files that it names, such as
a book or a first net, are not looked for: the start does that, before it makes anything.`},
	} {
		var f cli.ConfigFlags
		cmd := &cobra.Command{
			Use:     sub.use,
			Short:   sub.short,
			Long:    sub.long,
			Example: "  selfplay config " + sub.use + " --preset fairy --set train.lr=0.001",
			Args:    cli.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				cfg, err := f.Load(c)
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
		f.Add(cmd)
		c.AddCommand(cmd)
	}
	return c
}
