// Command soak lets a loop run for long and fails if it comes to hold more and more: it
// samples memory, descriptors, goroutines and the disk by what lies there into a CSV,
// draws them, and compares the last quarter of the time with the one before.
//
//	go run ./scripts/soak --for 2h --dir /tmp/soak
//	go run ./scripts/soak --for 12h --dir /tmp/soak -- --preset laptop --set replay.max_bytes=67108864
//	go run ./scripts/soak --judge /tmp/soak/soak.csv
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/script"
	"github.com/crazyhouse-rl/selfplay/internal/soak"
)

const usage = `usage: go run ./scripts/soak --dir DIR [--for 2h] [--every 10s] [--bound 0.1] [-- loop's flags]

Runs bin/selfplay, or --program, as a loop in DIR/run and writes DIR/soak.csv and
DIR/soak.svg. Without flags of the loop, the smallest preset with a buffer of games that is
full after minutes, so that all limits are reached. --judge FILE only judges and draws
samples that are there. Exits with 1 if anything grew by more than the bound.

`

func main() { script.Main("soak", run) }

func run(ctx context.Context, args []string) error {
	o := soak.Options{Log: os.Stdout}
	var judge string
	var bound float64
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage); flags.PrintDefaults() }
	flags.StringVar(&o.Dir, "dir", "", "directory of everything")
	flags.StringVar(&o.Program, "program", "bin/selfplay", "the program that runs")
	flags.DurationVar(&o.For, "for", 2*time.Hour, "how long")
	flags.DurationVar(&o.Every, "every", 10*time.Second, "time between samples")
	flags.Float64Var(&bound, "bound", 0.1, "share by which anything may grow from the third quarter to the last")
	flags.StringVar(&judge, "judge", "", "file of samples to judge; nothing is run")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", script.ErrUsage, err)
	}
	if !(bound >= 0) || math.IsInf(bound, 0) { // by no bound, and none that is no number, would anything grow
		return fmt.Errorf("%w: found --bound %v, expected a number of 0 or more", script.ErrUsage, bound)
	}
	o.Args = flags.Args()
	if judge != "" {
		return judgeFile(judge, bound)
	}
	if o.Dir == "" || o.For <= 0 || o.Every <= 0 {
		return fmt.Errorf("%w: found --dir %q, --for %v, --every %v, expected a directory and times above 0", script.ErrUsage, o.Dir, o.For, o.Every)
	}
	all, err := soak.Run(ctx, o)
	if err != nil {
		return err
	}
	return conclude(all, bound, filepath.Join(o.Dir, "soak.svg"))
}

func judgeFile(path string, bound float64) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", script.ErrUsage, err)
	}
	defer f.Close()
	all, err := soak.Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return conclude(all, bound, strings.TrimSuffix(path, filepath.Ext(path))+".svg")
}

// conclude draws the samples and prints the verdict on them.
func conclude(all []soak.Sample, bound float64, path string) error {
	growth, err := soak.Judge(all, bound)
	if err != nil {
		return err
	}
	if err := soak.Write(os.Stdout, growth); err != nil {
		return err
	}
	title := fmt.Sprintf("a loop for %v", all[len(all)-1].At.Round(time.Minute))
	if err := soak.Figure(title, all).Save(path); err != nil {
		return err
	}
	fmt.Println("drawn:", path)
	return soak.Err(growth)
}
