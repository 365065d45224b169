package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/internal/median"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

type benchTrainOptions struct {
	nets, data            []string
	batch, steps, workers int
	level, peer           string
}

func newBenchTrainCommand() *cobra.Command {
	var o benchTrainOptions
	c := &cobra.Command{
		Use:   "train [DATA...]",
		Short: "Time the steps of training, part by part",
		Long: `Train nets for some steps and print the median positions a second of each part of
a step: with one worker, with several, and how many times faster these are.

  draw        samples dealt by the loader
  features    active features listed, weights of their rows gathered
  transform   accumulators
  layers      layers forward, loss, layers back
  back        gradients of the transformer's rows
  sums        gradients of the parts of the batch added up
  update      optimiser
  all         the whole step
  CPU time    the whole step by its CPU time, which other work on the machine
              hardly changes

DATA is as learn takes it; its reading is timed on its own. By default there are
a few positions of games played for the purpose. Nets are presets of learn, each
with :WIDTH for another width, or planes:NET for convolutional ones, which want
smaller batches and are timed as a whole.

A peer is a command that trains an equal net on one thread. It reads lines "BATCH
COUNT" from its input, makes COUNT steps of BATCH positions, and answers each with a
line; scripts/peer_torch.py is one. Its steps take turns with ours, and the ratio
printed is that of positions a second of CPU time, ours with one worker.`,
		Example: `  selfplay bench train
  selfplay bench train --steps 40 replay:run
  selfplay bench train --net small --net small:64 --workers 4 --level avx2 games.chain
  selfplay bench train --batch 512 --steps 5 --net planes:5x64 --net planes:4x48
  selfplay bench train --batch 512 --net planes:5x64 --peer "python3 scripts/peer_torch.py 5x64"`,
		RunE: func(c *cobra.Command, args []string) error {
			o.data = args
			return benchTrain(c.Context(), c.OutOrStdout(), o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.nets, "net", []string{"fairy", "small", "small:256"}, "PRESET, PRESET:WIDTH or planes:NET; several times for several nets")
	f.IntVar(&o.batch, "batch", 16384, "positions a step")
	f.IntVar(&o.steps, "steps", 20, "steps measured")
	f.IntVar(&o.workers, "workers", 2, "goroutines that share a step, to compare with one; 1: none to compare")
	f.StringVar(&o.level, "level", "", levelNames+"; default the best that this machine has")
	f.StringVar(&o.peer, "peer", "", "command to compare with")
	return c
}

func (o *benchTrainOptions) validate() error {
	switch {
	case o.batch < 1 || o.batch > 1<<20:
		return fmt.Errorf("%w: found --batch %d, expected 1 to %d", cli.ErrUsage, o.batch, 1<<20)
	case o.steps < 1:
		return fmt.Errorf("%w: found --steps %d, expected at least 1", cli.ErrUsage, o.steps)
	case o.workers < 1:
		return fmt.Errorf("%w: found --workers %d, expected at least 1", cli.ErrUsage, o.workers)
	}
	return nil
}

// benchedNet is what is trained: its name, and how a model is made of it.
type benchedNet struct {
	name  string
	model func(workers int) (trainer.Model, error)
}

// parseBenchedNet reads PRESET, PRESET:WIDTH or planes:NET.
func parseBenchedNet(text string) (benchedNet, error) {
	name, width, wide := strings.Cut(text, ":")
	if name == configs.Planes {
		return parseBenchedPlanes(width)
	}
	preset, err := configs.LearnPreset(name)
	if err != nil {
		return benchedNet{}, fmt.Errorf("%w: --net %s: %w", cli.ErrUsage, text, err)
	}
	if wide {
		if preset.Width, err = strconv.Atoi(width); err != nil {
			return benchedNet{}, fmt.Errorf("%w: --net %s: found width %q, expected a number", cli.ErrUsage, text, width)
		}
	}
	a, err := preset.Architecture(preset.Variant)
	if err != nil {
		return benchedNet{}, fmt.Errorf("%w: --net %s: %w", cli.ErrUsage, text, err)
	}
	cfg := nnuefit.DefaultConfig()
	cfg.Factorise = preset.Factorise
	return benchedNet{a.String(), func(workers int) (trainer.Model, error) {
		cfg.Workers = workers
		return nnuefit.New(a, cfg, 1)
	}}, nil
}

// parseBenchedPlanes reads the architecture of a convolutional net, the default one
// if there is no text.
func parseBenchedPlanes(text string) (benchedNet, error) {
	if text == "" {
		text = arch.Default
	}
	a, err := arch.Parse(text)
	if err != nil {
		return benchedNet{}, fmt.Errorf("%w: --net planes:%s: %w", cli.ErrUsage, text, err)
	}
	cfg := planesfit.DefaultConfig()
	return benchedNet{a.String(), func(workers int) (trainer.Model, error) {
		cfg.Workers = workers
		return planesfit.New(a, chess.Crazyhouse, cfg, 1)
	}}, nil
}

func benchTrain(ctx context.Context, w io.Writer, o benchTrainOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	nets := make([]benchedNet, len(o.nets))
	for i, text := range o.nets {
		var err error
		if nets[i], err = parseBenchedNet(text); err != nil {
			return err
		}
	}
	if o.level != "" {
		levels, err := benchLevels(o.level)
		if err != nil {
			return err
		}
		restore, err := kernel.Force(levels[0])
		if err != nil {
			return err
		}
		defer restore()
	}
	set, err := benchSet(ctx, w, o)
	if err != nil {
		return err
	}
	defer set.Close()
	fmt.Fprintf(w, "%d steps of %d positions, medians, positions/s\n", o.steps, o.batch)
	for _, net := range nets {
		if err := benchNet(ctx, w, net, set, o); err != nil {
			return err
		}
	}
	return nil
}

// benchSet opens the data and says how long reading them took.
func benchSet(ctx context.Context, w io.Writer, o benchTrainOptions) (*dataset.Set, error) {
	names := o.data
	if len(names) == 0 {
		dir, err := os.MkdirTemp("", "selfplay-bench-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // a set that fits into memory is read once
		file := filepath.Join(dir, "games.chain")
		if err := writeBenchSamples(ctx, file, 2*o.batch); err != nil {
			return nil, err
		}
		names = []string{file}
	}
	names, err := dataset.Files(names)
	if err != nil {
		return nil, err
	}
	inputs, err := dataset.Inputs(names, chess.Crazyhouse, nil)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	set, err := dataset.OpenSet(ctx, dataset.SetConfig{Variant: chess.Crazyhouse, Seed: 1, Memory: benchMemory}, inputs...)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%d positions, read at %.0f a second\n", set.Len(), float64(set.Len())/time.Since(begin).Seconds())
	return set, nil
}

// benchMemory bounds the bytes of samples in memory, as learn does by default.
const benchMemory = 4 << 30

// writeBenchSamples writes positions of self-play, with scores and results that
// mean nothing.
func writeBenchSamples(ctx context.Context, file string, n int) (err error) {
	list, err := positions.First(positions.SelfPlay(ctx, chess.Crazyhouse, 1), n)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out, err := chain.NewWriter(f, chess.Crazyhouse, sample.CentipawnUnit)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range list {
		s := sample.Sample{Pos: list[i], Score: search.Score(rng.IntN(400) - 200), Result: int8(rng.IntN(3) - 1)}
		var moves chess.MoveList
		if s.Pos.Legal(&moves); moves.N > 0 {
			s.Move = moves.Moves[rng.IntN(moves.N)]
		}
		if err := out.Write(&s); err != nil {
			return err
		}
	}
	return out.Close()
}

// stepParts names the parts of a step in the order of stepTimes.
var stepParts = [...]string{"draw", "features", "transform", "layers", "back", "sums", "update", "all", "CPU time"}

// stepTimes are the seconds that steps took, by part.
type stepTimes [len(stepParts)][]float64

// benchNet times steps with one worker and with several in turn, so that what
// else the machine does meets both alike.
func benchNet(ctx context.Context, w io.Writer, net benchedNet, set *dataset.Set, o benchTrainOptions) error {
	const warm = 2 // steps not measured: tables grow
	workers := []int{1}
	if o.workers > 1 {
		workers = append(workers, o.workers)
	}
	models, times := make([]trainer.Model, len(workers)), make([]stepTimes, len(workers))
	for i, n := range workers {
		var err error
		if models[i], err = net.model(n); err != nil {
			return err
		}
	}
	var peer *linePeer
	if o.peer != "" {
		var err error
		if peer, err = startLinePeer(ctx, o.peer); err != nil {
			return err
		}
		defer peer.end()
	}
	var peerTimes []float64
	rng, batch := rand.New(rand.NewPCG(1, 1)), make([]sample.Sample, o.batch)
	for step := range warm + o.steps {
		for i, m := range models {
			if err := ctx.Err(); err != nil {
				return err
			}
			parts, err := timeStep(m, set, rng, batch)
			if err != nil {
				return err
			}
			if step < warm {
				continue
			}
			for part, t := range parts {
				times[i][part] = append(times[i][part], t)
			}
		}
		if peer == nil {
			continue
		}
		took, err := peer.time(o.batch, 1)
		if err != nil {
			return err
		}
		if step >= warm {
			peerTimes = append(peerTimes, took.Seconds())
		}
	}
	fmt.Fprintf(w, "\n%s\n", net.name)
	if err := printSteps(w, workers, times, o.batch); err != nil || peer == nil {
		return err
	}
	ours, theirs := median.Of(times[0][len(stepParts)-1]), median.Of(peerTimes)
	_, err := fmt.Fprintf(w, "peer: %.0f positions/s of CPU time, ours are %.2f times as many\n", float64(o.batch)/theirs, theirs/ours)
	return err
}

// timeStep makes one step and returns the seconds of its parts, 0 for those the model
// does not report.
func timeStep(m trainer.Model, set *dataset.Set, rng *rand.Rand, batch []sample.Sample) (parts [len(stepParts)]float64, err error) {
	begin, cpu := time.Now(), cputime.Process(os.Getpid())
	if err := set.Draw(rng, batch); err != nil {
		return parts, err
	}
	drawn := time.Since(begin)
	if _, err := m.Fit(batch, trainer.Hyper{LearningRate: 1e-3, Lambda: 0.7}); err != nil {
		return parts, err
	}
	all, cpu := time.Since(begin), cputime.Process(os.Getpid())-cpu
	var t nnuefit.Times
	if m, ok := m.(*nnuefit.Model); ok {
		t = m.Times()
	}
	for i, d := range [...]time.Duration{drawn, t.Features, t.Transform, t.Layers, t.Back, t.Sums, t.Update, all, cpu} {
		parts[i] = d.Seconds()
	}
	return parts, nil
}

func printSteps(w io.Writer, workers []int, times []stepTimes, batch int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "part\t1 worker\tshare\t")
	if len(workers) > 1 {
		fmt.Fprintf(table, "%d workers\tratio\t", workers[1])
	}
	fmt.Fprintln(table)
	const all = len(stepParts) - 2
	whole := median.Of(times[0][all])
	for part, name := range stepParts {
		seconds := median.Of(times[0][part])
		if seconds == 0 {
			continue
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f %%\t", name, float64(batch)/seconds, 100*seconds/whole)
		if len(workers) > 1 {
			ratios := make([]float64, len(times[0][part]))
			for i, t := range times[0][part] {
				ratios[i] = t / times[1][part][i]
			}
			fmt.Fprintf(table, "%.0f\t%.2f\t", float64(batch)/median.Of(times[1][part]), median.Of(ratios))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
