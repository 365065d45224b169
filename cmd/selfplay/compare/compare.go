// Package compare has the command that compares representations.
package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/lab"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command { return []*cobra.Command{newCommand()} }

type options struct {
	preset  string
	dir     string
	data    []string
	seeds   int
	sort    string
	jobs    int
	dryRun  bool
	show    bool
	printIt bool
	list    bool
	json    bool
}

func newCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "compare [FILE.yaml]",
		Short: "Train representations on the same data, have them play each other, and report",
		Long: `Train nets of several representations, some of each, on the same samples in the same
order; play them against each other and against anchors, at fixed nodes and at fixed time,
from opening pairs; rate all together; and write report.md, report.html, results.json,
results.csv, results.parquet and figures into --dir. A FILE, or a --preset, names
representations (any expression of inputs, any architecture, plane nets), data, budget,
seeds, anchors and limits; --print shows one in full, and --list-features the blocks that
expressions of inputs are made of.

Net s of a representation meets net s of every other and every anchor. Intervals have both
the error of games and the spread between seeds; p values are corrected by Holm's method.

Everything made is kept by what it follows from. So the same command goes on after any
interruption, and after a row was added it trains that row's nets and plays their games
only. --dry-run tells what there is to do and what it takes; --show what is equal among
the rows and what is not. docs/compare.md explains the report.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 interrupted but to be continued by the same
command.`,
		Example: `  selfplay compare --preset hands --data runs/crazyhouse-laptop --dir hands --dry-run
  selfplay compare --preset hands --data runs/crazyhouse-laptop --dir hands
  selfplay compare mine.yaml --dir mine --show
  selfplay compare mine.yaml --dir mine --json | jq .eta_seconds
  selfplay compare --preset kings --print > mine.yaml
  selfplay compare --list-features`,
		Args: func(c *cobra.Command, args []string) error {
			if o.list && o.preset == "" && len(args) == 0 {
				return nil
			}
			if (len(args) == 1) == (o.preset != "") || len(args) > 1 {
				return fmt.Errorf("%w: found %d files and --preset %q, expected one file or a preset (see %s --help)", cli.ErrUsage, len(args), o.preset, c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return usageOf(o.run(c, args)) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.preset, "preset", "", strings.Join(configs.ComparePresets(), ", "))
	f.StringVar(&o.dir, "dir", "", "directory of the comparison")
	f.StringSliceVar(&o.data, "data", nil, "data, in place of the file's: files, directories or replay:DIR; may be repeated")
	f.IntVar(&o.seeds, "seeds", 0, "nets of each row, in place of the file's number")
	f.StringVar(&o.sort, "sort", "", "sort the table by "+strings.Join(configs.CompareSorts, ", "))
	f.IntVar(&o.jobs, "jobs", 0, "nets trained, or meetings played, at the same time; 0: one for every core")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what there is to do and what it takes, and end")
	f.BoolVar(&o.show, "show", false, "print what is equal among the rows and what is not, and end")
	f.BoolVar(&o.printIt, "print", false, "print the comparison as YAML, and end")
	f.BoolVar(&o.list, "list-features", false, "print the blocks of expressions of inputs, for crazyhouse or the file's variant, and end")
	f.BoolVar(&o.json, "json", false, "print a JSON object every ten seconds, with what is done and left, and for the result; or that list as JSON")
	return c
}

// usageOf marks errors that come of settings.
func usageOf(err error) error {
	for _, setting := range []error{configs.ErrInvalid, run.ErrOther, nnue.ErrArchitecture, arch.ErrArchitecture, trainer.ErrConfig, trainer.ErrSchedule} {
		if errors.Is(err, setting) && !errors.Is(err, cli.ErrUsage) {
			return fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
	}
	return err
}

// comparison is the file or preset with the flags over it.
func (o *options) comparison(args []string) (c configs.Compare, err error) {
	if o.preset != "" {
		c, err = configs.ComparePreset(o.preset)
	} else {
		var text []byte
		if text, err = configs.ReadFile(args[0]); err == nil {
			c, err = configs.ParseCompare(text, args[0])
		}
	}
	if err != nil {
		return c, err
	}
	if o.data != nil {
		c.Data = o.data
	}
	if o.seeds != 0 {
		c.Seeds = o.seeds
	}
	if o.sort != "" {
		c.Sort = o.sort
	}
	return c, c.Validate()
}

func (o *options) run(c *cobra.Command, args []string) error {
	out := c.OutOrStdout()
	if o.list {
		return o.listFeatures(out, args)
	}
	comparison, err := o.comparison(args)
	if err != nil {
		return err
	}
	if o.printIt {
		_, err := out.Write(comparison.YAML())
		return err
	}
	if o.dir == "" {
		return fmt.Errorf("%w: --dir: found nothing, expected the directory of the comparison", cli.ErrUsage)
	}
	if o.jobs < 0 {
		return fmt.Errorf("%w: --jobs: found %d, expected 0 or more", cli.ErrUsage, o.jobs)
	}
	if o.json && (o.show || o.dryRun) {
		return fmt.Errorf("%w: found --json with --show or --dry-run, expected one of them", cli.ErrUsage)
	}
	opt := lab.Options{Dir: o.dir, Jobs: o.jobs, Progress: c.ErrOrStderr(), Build: c.Root().Version}
	if o.show || o.dryRun {
		p, err := lab.NewPlan(c.Context(), comparison, opt, false)
		if err != nil {
			return err
		}
		if o.show {
			if err := p.Show(out); err != nil || !o.dryRun {
				return err
			}
		}
		price, err := p.Price(c.Context(), opt)
		if err != nil {
			return err
		}
		return price.WriteText(out)
	}
	lines := json.NewEncoder(out)
	if o.json {
		opt.OnProgress = func(p lab.Progress) {
			_ = lines.Encode(progressLine{"progress", p}) // nobody reads: the comparison goes on
		}
	}
	r, err := lab.Run(c.Context(), comparison, opt)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(c.ErrOrStderr(), "resume with:", cli.CommandLine(os.Args[1:]...))
		return fmt.Errorf("%w; the same command goes on", cli.ErrResumable)
	}
	if err != nil {
		return err
	}
	if o.json {
		return lines.Encode(resultLine{"result", r.Conclusions(), r, r.Times})
	}
	return o.report(c, r)
}

// listFeatures prints the blocks of the variant of the file or preset, if one is named.
func (o *options) listFeatures(out io.Writer, args []string) error {
	v := chess.Crazyhouse
	if o.preset != "" || len(args) > 0 {
		comparison, err := o.comparison(args)
		if err != nil {
			return err
		}
		if v, err = chess.ParseVariant(comparison.Variant); err != nil {
			return err
		}
	}
	return cli.WriteFeatures(out, v, o.json)
}

// progressLine and resultLine are what --json prints.
type (
	progressLine struct {
		Type string `json:"type"` // "progress"
		lab.Progress
	}
	resultLine struct {
		Type        string      `json:"type"` // "result"
		Conclusions []string    `json:"conclusions"`
		Results     any         `json:"results"` // as in results.json
		Times       []lab.Times `json:"times"`   // as in times.json
	}
)

// report prints the table and the conclusions.
func (o *options) report(c *cobra.Command, r *lab.Results) error {
	out := c.OutOrStdout()
	if err := r.WriteTable(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n\n", lab.Legend)
	for _, s := range r.Conclusions() {
		fmt.Fprintln(out, s)
	}
	for _, s := range r.Warnings {
		fmt.Fprintln(out, "warning:", s)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", filepath.Join(o.dir, "report.html"))
	return err
}
