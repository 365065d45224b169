package data

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
)

type mobilityOptions struct {
	cli.Positions
	variant string
	cover   float64
	plot    string
	json    bool
}

// selfPlayPositions is how many positions of self-play serve where no number is
// given.
const selfPlayPositions = 50_000

func newMobilityCommand() *cobra.Command {
	var o mobilityOptions
	c := &cobra.Command{
		Use:   "mobility",
		Short: "Count how many squares pieces may go to, by kind",
		Long: `Count, over positions and both sides, to how many squares the pieces of each
kind may go: the values that the feature block MC has features for. Then propose a
range for each kind, the smallest that covers --cover of the values above 0;
value 0, mostly the absence of the kind, has no feature.

` + cli.PositionsHelp,
		Example: `  selfplay stats mobility
  selfplay stats mobility --replay runs/crazyhouse-laptop --plot mobility.png
  selfplay stats mobility --positions book.epd --variant chess --json`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return statsMobility(c, o) },
	}
	f := c.Flags()
	o.AddFlags(f, 0, fmt.Sprintf("positions at most; 0: all there are, of self-play %d", selfPlayPositions))
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.Float64Var(&o.cover, "cover", 0.999, "share of the values above 0 that a range must hold")
	f.StringVar(&o.plot, "plot", "", "draw a histogram of each kind into this file, .png or .svg")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (o *mobilityOptions) check() error {
	if err := o.Positions.Check(); err != nil {
		return err
	}
	if !(o.cover > 0 && o.cover <= 1) {
		return fmt.Errorf("%w: --cover: found %g, expected more than 0 and at most 1", cli.ErrUsage, o.cover)
	}
	return cli.CheckPlot("--plot", o.plot)
}

func statsMobility(c *cobra.Command, o mobilityOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	source, ends, err := o.Source(c.Context(), c.InOrStdin(), v)
	if err != nil {
		return err
	}
	if !ends && o.Count == 0 {
		o.Count = selfPlayPositions
	}
	var m netstat.Mobility
	for p, err := range cli.Counted(source, cli.NewProgress(c.ErrOrStderr(), "positions counted")) {
		if err != nil {
			return err
		}
		if m.Add(p); m.Positions == o.Count {
			break
		}
	}
	if m.Positions == 0 {
		return o.None()
	}
	report := m.Report(v, o.cover)
	err = cli.WriteReport(c.OutOrStdout(), o.json, report, report.WriteText)
	if err != nil || o.plot == "" {
		return err
	}
	title := fmt.Sprintf("Mobility in %s, %d positions; dashed: %g %% of values above 0", v.Name, m.Positions, 100*o.cover)
	return m.Draw(title, o.cover).Save(o.plot)
}
