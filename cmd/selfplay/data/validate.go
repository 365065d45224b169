package data

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

func newValidateCommand() *cobra.Command {
	var o dataOptions
	var all bool
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check training data; exits 1 if anything is wrong",
		Long: `Read every record of the files and check that it is well formed and its move
legal; of games kept whole, that they are played by the rules to their outcome.
The first thing wrong ends it: file, number of the record, its offset, and the
position are printed. With --all everything wrong is.

` + dataHelp,
		Example: `  selfplay validate crazyhouse.bin games.chain
  selfplay validate --variant chess --all chess.plain`,
		Args: cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return validate(c, o, args, all) },
	}
	o.addFlags(c.Flags())
	c.Flags().BoolVar(&all, "all", false, "go on after the first thing wrong")
	return c
}

func validate(c *cobra.Command, o dataOptions, names []string, all bool) error {
	sources, err := o.open(c, names)
	if err != nil {
		return err
	}
	defer closeAll(sources)
	stderr := c.ErrOrStderr()
	start := time.Now()
	step := cli.NewProgress(stderr, "records read").Step
	var positions, wrong int64
	for _, src := range sources {
		n, games, bad, err := dataset.Check(c.Context(), src, all, step, func(err error) { fmt.Fprintln(stderr, err) })
		positions, wrong = positions+n, wrong+bad
		if err != nil && (!all || errors.Is(err, c.Context().Err())) {
			return err
		}
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s, %d positions, %d whole games, %d bad records\n", src.Name, src.Format, n, games, bad)
	}
	wrong += int64(tellDamage(stderr, sources))
	tellRate(stderr, positions, "positions read", start)
	if wrong > 0 {
		return cli.ErrSilent
	}
	return nil
}
