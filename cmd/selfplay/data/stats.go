package data

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
)

type dataStatsOptions struct {
	dataOptions
	plot string
	json bool
}

const dataStatsLong = `Count what is in files of training data: positions and games, results, scores,
plies, pieces in hand and on the board, sorts of moves, positions that stand more
than once (clocks apart; beyond two million an estimate).

` + dataHelp

func newStatsCommand() *cobra.Command {
	var o dataStatsOptions
	c := &cobra.Command{
		Use:   "stats FILE...",
		Short: "Statistics of training data and of positions",
		Long:  dataStatsLong,
		Example: `  selfplay stats crazyhouse.bin
  selfplay stats replay:runs/crazyhouse-laptop --plot games.png
  selfplay stats wdl replay:runs/crazyhouse-laptop --plot wdl.png
  selfplay stats mobility --replay runs/crazyhouse-laptop`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return dataStats(c, o, args)
		},
	}
	o.addFlags(c)
	c.AddCommand(newMobilityCommand(), newWDLCommand())
	return c
}

func (o *dataStatsOptions) addFlags(c *cobra.Command) {
	o.dataOptions.addFlags(c.Flags())
	c.Flags().StringVar(&o.plot, "plot", "", "draw histograms into this file, .png or .svg")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

func dataStats(c *cobra.Command, o dataStatsOptions, names []string) error {
	if err := cli.CheckPlot("--plot", o.plot); err != nil {
		return err
	}
	sources, err := o.open(c, names)
	if err != nil {
		return err
	}
	defer closeAll(sources)
	start := time.Now()
	p := cli.NewProgress(c.ErrOrStderr(), "positions counted")
	var stats dataset.Stats
	for _, src := range sources {
		var s sample.Sample
		for unit := src.Unit(); ; p.Step() {
			err := src.Read(&s)
			if err == nil {
				err = c.Context().Err()
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			stats.Add(&s, unit)
		}
	}
	tellDamage(c.ErrOrStderr(), sources)
	report := stats.Report()
	err = cli.WriteReport(c.OutOrStdout(), o.json, report, report.WriteText)
	tellRate(c.ErrOrStderr(), report.Positions, "positions counted", start)
	if err != nil || o.plot == "" {
		return err
	}
	return report.Figure().Save(o.plot)
}
