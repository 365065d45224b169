package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
)

type convertOptions struct {
	dataOptions
	outputOptions
	filter                    string
	seed                      uint64
	append, validate, skipBad bool
}

func newConvertCommand() *cobra.Command {
	var o convertOptions
	c := &cobra.Command{
		Use:   "convert IN... OUT",
		Short: "Convert training data between formats",
		Long: `Write the positions of one or more files, one after another, to a new file in
another format. What that format does not keep is said, never made up. Games go
whole from a replay buffer or .chain file to a .chain file unless they are
filtered; elsewhere their opening and random moves are left out.

A new file appears when it is whole. --append writes into the file itself: an error
or an interruption takes back what was added; a kill leaves what was added by then,
and the same command adds it once more.

` + dataHelp,
		Example: `  selfplay convert crazyhouse.bin crazyhouse.plain
  selfplay convert replay:runs/crazyhouse-laptop games.chain
  selfplay convert --filter no-check,no-capture,max-score=3000 games.chain quiet.bin
  zcat part*.gz | selfplay convert --from plain --variant chess - all.binpack`,
		Args: cli.AtLeastArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return convert(c, o, args[:len(args)-1], args[len(args)-1])
		},
	}
	f := c.Flags()
	o.dataOptions.addFlags(f)
	o.outputOptions.addFlags(f)
	f.BoolVar(&o.append, "append", false, "append to the output file; what is no whole record at its end is cut off")
	f.BoolVar(&o.validate, "validate", false, "stop at the first illegal move")
	f.BoolVar(&o.skipBad, "skip-bad", false, "leave out records that cannot be read or written instead of stopping")
	f.StringVar(&o.filter, "filter", "", "what to keep, "+sample.FilterHelp)
	f.Uint64Var(&o.seed, "seed", 1, "seed of filters that leave out at random")
	return c
}

func convert(c *cobra.Command, o convertOptions, in []string, out string) error {
	filter, err := sample.ParseFilter(o.filter)
	if err != nil {
		return fmt.Errorf("%w: --filter: %w", cli.ErrUsage, err)
	}
	if o.append && o.force {
		return fmt.Errorf("%w: found --append with --force, expected one of them", cli.ErrUsage)
	}
	sources, err := o.open(c, in)
	if err != nil {
		return err
	}
	defer closeAll(sources)
	target, err := o.target(c, out, sources)
	if err != nil {
		return err
	}
	target.Append = o.append
	if i := slices.IndexFunc(in, func(name string) bool { return cli.SameFile(name, out) }); o.append && out != "-" && i >= 0 {
		return fmt.Errorf("%w: found %s as input and output of --append, expected two files", cli.ErrUsage, in[i])
	}
	stderr := c.ErrOrStderr()
	start := time.Now()
	run := dataset.Conversion{
		Filter: filter, Rand: rand.New(rand.NewPCG(o.seed, 0)), Validate: o.validate, SkipBad: o.skipBad,
		Step: cli.NewProgress(stderr, "records converted").Step,
	}
	err = target.Create(func(s *dataset.Sink) error {
		tellLosses(stderr, sources, &s.Target)
		for _, src := range sources {
			if err := run.Run(c.Context(), src, s); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, sample.ErrRecord) {
		err = fmt.Errorf("%w (--skip-bad leaves such records out)", err)
	}
	if err != nil {
		return createError(err)
	}
	tellDamage(stderr, sources)
	tellParted(stderr, sources, target.Name)
	counts := run.Counts
	counts.Move(counts.Late, sample.Late, sample.Early) // of the same words
	for why, n := range counts.LeftOut {
		fmt.Fprintf(stderr, "%d positions left out: %s\n", n, why)
	}
	if run.Skipped > 0 {
		fmt.Fprintf(stderr, "%d bad records left out\n", run.Skipped)
	}
	if run.Games > 0 {
		fmt.Fprintf(stderr, "%d whole games\n", run.Games)
	}
	tellRate(stderr, int64(counts.Kept), "positions written", start)
	return nil
}
