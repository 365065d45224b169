// Package learn is the command learn: it trains a net on given data.
package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newLearnCommand()} }

// learnOptions are the options of learn that are no settings of a run, and the
// settings given.
type learnOptions struct {
	preset, file string
	out          string
	jobs         int
	show         bool
	list, json   bool // list the blocks of feature sets

	given  []wordValue
	inFile []string // keys of the --config file
}

// wordValue is a setting as it was given: a word of a flag, or a bare one, and
// its value.
type wordValue struct{ word, value string }

func newLearnCommand() *cobra.Command {
	var o learnOptions
	c := &cobra.Command{
		Use:   "learn DATA... [WORD VALUE]...",
		Short: "Train a net on given data",
		Long: `Train a net on files of samples, on directories of such files, and on replay
buffers (replay:DIR, or the directory of a run), in a directory of its own (--out).
The same command goes on after any interruption and gives the same net, bit for
bit, as if there had been none. Of a replay buffer a run takes the games that are
there when it begins; the buffer may grow meanwhile. Losses, rates and speed are
curves of TensorBoard too: tensorboard --logdir OUT.

Settings come from --preset, then --config, a YAML file, then flags. A key of the
file may list values: then there is a run for every combination, --jobs at a time,
and a table at the end. Runs with equal data that fit into --memory-mb have them in
memory together; of larger ones each run reads parts, as much as that at a time.
--show prints what the settings are and ends.

The file of a run, OUT/config.yaml, makes the same net again in another --out: of
replay buffers from the games that OUT/replay.json says. With DATA or another setting
beside it, --workers excepted, it is another net, of the games of now.

--features is an expression of blocks: A + B puts blocks side by side, A * B has a
feature for every pair, King * Hand the hands for each square of the own king.
--list-features prints the blocks of --variant with their meanings, sizes and an
example each, and ends.

--loss pqr, or --preset pqr, whose filters suit it, learns from whole games which of
two moves was played: from triples of a position, the one after the move played and
the one after a random other move of its kind, a drop or none. Reported are the
loss, less what it cannot fall below, and how often the move played is ranked
first.

--kind planes, whose preset is planes, trains a convolutional net on the same data:
moves played are what its policy learns, scores and results its value. It is
written as net.onnx.

Schedules (--lr, --lambda) are a number, or curves with commas between:
  linear:FROM:TO[:STEPS]  cosine:…  exponential:…  onecycle:PEAK:TO[:STEPS]
  step:FROM:FACTOR:EVERY[:STEPS]  constant:VALUE[:STEPS]
and before them warmup:STEPS, a rise from 0, or cycle:STEPS, a fall from the curve to
its end within every STEPS. The curve itself counts all steps: it lasts several cycles.
STEPS may be a percentage of the run; without them a curve takes what is left.

The words of the learn command of Stockfish's descendants are understood too, as
flags or bare: targetdir, basedir, loop, batchsize, nn_batch_size, eta, lambda,
eval_limit, newbob_decay, newbob_num_trials, reduction_gameply, eval_save_interval,
loss_output_interval, mirror_percentage, EvalSaveDir, EvalFile, SkipLoadingEval,
validation_set_file_name, use_draw_games_in_training,
skip_duplicated_positions_in_training. eta chooses plain SGD, without momentum,
weight decay or averaged net, and cross-entropy with scales of 361, unless others
are given, at the rate eta·net_scale/600. As the shuffle is one of all data,
batchsize is only how often the loss is reported.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 interrupted but to be continued by the
same command.`,
		Example: `  selfplay learn --list-features
  selfplay learn replay:runs/crazyhouse-laptop/replay --features 'All + Hand' --width 128 --epochs 5
  selfplay learn data.chain --preset fairy --lr warmup:2%,cosine:0.001:0.00002 --out runs/fairy
  selfplay learn targetdir data loop 100 batchsize 1000000 eta 1.0 lambda 0.5 eval_limit 32000 nn_batch_size 1000 newbob_decay 0.5 loss_output_interval 1000000 mirror_percentage 50 validation_set_file_name val.bin SkipLoadingEval true
  selfplay learn data.chain --preset pqr --init runs/learn --out runs/pqr
  selfplay learn replay:runs/crazyhouse-laptop/replay --kind planes --blocks 4 --channels 48 --out runs/planes
  selfplay learn data.chain --config sweep.yaml --jobs 2 --out runs/widths`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return runLearn(c, args, &o) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(strings.ToLower(name), "_", "-"))
	})
	f.StringVar(&o.out, "out", "runs/learn", "directory of the run")
	f.StringVar(&o.preset, "preset", defaultPreset, strings.Join(configs.LearnPresets(), ", ")+", unless the --config file names one")
	f.StringVar(&o.file, "config", "", "YAML file of settings, which may list values")
	f.IntVar(&o.jobs, "jobs", 0, "runs at the same time, of several; 0: one per CPU")
	f.BoolVar(&o.show, "show", false, "print the settings and end")
	f.BoolVar(&o.list, "list-features", false, "print the blocks of feature sets and end")
	f.BoolVar(&o.json, "json", false, "print that list as JSON")
	var l configs.Learn
	for key, usage := range l.Usage() {
		flag := f.VarPF(&settingFlag{&o, key}, key, "", usage)
		if l.IsSwitch(key) {
			flag.NoOptDefVal = "true"
		}
	}
	for _, word := range guideWords {
		if f.Lookup(word.name) == nil {
			f.Var(&settingFlag{&o, word.name}, word.name, word.usage)
		}
	}
	return c
}

