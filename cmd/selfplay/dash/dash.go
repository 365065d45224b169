// Package dash is the command dash: the page on which people watch a run.
package dash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
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
	token   cli.PageToken
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
works for it, what is on its way, its nets, its games, those stored before as well as
those that are published meanwhile, and what the gate plays and has judged. The window is
where the replay buffer is.

With --page-token the page's view of nets can promote a net or roll back, as selfplay net
does, for who types the secret of the file. Without it the page only reads. The run of a
directory has to be stopped for that, or on a server, to which --creds, --tls-ca and
--token-file may lead in place of what its settings say.

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
			if cfg.Control, err = o.token.Control(o.choose(c, cfg.Dir, choice)); err != nil {
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
	o.token.Add(c)
	c.Flags().StringVar(&o.address, "listen", "127.0.0.1:8080", "host:port to serve on; without host, this machine alone; port 0: a free one")
	return c
}

// watched is the run that is shown: that of a directory, or the one on a server that the
// flags name, to which it connects until the function it returns is called. Choice is of
// the latter.
func (o *dashOptions) watched(c *cobra.Command, args []string) (cfg dash.Config, choice *selfplay.NetChoice, closeRun func(), err error) {
	if len(args) == 1 && !c.Flags().Changed("nats") && !c.Flags().Changed("run") {
		if err := o.checkFlags(c, args[0]); err != nil {
			return cfg, nil, nil, err
		}
		return dash.Config{Dir: args[0]}, nil, func() {}, nil
	}
	o.config.Bus = &o.bus
	own, err := o.config.LoadOwn(c)
	if err != nil {
		return cfg, nil, nil, err
	}
	if len(args) != 0 || own.Bus.URL == "" || own.Run.Name == "" {
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
	fetched, err := os.MkdirTemp("", "selfplay-page-")
	if err != nil {
		return cfg, nil, nil, errors.Join(err, run.Close())
	}
	cfg = dash.Config{
		Ask: run.Overview, Nets: nets, Judging: run.Judging, Games: run.WatchGames, Stored: run,
		NetFile: func(ctx context.Context, id string) (string, error) { return run.FetchNet(ctx, fetched, id) },
	}
	return cfg, choice, func() {
		_ = run.Close() // it has nothing to lose
		_ = os.RemoveAll(fetched)
	}, nil
}

// checkFlags refuses flags that are wrong, or would do nothing, for the run of a directory.
// Those that lead to its server are for changes of its net. What is wrong with the run
// itself the page shows.
func (o *dashOptions) checkFlags(c *cobra.Command, dir string) error {
	if err := cli.Needs(c.Flags(), "--nats and --run", false, "config", "set"); err != nil {
		return err
	}
	server := []string{"creds", "tls-ca", "token-file", "wait"}
	if err := cli.Needs(c.Flags(), "--page-token, or --nats and --run", o.token.Given(), server...); err != nil || !slices.ContainsFunc(server, c.Flags().Changed) {
		return err
	}
	if _, err := o.settings(c, dir); errors.Is(err, cli.ErrUsage) {
		return err
	}
	return nil
}

// settings are those of the run of a directory, with the flags that lead to its server. The
// environment, which may be of another run, is left out.
func (o *dashOptions) settings(c *cobra.Command, dir string) (configs.Config, error) {
	cfg, found, err := selfplay.SavedConfig(dir)
	if err == nil && !found {
		err = fmt.Errorf("%s: found no run, expected the directory of one", dir)
	}
	if err == nil {
		err = o.bus.Apply(c, &cfg)
	}
	if err != nil {
		return cfg, err
	}
	if err := selfplay.Check(cfg); err != nil {
		return cfg, fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	return cfg, nil
}

// choose gives a change of the net the choice of the run: that of the run on a server, or
// of a directory the one that is opened for the change.
func (o *dashOptions) choose(c *cobra.Command, dir string, choice *selfplay.NetChoice) cli.ChooseNet {
	return func(ctx context.Context, change func(*selfplay.NetChoice) error) error {
		if choice != nil {
			return change(choice)
		}
		cfg, err := o.settings(c, dir)
		if err != nil {
			return err
		}
		own, err := selfplay.ChooseNet(ctx, dir, cfg, selfplay.Options{Build: c.Root().Version, Patience: o.bus.Wait})
		if err != nil {
			return err
		}
		return errors.Join(change(own), own.Close())
	}
}
