//go:build unix

// Command cluster shows on one machine what a run on many has to survive. It starts
// three NATS servers, actors, replay, trainer and gates as processes, does to them what
// the subcommand says, ends them in order and compares the games that were finished, as
// the spools showed them, with those in the replay buffer. It exits with 1 if anything
// is lost or stored twice.
//
//	go run ./scripts/cluster kill --kills 200 --dir /tmp/cluster
//	go run ./scripts/cluster wipe
//	go run ./scripts/cluster stop
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/clustertest"
	"github.com/crazyhouse-rl/selfplay/internal/script"
)

const usage = `usage: go run ./scripts/cluster kill|wipe|stop [flags]

  kill   every role and every server is killed with signal 9 in turn and started again
  wipe   all servers are killed at once, and their directories removed
  stop   trainer and referee are suspended for longer than their leases, and go on
         after others have taken over; then replay, while games wait in the spools

Started again with the same --dir, kill goes on where it was.

`

func main() { script.Main("cluster", run) }

type options struct {
	dir        string
	servers    int
	actors     int
	gates      int
	kills      int
	generation int
}

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	flags.StringVar(&o.dir, "dir", "", "directory of everything; default a temporary one, removed at the end unless something failed")
	flags.IntVar(&o.servers, "servers", 3, "NATS servers, each with a copy of everything: 1, 3 or 5")
	flags.IntVar(&o.actors, "actors", 4, "actors")
	flags.IntVar(&o.gates, "gates", 2, "gate processes")
	flags.IntVar(&o.kills, "kills", 200, "processes to kill; of kill")
	flags.IntVar(&o.generation, "generation", 5, "of the net that has to be published before the end; of kill")
	scenario := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		scenario, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", script.ErrUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: found argument %q, expected none after the subcommand", script.ErrUsage, flags.Arg(0))
	}
	play, ok := map[string]func(context.Context, *clustertest.Cluster, *options) error{
		"kill": func(ctx context.Context, c *clustertest.Cluster, o *options) error {
			return c.KillInTurn(ctx, o.kills, o.generation)
		},
		"wipe": func(ctx context.Context, c *clustertest.Cluster, _ *options) error { return c.WipeServers(ctx) },
		"stop": func(ctx context.Context, c *clustertest.Cluster, _ *options) error {
			if err := c.StopHolders(ctx); err != nil {
				return err
			}
			return c.StopReplay(ctx)
		},
	}[scenario]
	if !ok {
		flags.Usage()
		return fmt.Errorf("%w: found subcommand %q, expected kill, wipe or stop", script.ErrUsage, scenario)
	}
	switch {
	case o.servers != 1 && o.servers != 3 && o.servers != 5:
		return fmt.Errorf("%w: found --servers %d, expected 1, 3 or 5", script.ErrUsage, o.servers)
	case o.actors < 1 || o.gates < 1 || o.kills < 0 || o.generation < 0:
		return fmt.Errorf("%w: found --actors %d, --gates %d, --kills %d, --generation %d, expected 1 or more actors and gates, and no number below 0", script.ErrUsage, o.actors, o.gates, o.kills, o.generation)
	}
	return o.inDir(func() error { return o.cluster(ctx, play) })
}

// inDir does work in the directory, which it makes and removes if none was given.
func (o *options) inDir(work func() error) error {
	if o.dir != "" {
		return work()
	}
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		return err
	}
	o.dir = dir
	if err := work(); err != nil {
		return fmt.Errorf("%w\neverything is kept in %s", err, dir)
	}
	return os.RemoveAll(dir)
}

// cluster runs a whole cluster, and play on it.
func (o *options) cluster(ctx context.Context, play func(context.Context, *clustertest.Cluster, *options) error) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	began := time.Now()
	log.Info("building", "dir", o.dir)
	programs, err := clustertest.Build(ctx, filepath.Join(o.dir, "bin"))
	if err != nil {
		return err
	}
	c, err := clustertest.Open(clustertest.Options{Dir: o.dir, Programs: programs, Servers: o.servers, Actors: o.actors, Gates: o.gates, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Start(ctx); err != nil {
		return err
	}
	if err := play(ctx, c, o); err != nil {
		return err
	}
	log.Info("ending everything in order")
	if err := c.End(ctx); err != nil {
		return err
	}
	v, err := c.Verdict()
	if err != nil {
		return err
	}
	fmt.Printf("%v in %v\n", v, time.Since(began).Round(time.Second))
	return v.OK()
}
