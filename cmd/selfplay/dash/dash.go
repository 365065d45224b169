// Package dash is the command dash: the page on which people watch a run.
package dash

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dash"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newDash(), newReport()} }

// dashOptions are those of the command dash.
type dashOptions struct {
	address string
	token   string // file
	bus     cli.BusFlags
	config  cli.ConfigFlags
}

func newDash() *cobra.Command {
	var o dashOptions
	c := &cobra.Command{
		Use:   "dash [DIR]",
		Short: "Serve the page on which a run can be watched",
		Long: `Serve a page for browsers that shows the run in a directory: its data path, how it
learns, its games and its nets. The run may be under way in another process, or over.
Of the directory of a comparison (selfplay compare --dir) it shows that.
The page only reads, and the run does no work for it. A loop serves its own page with
--dash; that one also knows what only the process itself does, such as who waits for
whom.

With --nats and --run it shows a run on a server, without a directory of it here: who
works for it, what is on its way, and its nets. Games and matches are where the roles
that keep them are.

With --page-token the page's view of nets can promote a net or roll back, as selfplay net
does, for who types the secret of the file. Without it the page only reads. The run of a
directory has to be stopped for that, or on a server.

Only this machine reaches the page unless --listen says otherwise. There is no password:
whoever reaches it can look at everything on it.`,
		Example: `  selfplay dash runs/crazyhouse-laptop
  selfplay dash hands
  selfplay dash runs/crazyhouse-laptop --listen 127.0.0.1:9000
  selfplay dash --nats nats://10.0.0.1:4222 --run crazyhouse --token-file run.token
  selfplay --variant crazyhouse --dash 127.0.0.1:8080`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, choice, closeRun, err := o.watched(c, args)
			if err != nil {
				return err
			}
			defer closeRun()
			if cfg.Control, err = o.control(c, cfg.Dir, choice); err != nil {
				return err
			}
			w, err := dash.NewWatch(cfg)
			if err != nil {
				return err
			}
			page, err := cli.OpenPage(o.address)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), page)
			return page.Serve(c.Context(), w)
		},
	}
	o.bus.Add(c)
	o.config.AddOwn(c)
	c.Flags().StringVar(&o.token, "page-token", "", fmt.Sprintf("file of a secret of at least %d characters, mode 0600, with which the page may promote nets and roll back; default: it only reads", dash.LeastToken))
	c.Flags().StringVar(&o.address, "listen", "127.0.0.1:8080", "host:port to serve on; without host, this machine alone; port 0: a free one")
	return c
}

// watched is the run that is shown: that of a directory, or the one on a server that the
// flags name, to which it connects until the function it returns is called. Choice is of
// the latter.
func (o *dashOptions) watched(c *cobra.Command, args []string) (cfg dash.Config, choice *selfplay.NetChoice, closeRun func(), err error) {
	o.config.Bus = &o.bus
	own, err := o.config.LoadOwn(c)
	if err != nil {
		return cfg, nil, nil, err
	}
	given := c.Flags().Changed("nats") || c.Flags().Changed("run")
	switch {
	case len(args) == 1 && !given:
		return dash.Config{Dir: args[0]}, nil, func() {}, nil
	case len(args) != 0 || own.Bus.URL == "" || own.Run.Name == "":
		return cfg, nil, nil, fmt.Errorf("%w: found %d arguments, server %q and run %q, expected one argument, the directory of a run, or both --nats and --run (see %s --help)",
			cli.ErrUsage, len(args), secret.Redact(own.Bus.URL), own.Run.Name, c.CommandPath())
	}
	opt := o.bus.Options(c)
	opt.Role = c.Name()
	run, err := selfplay.Look(c.Context(), own, opt)
	if err != nil {
		return cfg, nil, nil, err
	}
	choice = run.Choice()
	nets := func(ctx context.Context) ([]nets.Manifest, []selfplay.NetChange, error) {
		list, err := choice.Nets(ctx)
		if err != nil {
			return nil, nil, err
		}
		changes, err := choice.History(ctx)
		return list, changes, err
	}
	return dash.Config{Ask: run.Overview, Nets: nets}, choice, func() { _ = run.Close() }, nil // it has nothing to lose
}

// control is what the page may change with the token, nil without a token. The choice is
// that of the run on a server; the one of a directory is opened for each change.
func (o *dashOptions) control(c *cobra.Command, dir string, choice *selfplay.NetChoice) (*dash.Control, error) {
	if o.token == "" {
		return nil, nil
	}
	token, err := secret.ReadFile(o.token)
	if err == nil && len(token) < dash.LeastToken {
		err = fmt.Errorf("%s: found a secret of %d characters, expected %d or more", o.token, len(token), dash.LeastToken)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --page-token: %w", cli.ErrUsage, err)
	}
	with := func(ctx context.Context, do func(*selfplay.NetChoice) error) error {
		if choice != nil {
			return do(choice)
		}
		cfg, found, err := selfplay.SavedConfig(dir)
		if err == nil && !found {
			err = fmt.Errorf("%s: found no run, expected the directory of one", dir)
		}
		if err != nil {
			return err
		}
		own, err := selfplay.ChooseNet(ctx, dir, cfg, selfplay.Options{Build: c.Root().Version, Patience: o.bus.Wait})
		if err != nil {
			return err
		}
		return errors.Join(do(own), own.Close())
	}
	by := "page"
	if host, err := os.Hostname(); err == nil {
		by += "@" + host
	}
	return &dash.Control{
		Token: token,
		Promote: func(ctx context.Context, net, why string) (was, is nets.Record, err error) {
			err = with(ctx, func(c *selfplay.NetChoice) (err error) { was, is, err = c.Promote(ctx, net, by, why); return err })
			return was, is, err
		},
		Rollback: func(ctx context.Context, generation int, why string) (was, is nets.Record, err error) {
			err = with(ctx, func(c *selfplay.NetChoice) (err error) {
				was, is, err = c.Rollback(ctx, generation, by, why)
				return err
			})
			return was, is, err
		},
	}, nil
}
