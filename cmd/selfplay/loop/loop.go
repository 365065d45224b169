// Package loop is the program without a command: the whole loop in one process.
package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dash"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/observe"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

type loopOptions struct {
	config     cli.ConfigFlags
	bus        cli.BusFlags
	dir        string
	listen     string
	page       string
	token      cli.PageToken
	forTime    time.Duration
	cpuTime    time.Duration
	games      uint64
	generation int
	json       bool
	replace    bool // the run's replay buffer
	metrics    string
}

// New returns the root command: the whole loop on this machine.
func New() *cobra.Command {
	var o loopOptions
	c := &cobra.Command{
		Use:   "selfplay --variant crazyhouse",
		Short: "Teach itself crazyhouse: self-play, replay, training and gating in one process",
		Long: `selfplay runs the whole loop on this machine: actors play games, the games go
over an embedded NATS JetStream into the replay buffer, the trainer learns from
it and offers nets, the gate plays every offered net against the current one,
and the actors pick up the winner.

Everything is kept in one directory. Ctrl-C finishes the games in progress,
writes a checkpoint and prints the command that resumes; a killed process loses
nothing that was acknowledged and is resumed by the same command.`,
		Example: `  selfplay --variant crazyhouse
  selfplay --variant crazyhouse --dash 127.0.0.1:8080
  selfplay --variant crazyhouse --dash 127.0.0.1:8080 --page-token page.token
  selfplay --preset tiny --for 1m
  selfplay --variant crazyhouse --metrics 9100
  selfplay --preset fairy --dir runs/fsf --set train.gradient_norm=1
  selfplay --dir runs/on --set train.init=builtin --set net.width=512 --set net.activation=pairwise --set net.growth=`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return loop(c, o) },
	}
	o.config.Add(c)
	o.bus.Add(c)
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "directory of the run; default runs/VARIANT-PRESET, resumed if it exists")
	f.StringVar(&o.listen, "listen", "", "open the embedded NATS server on host:port")
	f.StringVar(&o.page, "dash", "", "serve a page for browsers that shows the run on host:port, e.g. 127.0.0.1:8080; without host, for this machine alone")
	o.token.Add(c)
	f.DurationVar(&o.forTime, "for", 0, "stop after this time, e.g. 30m; 0: run until interrupted")
	f.DurationVar(&o.cpuTime, "cpu-time", 0, "stop after this processor time of all threads, so that other programs change little; Linux only, elsewhere it is time passed; 0: no limit")
	f.Uint64Var(&o.games, "games", 0, "stop after playing this number of games; 0: no limit")
	f.IntVar(&o.generation, "until-generation", 0, "stop when the actors play with a net of this generation; 0: no limit. An end before that, by --for, --games, --cpu-time or Ctrl-C, is then a failure")
	cli.AddReplaceBuffer(c, &o.replace)
	f.StringVar(&o.metrics, observe.Flag, "", observe.Usage)
	f.BoolVar(&o.json, "json", false, "print the status as JSON lines")
	return c
}