// settingFlag notes what a flag says, in the order of the command line.
type settingFlag struct {
	o    *learnOptions
	word string
}

func (s *settingFlag) String() string { return "" }

func (s *settingFlag) Type() string { return "value" }

func (s *settingFlag) Set(value string) error {
	s.o.given = append(s.o.given, wordValue{s.word, value})
	return nil
}

func runLearn(c *cobra.Command, args []string, o *learnOptions) error {
	out := o.out
	data, err := o.bareWords(args)
	if err != nil {
		return err
	}
	if c.Flags().Changed("out") && o.out != out {
		return fmt.Errorf("%w: found --out %s and EvalSaveDir %s, expected one of them", cli.ErrUsage, out, o.out)
	}
	if err := o.checkOnce(); err != nil {
		return err
	}
	runs, err := o.settings(c, data)
	if err != nil {
		return err
	}
	if o.list {
		v, err := chess.ParseVariant(runs[0].Variant)
		if err != nil {
			return fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
		return cli.WriteFeatures(c.OutOrStdout(), v, o.json)
	}
	if o.json {
		return fmt.Errorf("%w: found --json, expected it with --list-features alone", cli.ErrUsage)
	}
	if o.show {
		for i := range runs {
			if err := run.Check(runs[i]); err != nil && !errors.Is(err, run.ErrNoData) {
				return usageOf(err)
			}
			if _, err := c.OutOrStdout().Write(runs[i].YAML()); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range runs {
		if slices.ContainsFunc(runs[i].Data, func(name string) bool { return cli.SameFile(name, o.out) }) {
			return fmt.Errorf("%w: --out: found %s, whose samples are read, too, expected another directory", cli.ErrUsage, o.out)
		}
		if runs[i], err = run.Expand(runs[i]); err != nil {
			return usageOf(err)
		}
		if err := run.Check(runs[i]); err != nil {
			return usageOf(err)
		}
	}
	if o.jobs < 0 {
		return fmt.Errorf("%w: --jobs: found %d, expected 0 or more", cli.ErrUsage, o.jobs)
	}
	opt := run.Options{Dir: o.out, Out: c.OutOrStdout(), Progress: c.ErrOrStderr(), Build: c.Root().Version}
	if opt.Games, err = o.games(opt.Out, data, runs); err != nil {
		return err
	}
	if len(runs) > 1 {
		err = learnSweep(c.Context(), runs, run.SweepOptions{Options: opt, Jobs: o.jobs})
	} else {
		err = learnOne(c.Context(), runs[0], opt)
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; the same command goes on", cli.ErrResumable)
	}
	if len(opt.Games) > 0 && errors.Is(err, dataset.ErrChanged) {
		// Once it has begun, the run of --out is of its own games, and what changed is a file.
		if own, _ := run.GamesOf(o.out); len(own) == 0 {
			err = fmt.Errorf("the games of the run that %s is of: %w; or name the data as arguments, for the games of now", o.file, err)
		}
	}
	return usageOf(err)
}

// games returns which games of replay buffers the run is of whose file --config names, by
// directory, if the command makes its net again, and says so if the run of --out has none of its
// own yet, which decide.
func (o *learnOptions) games(out io.Writer, data []string, runs []configs.Learn) (map[string]dataset.Extent, error) {
	another := func(g wordValue) bool { return !same(g.word, "workers") }
	if filepath.Base(o.file) != run.ConfigName || len(data) > 0 || slices.ContainsFunc(o.given, another) {
		return nil, nil
	}
	games, err := run.GamesOf(filepath.Dir(o.file))
	if err != nil {
		return nil, err
	}
	games = run.GamesFor(games, runs...)
	if own, err := run.GamesOf(o.out); err != nil || len(own) > 0 {
		return games, err
	}
	for _, dir := range slices.Sorted(maps.Keys(games)) {
		fmt.Fprintf(out, "%s%s: %d games from %s on, those of the run that %s is of\n", dataset.BufferPrefix, dir, games[dir].Games, games[dir].First, o.file)
	}
	return games, nil
}

func learnOne(ctx context.Context, cfg configs.Learn, opt run.Options) error {
	s, err := run.Run(ctx, cfg, opt)
	if err != nil {
		return err
	}
	return s.Print(opt.Out)
}

func learnSweep(ctx context.Context, runs []configs.Learn, opt run.SweepOptions) error {
	results, err := run.Sweep(ctx, runs, opt)
	if len(results) == 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(err, run.PrintTable(opt.Out, configs.Varied(runs), results))
}

// usageOf marks errors that come of settings.
func usageOf(err error) error {
	for _, setting := range []error{
		configs.ErrInvalid, run.ErrOther, nnue.ErrArchitecture, arch.ErrArchitecture, trainer.ErrConfig, trainer.ErrSchedule, dataset.ErrConfig,
	} {
		if errors.Is(err, setting) {
			return fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
	}
	return err
}

// Presets that learn begins with by default.
const (
	defaultPreset = "small"
	planesPreset  = "planes" // with kind planes
)

// asks reports whether a setting was given with this value.
func (o *learnOptions) asks(word, value string) bool {
	for _, g := range o.given {
		if same(g.word, word) && g.value == value {
			return true
		}
	}
	return false
}

// settings builds the runs: preset, file, flags and words, data.
func (o *learnOptions) settings(c *cobra.Command, data []string) ([]configs.Learn, error) {
	preset, text := o.preset, []byte(nil)
	if o.file != "" {
		var err error
		if text, err = configs.ReadFile(o.file); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		named, err := configs.FilePreset(text, o.file)
		if err != nil {
			return nil, err
		}
		if o.inFile, err = configs.LearnKeys(text, o.file); err != nil {
			return nil, err
		}
		if named != "" && !c.Flags().Changed("preset") {
			preset = named
		}
	}
	if preset == defaultPreset && !c.Flags().Changed("preset") && o.asks("kind", configs.Planes) {
		preset = planesPreset
	}
	base, err := configs.LearnPreset(preset)
	if err != nil {
		return nil, fmt.Errorf("%w: --preset: %w", cli.ErrUsage, err)
	}
	runs := []configs.Learn{base}
	if text != nil {
		if runs, err = base.Sweep(text, o.file); err != nil {
			return nil, err
		}
	}
	listed := slices.Clone(runs)
	for i := range runs {
		runs[i].Preset = preset
		if len(data) > 0 {
			runs[i].Data = data
		}
		if err := o.apply(&runs[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
	}
	return runs, o.checkDifferent(listed, runs)
}

// checkDifferent refuses runs of a sweep that flags and words have made equal.
func (o *learnOptions) checkDifferent(listed, runs []configs.Learn) error {
	first := make(map[string]int, len(runs))
	for i := range runs {
		text := string(runs[i].YAML())
		if j, ok := first[text]; ok {
			keys := configs.Varied([]configs.Learn{listed[j], listed[i]})
			return fmt.Errorf("%w: %s: found a list in %s and a value for all runs on the command line, expected one of the two",
				cli.ErrUsage, strings.Join(keys, ", "), o.file)
		}
		first[text] = i
	}
	return nil
}
