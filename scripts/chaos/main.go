//go:build linux

// Command chaos has a schedule of faults happen to a small cluster on this machine, heals it
// and audits what is left; docs/chaos.md says which faults, and what has to be true. It exits
// with 1 if something is not, after it has looked for the shortest schedule that still
// fails.
//
//	go run ./scripts/chaos --seed 1 --faults 1000 --dir /tmp/chaos
//	go run ./scripts/chaos --schedule /tmp/chaos/shortest.json --dir /tmp/again
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/chaos"
	"github.com/crazyhouse-rl/selfplay/internal/clustertest"
	"github.com/crazyhouse-rl/selfplay/internal/script"
)

const usage = `usage: go run ./scripts/chaos [flags]

Three NATS servers, two actors, replay, trainer, two gates and a verifier run as processes
while faults happen to them: kills, suspensions, power cuts, networks that fail, disks that
fail, wrong clocks, flipped bits, hostile actors. The schedule follows from the seed alone.

  go run ./scripts/chaos --seed 1 --faults 1000 --dir /tmp/chaos
  go run ./scripts/chaos --seed 1 --faults 1000 --print                 the schedule, and no run
  go run ./scripts/chaos --schedule /tmp/chaos/shortest.json --dir /tmp/again

Exit code 0: all is as it has to be; 1: it is not, or the suite itself failed; 2: wrong usage.

`

type options struct {
	seed     uint64
	faults   int
	every    time.Duration
	calm     time.Duration
	dir      string
	schedule string
	bin      string
	shrink   int
	print    bool
}

func main() { script.Main("chaos", run) }

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	flags.Uint64Var(&o.seed, "seed", 1, "of the schedule")
	flags.IntVar(&o.faults, "faults", 100, "how many, 1 or more")
	flags.DurationVar(&o.every, "every", 1200*time.Millisecond, "time between two faults, on the average")
	flags.DurationVar(&o.calm, "calm", 5*time.Minute, "how long the healed cluster may take until all games are stored and another net is published")
	flags.StringVar(&o.dir, "dir", "", "directory of everything, empty or not there; needed but for --print")
	flags.StringVar(&o.schedule, "schedule", "", "file of a schedule to replay, in place of --seed, --faults and --every")
	flags.StringVar(&o.bin, "bin", "", "directory of the programs that an earlier run built (its DIR/bin), which takes minutes; default: build them")
	flags.IntVar(&o.shrink, "shrink", 30, "runs at most to look for the shortest schedule that fails; 0: none")
	flags.BoolVar(&o.print, "print", false, "print the schedule and do nothing")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", script.ErrUsage, err)
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%w: found argument %q, expected flags only", script.ErrUsage, flags.Arg(0))
	case o.faults < 1 || o.every <= 0 || o.calm <= 0 || o.shrink < 0:
		return fmt.Errorf("%w: found --faults %d, --every %v, --calm %v, --shrink %d, expected positive ones, 0 for --shrink at least", script.ErrUsage, o.faults, o.every, o.calm, o.shrink)
	case o.dir == "" && !o.print:
		return fmt.Errorf("%w: found no --dir, expected a directory for everything", script.ErrUsage)
	}
	s := chaos.Draw(o.seed, o.faults, o.every)
	if o.schedule != "" {
		var err error
		if s, err = chaos.ReadSchedule(o.schedule); err != nil {
			return err
		}
	}
	if o.print {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(s)
	}
	return o.play(ctx, s)
}

func (o *options) play(ctx context.Context, s chaos.Schedule) error {
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	programs, err := o.programs(ctx, log)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if err := s.Write(filepath.Join(o.dir, "schedule.json")); err != nil {
		return err
	}
	once := func(s chaos.Schedule, dir string, brief bool) (*chaos.Report, error) {
		return chaos.Run(ctx, chaos.Options{Dir: dir, Programs: programs, Calm: o.calm, Brief: brief, Log: log}, s)
	}
	report, err := once(s, filepath.Join(o.dir, "run"), false)
	if report != nil {
		fmt.Print(report)
	}
	if err != nil || report.OK() {
		return err
	}
	if err := o.shorten(s, report, log, once); err != nil {
		return err
	}
	return fmt.Errorf("not all is as it has to be; everything is kept in %s", o.dir)
}

// programs returns those of --bin, or builds them.
func (o *options) programs(ctx context.Context, log *slog.Logger) (clustertest.Programs, error) {
	if o.bin == "" {
		log.Info("building both programs with a disk and a clock that fail", "dir", o.dir)
		return chaos.Build(ctx, filepath.Join(o.dir, "bin"))
	}
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return clustertest.Programs{}, err
	}
	p := clustertest.Programs{Selfplay: filepath.Join(bin, "selfplay"), Server: filepath.Join(bin, "nats-server")}
	for _, path := range []string{p.Selfplay, p.Server} {
		if _, err := os.Stat(path); err != nil {
			return p, fmt.Errorf("--bin: %w: leave it out to build the programs", err)
		}
	}
	return p, nil
}

var errEnough = errors.New("enough runs")

// shorten looks for the shortest schedule that breaks a law that the whole one, whose report
// is given, broke, and writes the best found so far.
func (o *options) shorten(s chaos.Schedule, whole *chaos.Report, log *slog.Logger, once func(chaos.Schedule, string, bool) (*chaos.Report, error)) error {
	laws, brief := whole.Aim()
	if o.shrink == 0 || len(laws) == 0 {
		return nil
	}
	runs, began := 0, time.Now()
	path := filepath.Join(o.dir, "shortest.json")
	short, err := chaos.Shrink(s, func(part chaos.Schedule) (bool, error) {
		if runs++; runs > o.shrink {
			return false, errEnough
		}
		dir := filepath.Join(o.dir, fmt.Sprintf("shrink-%03d", runs))
		report, err := once(part, dir, brief)
		if err != nil {
			return false, err
		}
		fails := report.Breaks(laws)
		log.Info("tried a part of the schedule", "faults", len(part.Faults), "fails", fails, "run", runs, "of at most", o.shrink)
		if fails {
			return true, part.Write(path)
		}
		return false, os.RemoveAll(dir) // tells nothing, and each has a hundred megabytes
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	log.Info("the shortest schedule found that fails", "faults", len(short.Faults), "by the laws", laws, "runs", min(runs, o.shrink), "took", time.Since(began).Round(time.Second), "file", path)
	return short.Write(path)
}
