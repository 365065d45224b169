package data

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
)

type splitOptions struct {
	dataOptions
	outputOptions
	every uint64
}

func newSplitCommand() *cobra.Command {
	var o splitOptions
	c := &cobra.Command{
		Use:   "split IN... TRAIN HELDOUT",
		Short: "Split training data by game into a part to train on and one to test on",
		Long: `Write one game in --every to HELDOUT and the others to TRAIN. Which it is depends
on the game alone: on its id, by the rule of the loop if --every is 20, or on its
positions, so that a game that stands twice is on one side.

In formats that do not keep games, a game ends where the ply does not rise, or where
the result or the length of the game changes.

` + dataHelp,
		Example: `  selfplay split crazyhouse.bin train.bin test.bin
  selfplay split --every 50 replay:runs/crazyhouse-laptop train.chain test.chain`,
		Args: cli.AtLeastArgs(3),
		RunE: func(c *cobra.Command, args []string) error { return split(c, o, args) },
	}
	o.dataOptions.addFlags(c.Flags())
	o.outputOptions.addFlags(c.Flags())
	c.Flags().Uint64Var(&o.every, "every", sample.HeldOutEvery, "one game in this number is held out")
	return c
}

func split(c *cobra.Command, o splitOptions, args []string) error {
	if o.every < 2 {
		return fmt.Errorf("%w: --every: found %d, expected 2 or more", cli.ErrUsage, o.every)
	}
	n := len(args) - 2
	if cli.SameFile(args[n], args[n+1]) {
		return fmt.Errorf("%w: found %s as both outputs, expected two files", cli.ErrUsage, args[n])
	}
	sources, err := o.open(c, args[:n])
	if err != nil {
		return err
	}
	defer closeAll(sources)
	rest, err := o.target(c, args[n], sources)
	if err != nil {
		return err
	}
	heldOut, err := o.target(c, args[n+1], sources)
	if err != nil {
		return err
	}
	stderr := c.ErrOrStderr()
	start := time.Now()
	step := cli.NewProgress(stderr, "games split").Step
	var total dataset.SplitCounts
	err = dataset.CreateBoth(rest, heldOut, func(rest, heldOut *dataset.Sink) error {
		tellLosses(stderr, sources, &rest.Target, &heldOut.Target)
		for _, src := range sources {
			counts, err := dataset.Split(c.Context(), src, rest, heldOut, o.every, step)
			if err != nil {
				return err
			}
			total.Games += counts.Games
			total.HeldOut += counts.HeldOut
		}
		return nil
	})
	if err != nil {
		return createError(err)
	}
	tellDamage(stderr, sources)
	tellParted(stderr, sources, rest.Name, heldOut.Name)
	fmt.Fprintf(stderr, "%d of %d games held out\n", total.HeldOut, total.Games)
	if total.HeldOut == total.Games && total.Games > 0 {
		fmt.Fprintf(stderr, "none is left for %s: were these games held out before?\n", args[n])
	}
	tellRate(stderr, total.Games, "games split", start)
	return nil
}
