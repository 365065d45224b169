package data

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

type shuffleOptions struct {
	dataOptions
	outputOptions
	memory int64 // MiB
	byGame bool
	seed   uint64
	temp   string
}

func newShuffleCommand() *cobra.Command {
	var o shuffleOptions
	c := &cobra.Command{
		Use:   "shuffle IN... OUT",
		Short: "Put training data into random order",
		Long: `Write the positions of one or more files to a new file in random order, every
order being equally likely and the same for the same --seed and --memory. What
does not fit into --memory goes through temporary files of some 35 bytes a
position in the directory of the output, or in --temp.

With --by-game whole games change places and the positions of a game keep their
order. A .chain file of single positions is ten times as large as one of games.

` + dataHelp,
		Example: `  selfplay shuffle a.bin b.bin all.bin
  selfplay shuffle --by-game --seed 7 replay:runs/crazyhouse-laptop games.chain`,
		Args: cli.AtLeastArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return shuffle(c, o, args[:len(args)-1], args[len(args)-1])
		},
	}
	f := c.Flags()
	o.dataOptions.addFlags(f)
	o.outputOptions.addFlags(f)
	f.Int64Var(&o.memory, "memory", 1024, "MiB of positions to hold in memory")
	f.BoolVar(&o.byGame, "by-game", false, "keep the positions of a game together")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the order")
	f.StringVar(&o.temp, "temp", "", "directory for temporary files (default: that of the output)")
	return c
}

func shuffle(c *cobra.Command, o shuffleOptions, in []string, out string) error {
	if o.memory < 1 || o.memory > 1<<20 {
		return fmt.Errorf("%w: --memory: found %d, expected 1 to %d MiB", cli.ErrUsage, o.memory, 1<<20)
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
	if o.temp == "" {
		if o.temp = filepath.Dir(out); out == "-" {
			o.temp = os.TempDir()
		}
	}
	stderr := c.ErrOrStderr()
	start := time.Now()
	run := dataset.Shuffling{
		Memory: o.memory << 20, ByGame: o.byGame, Temp: o.temp, Rand: rand.New(rand.NewPCG(o.seed, 0)),
		Step: cli.NewProgress(stderr, "positions or games read").Step,
	}
	err = target.Create(func(s *dataset.Sink) error {
		tellLosses(stderr, sources, &s.Target)
		return run.Run(c.Context(), sources, s)
	})
	if err != nil {
		return createError(err)
	}
	tellDamage(stderr, sources)
	tellParted(stderr, sources, target.Name)
	if run.Spilled > 0 {
		fmt.Fprintf(stderr, "%d bytes went through temporary files\n", run.Spilled)
	}
	if o.byGame {
		tellRate(stderr, run.Games, "games shuffled", start)
	} else {
		tellRate(stderr, run.Samples, "positions shuffled", start)
	}
	return nil
}
