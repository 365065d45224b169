package data

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/wdl"
	"github.com/crazyhouse-rl/selfplay/search"
)

type wdlOptions struct {
	filter   sample.Filter
	maxScore int
	variant  string
	bin      int
	limit    int
	plot     string
	json     bool
}

func newWDLCommand() *cobra.Command {
	var o wdlOptions
	c := &cobra.Command{
		Use:   "wdl DATA...",
		Short: "Fit the win probability that scores stand for",
		Long: `Fit W(s) = σ((s − a) / b), the result that a score of s lets expect, to positions
with scores and results by maximum likelihood, draws counting half. DATA are what
learn reads: files of samples, directories of them, replay:DIR.

Printed are a and b with two standard errors each: of games, as they vary when a
thirty-second of the games is left out at a time, and of positions if these were
independent, which positions of one game are not. Then, by score, what was
observed and what is fitted. Where games are shuffled, their errors are not known
and those of positions are printed. Mate scores are left out.

b in raw units, 208 a pawn, is what learn calls score_scale and fits by itself.`,
		Example: `  selfplay stats wdl replay:runs/crazyhouse-laptop --plot wdl.png
  selfplay stats wdl a.chain b.bin --min-ply 6 --skip-in-check --skip-captures --json`,
		Args: cli.AtLeastArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return statsWDL(c, o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.IntVar(&o.filter.MinPly, "min-ply", 0, "leave out earlier plies")
	f.IntVar(&o.maxScore, "max-score", 0, "leave out scores beyond, in centipawns; 0: none")
	f.BoolVar(&o.filter.SkipInCheck, "skip-in-check", false, "leave out positions in check")
	f.BoolVar(&o.filter.SkipCaptures, "skip-captures", false, "leave out positions whose best move captures or promotes")
	f.IntVar(&o.bin, "bin", 100, "width of the bins of the table, centipawns")
	f.IntVar(&o.limit, "range", 1500, "greatest score with a bin of its own, centipawns")
	f.StringVar(&o.plot, "plot", "", "draw observed results and the curve into this file, .png or .svg")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// wdlReport is what stats wdl prints.
type wdlReport struct {
	wdl.Curve
	RawB     float64        `json:"b_raw"` // raw units
	NoResult uint64         `json:"no_result,omitempty"`
	Counts   dataset.Counts `json:"counts"`
	Bins     []wdl.Bin      `json:"bins"`
}

func statsWDL(c *cobra.Command, o wdlOptions, names []string) error {
	const mostRange = 20_000
	if o.bin < 1 || o.limit < 1 || o.limit > mostRange || o.maxScore < 0 || o.maxScore > int(sample.MaxScore) {
		return fmt.Errorf("%w: found --bin %d --range %d --max-score %d, expected 1 or more, 1 to %d, 0 to %d",
			cli.ErrUsage, o.bin, o.limit, o.maxScore, mostRange, sample.MaxScore)
	}
	if err := cli.CheckPlot("--plot", o.plot); err != nil {
		return err
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	if names, err = dataset.Files(names); err != nil {
		return err
	}
	inputs, err := dataset.Inputs(names, v, nil)
	if err != nil {
		return err
	}
	filter := o.filter
	filter.RequireScore, filter.MaxScore = true, search.Score(o.maxScore)
	var tally wdl.Tally
	var r wdlReport
	p := cli.NewProgress(c.ErrOrStderr(), "positions counted")
	r.Counts, err = dataset.Visit(c.Context(), v, filter, inputs, func(s *sample.Sample, begins bool) {
		if s.NoResult {
			r.NoResult++
		} else {
			tally.Add(s.Score, s.Result, begins)
		}
		p.Step()
	})
	if err != nil {
		if errors.Is(err, dataset.ErrConfig) {
			err = fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
		return err
	}
	if err := r.Counts.PrintDamage(c.ErrOrStderr()); err != nil {
		return err
	}
	if r.NoResult > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "left out: %d positions without a result\n", r.NoResult)
	}
	if r.Curve, err = tally.Fit(); err != nil {
		return err
	}
	r.RawB = r.B * search.RawPerCentipawn
	r.Bins = tally.Bins(&r.Curve, o.bin, o.limit)
	err = cli.WriteReport(c.OutOrStdout(), o.json, r, r.print)
	if err != nil || o.plot == "" {
		return err
	}
	return wdl.Draw(fmt.Sprintf("%d positions of %d games", r.Positions, r.Games), &r.Curve, r.Bins).Save(o.plot)
}

func (r *wdlReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%d positions of %d games; left out: %d mate scores, %d without a score, %d by filters\n",
		r.Positions, r.Games, r.Mates, r.Counts.NoScore, r.Counts.Samples-r.Counts.Kept-r.Counts.NoScore-r.Counts.Untrained)
	fmt.Fprintf(w, "a %+.2f centipawns, standard error %.2f (%.2f of positions)\n", r.A, r.ErrorA, r.PositionErrorA)
	fmt.Fprintf(w, "b %.2f centipawns, standard error %.2f (%.2f of positions), %.1f raw units\n\n", r.B, r.ErrorB, r.PositionErrorB, r.RawB)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "score\tpositions\tmean score\tdrawn\tobserved\t±\tfitted\tdifference\t")
	for i, b := range r.Bins {
		name := fmt.Sprintf("%d to %d", b.Low, b.High-1)
		switch i {
		case 0:
			name = fmt.Sprintf("below %d", b.High)
		case len(r.Bins) - 1:
			name = fmt.Sprintf("from %d", b.Low)
		}
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%.2f %%\t%.4f\t%.4f\t%.4f\t%+.4f\t\n", name, b.Positions, b.Score, 100*b.Drawn, b.Observed, b.Error, b.Fitted, b.Fitted-b.Observed)
	}
	return t.Flush()
}
