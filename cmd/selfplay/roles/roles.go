// Package roles has the commands that run one role of a run on a server: actor,
// replay, trainer, gate and verify, and the one that says how a run is doing.
package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/observe"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Commands returns the commands of this package. Audit is the one that looks into a
// replay buffer without a server.
func Commands(audit *cobra.Command) []*cobra.Command {
	replay := newReplay()
	replay.AddCommand(audit)
	return []*cobra.Command{newActor(), replay, newTrainer(), newGate(), newVerify(), newStatus(), newQuarantine(), newAudit()}
}

// role is what the commands have in common.
type role struct {
	name   string
	bus    cli.BusFlags
	config cli.ConfigFlags
	dir    string
	json   bool

	replace bool // the run's replay buffer

	metrics string // address
	watch   *observe.Server
}

func (o *role) add(c *cobra.Command) {
	o.name = c.Name()
	o.bus.Add(c)
	c.Flags().StringVar(&o.dir, "dir", "", "directory of what this role keeps; default runs/NAME, where other roles of this machine may be too, one of each")
	c.Flags().BoolVar(&o.json, "json", false, "print the status as JSON lines")
	c.Flags().StringVar(&o.metrics, observe.Flag, "", observe.Usage)
}

const common = `

It needs the server's address and the run's name, nothing else: settings and nets
come over the bus. Ctrl-C ends it in order; after a kill the same command goes on.
While the server is away it waits and tries again.`

func newActor() *cobra.Command {
	o := &role{}
	var workers int
	var limits selfplay.Limits
	c := &cobra.Command{
		Use:   "actor --nats URL --run NAME",
		Short: "Play games for a run on a server",
		Long: `Play games for a run on a server, with the net that the run plays with, and give them
to its replay buffer. Any number of actors come and go. A finished game is kept on
this machine's disk until the replay buffer says that it has it on its own. An actor
that ends waits up to 20 s for that; the games that are left are published by its next
start, and the exit code is 0.` + common,
		Example: `  selfplay actor --nats nats://10.0.0.1:4222 --run crazyhouse --token-file run.token
  selfplay actor --nats tls://a:4222,tls://b:4222 --run crazyhouse --creds actor.creds --tls-ca ca.pem --set actor.name=a1 --workers 16`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limits.For < 0 || workers < 0 {
				return fmt.Errorf("%w: found --for %v --workers %d, expected neither negative", cli.ErrUsage, limits.For, workers)
			}
			return o.join(c, func(cfg *configs.Config) {
				if workers > 0 {
					cfg.Actor.Workers = workers
				}
			}, func(ctx context.Context, r *selfplay.Run) error {
				err := r.Actor(ctx, limits)
				limits = limits.After(r.Status()) // if it joins again
				return err
			})
		},
	}
	o.add(c)
	o.config.AddOwn(c)
	c.Flags().IntVar(&workers, "workers", 0, "games played at the same time, one thread each; 0: as many as actor.workers says")
	c.Flags().DurationVar(&limits.For, "for", 0, "stop after this time, e.g. 30m, though not before the run has begun; 0: run until interrupted")
	c.Flags().Uint64Var(&limits.Games, "games", 0, "stop after playing this number of games; 0: no limit")
	return c
}

func newReplay() *cobra.Command {
	o := &role{}
	c := &cobra.Command{
		Use:   "replay --nats URL --run NAME",
		Short: "Keep the games of a run on a server; with audit, recount a buffer",
		Long: `Keep the games of a run on a server in the replay buffer of this machine: every game
is checked by the rules and for its actor's signature, stored and synced. One process
at a time does this; a second one on the same buffer waits until the first has ended.
Another buffer than the run's is refused: start replay where that one is. If it is lost,
--replace-buffer lets an empty one take its place.` + common,
		Example: `  selfplay replay --nats nats://10.0.0.1:4222 --run crazyhouse --dir /data/crazyhouse
  selfplay replay audit /data/crazyhouse`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.join(c, func(*configs.Config) {}, func(ctx context.Context, r *selfplay.Run) error { return r.Replay(ctx) })
		},
	}
	o.add(c)
	o.config.AddOwn(c)
	cli.AddReplaceBuffer(c, &o.replace)
	return c
}