func loop(c *cobra.Command, o loopOptions) error {
	if o.forTime < 0 || o.cpuTime < 0 || o.generation < 0 {
		return fmt.Errorf("%w: found --for %v --cpu-time %v --until-generation %d, expected none negative", cli.ErrUsage, o.forTime, o.cpuTime, o.generation)
	}
	cfg, resumed, err := o.configuration(c)
	if err != nil {
		return err
	}
	net, err := cfg.Net.Text(cfg.Variant)
	if err != nil {
		return err
	}
	if o.token.Given() && o.page == "" {
		return fmt.Errorf("%w: found --page-token without --dash, which serves the page", cli.ErrUsage)
	}
	var run *selfplay.Run
	control, err := o.token.Control(func(_ context.Context, change func(*selfplay.NetChoice) error) error { return change(run.Choice()) })
	if err != nil {
		return err
	}
	var page *cli.Page
	if o.page != "" {
		if page, err = cli.OpenPage(o.page); err != nil {
			return err
		}
		defer page.Close()
	}
	cli.WriteToNobody()
	out := cli.NewLive(c.OutOrStdout())
	logger := slog.New(cli.NewSentences(out, selfplay.Sentence))
	if o.json {
		logger = slog.New(slog.NewJSONHandler(out, nil))
	}
	logger.Info("starting", "variant", cfg.Variant, "preset", cfg.Preset, "net", net,
		"seed", cfg.Seed, "dir", o.dir, "resumed", resumed, "build", c.Root().Version)

	watch, err := cli.ServeMetrics(o.metrics, c.Root().Version, logger)
	if err != nil {
		return err
	}
	defer watch.Close()
	run, err = selfplay.Open(c.Context(), o.dir, cfg, selfplay.Options{Build: c.Root().Version, Patience: o.bus.Wait, Log: logger, ReplaceBuffer: o.replace})
	if err != nil {
		return err
	}
	stopPage, err := servePage(page, dash.Config{Dir: o.dir, Status: run.Status, Ask: run.Overview, Boards: run.Boards, Control: control}, logger)
	if err != nil {
		return errors.Join(err, run.Close())
	}
	show, stopShowing := context.WithCancel(context.Background())
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		out.Follow(show, logger, o.json, func(columns int) cli.Shown {
			s := run.Status()
			return cli.Shown{Panel: s.Panel(columns), Line: s.Line(), Attrs: s.Attrs()}
		})
	}()
	watch.Watch(run)
	err = run.Loop(c.Context(), selfplay.Limits{For: o.forTime, CPU: o.cpuTime, Games: o.games, Generation: o.generation})
	stopShowing()
	<-shown
	stopPage()

	s := run.Status()
	watch.Watch(nil)
	err = errors.Join(err, run.Close())
	if resume := cli.CommandLine("--dir", o.dir); o.json {
		logger.Info("resume", "command", resume)
	} else {
		fmt.Fprint(out, ending(s, cfg.Variant, o.dir, resume))
	}
	if err == nil && o.generation > 0 && s.ActorGeneration < o.generation {
		err = fmt.Errorf("stopped before the actors loaded a net of generation %d: they have %d", o.generation, s.ActorGeneration)
	}
	return err
}

// servePage serves the run's page, if it has one, until the function it returns is called.
// A page that fails does not end the run.
func servePage(page *cli.Page, cfg dash.Config, logger *slog.Logger) (stop func(), err error) {
	if page == nil {
		return func() {}, nil
	}
	w, err := dash.NewWatch(cfg)
	if err != nil {
		return nil, err
	}
	logger.Info(page.String())
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := page.Serve(ctx, w); err != nil {
			logger.Warn("the page has ended", "error", err)
		}
	})
	return func() { cancel(); serving.Wait() }, nil
}

// ending says what the run in dir has come to and what can be done with it.
func ending(s selfplay.Status, variant, dir, resume string) string {
	var text strings.Builder
	line := func(what, command string) { fmt.Fprintf(&text, "%-13s%s\n", what, command) }
	n := len(s.Curve) // 0 without a gate
	if n > 0 || s.Generation > 0 {
		reached := fmt.Sprintf("generation %d", s.Generation)
		if n > 0 {
			newest := s.Curve[n-1]
			reached += fmt.Sprintf(", %s over the first player by %s", newest.Reached(), words.Count(newest.Matches, "match", "matches"))
			if known := newest.Matches - newest.NoError; newest.NoError > 0 && known > 0 {
				reached += fmt.Sprintf(", its error from the %d of them that have a finite one", known)
			}
		}
		line("reached:", reached)
	}
	curve := filepath.Join(dir, selfplay.CurveFile)
	if _, err := os.Stat(curve); err == nil {
		line("curve:", curve)
	}
	if n > 0 || s.Generation > 0 {
		play, match := []string{"play", dir}, []string{"match", dir, player.Builtin, "--games", "100", "--nodes", "400"}
		if variant != chess.Crazyhouse.Name { // the commands' own
			match[2] = player.Material // the built-in net plays crazyhouse
			play, match = append(play, "--variant", variant), append(match, "--variant", variant)
		}
		line("play it:", cli.CommandLine(play...))
		line("match it:", cli.CommandLine(match...))
	}
	line("resume with:", resume)
	return text.String()
}

// configuration settles o.dir and the effective configuration: that of the run
// found there, or a new one.
func (o *loopOptions) configuration(c *cobra.Command) (cfg configs.Config, resumed bool, err error) {
	o.config.Bus = &o.bus
	usual := func(cfg configs.Config) error {
		o.dir = filepath.Join("runs", cfg.Variant+"-"+cfg.Preset)
		return nil
	}
	if cfg, resumed, err = o.config.LoadOrResume(c, &o.dir, usual); err != nil {
		return cfg, false, err
	}
	if c.Flags().Changed("listen") {
		cfg.Bus.Listen = o.listen
	}
	if err := selfplay.Check(cfg); err != nil {
		return cfg, false, fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	return cfg, resumed, nil
}