func newGate() *cobra.Command {
	o := &role{}
	workers := 1
	c := &cobra.Command{
		Use:   "gate --nats URL --run NAME",
		Short: "Judge the nets of a run on a server",
		Long: `Play the games in which the nets that a run's trainer offers are judged. Any number of
these processes share the games of a match; one of them, the referee, hands them out
and decides. If it ends, another takes its place and begins the match again; the same
directory goes on from its games. The verdict is the same for one process and for many.` + common,
		Example: `  selfplay gate --nats nats://10.0.0.1:4222 --run crazyhouse --workers 8`,
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if workers < 0 {
				return fmt.Errorf("%w: --workers: found %d, expected 0 or more", cli.ErrUsage, workers)
			}
			return o.join(c, func(cfg *configs.Config) {
				if c.Flags().Changed("workers") {
					cfg.Gate.Concurrency = max(workers, 1)
				}
			}, func(ctx context.Context, r *selfplay.Run) error { return r.Gate(ctx, workers > 0) })
		},
	}
	o.add(c)
	o.config.AddOwn(c)
	c.Flags().IntVar(&workers, "workers", 1, "games played at the same time; 0: only hand them out")
	c.Flags().Lookup("workers").DefValue = "gate.concurrency, 2 unless set"
	return c
}

func newVerify() *cobra.Command {
	o := &role{}
	c := &cobra.Command{
		Use:   "verify --nats URL --run NAME",
		Short: "Play a share of a run's games again, and exclude actors that forge",
		Long: `Play a random share of the stored games of a run again (verify.share). A game follows
from its id, its net and the run's settings to the last byte; an actor one of whose
games does not is excluded: its games are kept, but not trained on. Games of another
build are not compared.` + common,
		Example: `  selfplay verify --nats nats://10.0.0.1:4222 --run crazyhouse`,
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.join(c, func(*configs.Config) {}, func(ctx context.Context, r *selfplay.Run) error { return r.Verify(ctx) })
		},
	}
	o.add(c)
	o.config.AddOwn(c)
	return c
}

func newTrainer() *cobra.Command {
	o := &role{}
	var limits selfplay.Limits
	c := &cobra.Command{
		Use:   "trainer --nats URL --run NAME",
		Short: "Train the nets of a run on a server; begins the run",
		Long: `Learn from the games of a run on a server and offer nets. The first start begins the
run: its settings come from here, and its nets are signed with the key in this
directory. Keep that key; without it no net of the run is taken any more. The games
are copied from the run's replay buffer, which may be on another machine.

One process at a time does this; a second one, which needs the same key and the
checkpoints, waits until the first has ended.

A killed trainer goes on at its last checkpoint by the same command; the steps since
then are made again.`,
		Example: `  selfplay trainer --nats nats://10.0.0.1:4222 --run crazyhouse --dir /data/crazyhouse
  selfplay trainer --nats nats://10.0.0.1:4222 --run wide --preset fairy --seed 7`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limits.For < 0 || limits.Generation < 0 {
				return fmt.Errorf("%w: found --for %v --until-generation %d, expected neither negative", cli.ErrUsage, limits.For, limits.Generation)
			}
			return o.begin(c, limits)
		},
	}
	o.add(c)
	o.config.Add(c)
	c.Flags().DurationVar(&limits.For, "for", 0, "stop after this time, e.g. 30m; 0: run until interrupted")
	c.Flags().IntVar(&limits.Generation, "until-generation", 0, "stop when the run plays with a net of this generation; 0: no limit")
	return c
}

// options are those of a process of the run, and what shows its status.
func (o *role) options(c *cobra.Command) (selfplay.Options, *cli.Live) {
	cli.WriteToNobody()
	out := cli.NewLive(c.Root().OutOrStdout()) // not the command's own, whose errors end in an exit code: a role goes on when nobody reads
	logger := slog.New(cli.NewSentences(out, selfplay.Sentence))
	if o.json {
		logger = slog.New(slog.NewJSONHandler(out, nil))
	}
	return selfplay.Options{Build: c.Root().Version, Role: o.name, Patience: o.bus.Wait, Log: logger, ReplaceBuffer: o.replace}, out
}

// check refuses a configuration that names no run on a server, and sets the usual directory.
func (o *role) check(cfg configs.Config) error {
	if cfg.Bus.URL == "" {
		return fmt.Errorf("%w: --nats: found nothing, expected the server of the run, e.g. nats://10.0.0.1:4222", cli.ErrUsage)
	}
	if cfg.Run.Name == "" {
		return fmt.Errorf("%w: --run: found nothing, expected the name of the run", cli.ErrUsage)
	}
	if o.dir == "" {
		o.dir = filepath.Join("runs", cfg.Run.Name)
	}
	return nil
}

// join runs a role that takes its settings from the run.
func (o *role) join(c *cobra.Command, own func(*configs.Config), work func(context.Context, *selfplay.Run) error) error {
	o.config.Bus = &o.bus
	cfg, err := o.config.LoadOwn(c)
	if err == nil {
		err = o.check(cfg)
	}
	if err != nil {
		return err
	}
	own(&cfg)
	options, out := o.options(c)
	if o.watch, err = cli.ServeMetrics(o.metrics, options.Build, options.Log); err != nil {
		return err
	}
	defer o.watch.Close()
	for {
		run, err := selfplay.Join(c.Context(), o.dir, cfg.Run.Name, cfg, options)
		if err != nil {
			return err
		}
		if err := o.run(c, run, options.Log, out, work); !errors.Is(err, selfplay.ErrSettings) {
			return err
		}
	}
}

// begin runs the trainer, which has the run's settings.
func (o *role) begin(c *cobra.Command, limits selfplay.Limits) error {
	o.config.Bus = &o.bus
	cfg, _, err := o.config.LoadOrResume(c, &o.dir, o.check)
	if err == nil {
		err = o.check(cfg)
	}
	if err != nil {
		return err
	}
	options, out := o.options(c)
	if o.watch, err = cli.ServeMetrics(o.metrics, options.Build, options.Log); err != nil {
		return err
	}
	defer o.watch.Close()
	run, err := selfplay.Open(c.Context(), o.dir, cfg, options)
	if err != nil {
		return err
	}
	return o.run(c, run, options.Log, out, func(ctx context.Context, r *selfplay.Run) error { return r.Trainer(ctx, limits) })
}

// run does the work of a role and shows its status.
func (o *role) run(c *cobra.Command, run *selfplay.Run, logger *slog.Logger, out *cli.Live, work func(context.Context, *selfplay.Run) error) error {
	show, stopShowing := context.WithCancel(context.Background())
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		out.Follow(show, logger, o.json, func(int) cli.Shown {
			s := run.Status()
			line := s.RoleLine(o.name)
			return cli.Shown{Panel: []string{line}, Line: line, Attrs: s.RoleAttrs(o.name)}
		})
	}()
	o.watch.Watch(run)
	err := work(c.Context(), run)
	stopShowing()
	<-shown
	o.watch.Watch(nil)
	err = errors.Join(err, run.Close())
	if errors.Is(err, selfplay.ErrSettings) {
		return err
	}
	if o.json {
		logger.Info("resume", "command", cli.CommandLine(os.Args[1:]...))
	} else {
		fmt.Fprintln(out, "resume with:", cli.CommandLine(os.Args[1:]...))
	}
	return err
}
