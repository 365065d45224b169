package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

type benchTrainOptions struct {
	features            string
	width, l2, l3       int
	stacks              int
	noFactoriser, plain bool
	batch, steps        int
	workers             int
	replay, level       string
}

func newBenchTrainCommand() *cobra.Command {
	var o benchTrainOptions
	c := &cobra.Command{
		Use:   "train",
		Short: "Time the steps of training, part by part",
		Long: `Train a net of the given architecture for some steps and print the median time of
each part of a step, and positions a second. Positions come from --replay, the
replay directory of a run, and drawing them then counts; otherwise from random
games, drawn beforehand.`,
		Example: `  selfplay bench train
  selfplay bench train --workers 1 --batch 16384 --replay run/replay
  selfplay bench train --features 'All + Hand' --width 128 --l2 0 --l3 0 --stacks 1 --no-psqt`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return benchTrain(c.Context(), c.OutOrStdout(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.features, "features", "HalfKAv2", "feature set")
	f.IntVar(&o.width, "width", 512, "transformer outputs per perspective")
	f.IntVar(&o.l2, "l2", 16, "outputs of the first layer; 0: none")
	f.IntVar(&o.l3, "l3", 32, "outputs of the second layer; 0: none")
	f.IntVar(&o.stacks, "stacks", 8, "layer stacks, chosen by pieces on the board")
	f.BoolVar(&o.plain, "no-psqt", false, "no piece-square columns")
	f.BoolVar(&o.noFactoriser, "no-factoriser", false, "no virtual rows")
	f.IntVar(&o.batch, "batch", 16384, "positions a step")
	f.IntVar(&o.steps, "steps", 20, "steps measured")
	f.IntVar(&o.workers, "workers", runtime.NumCPU(), "goroutines that share a step")
	f.StringVar(&o.replay, "replay", "", "replay directory to draw positions from; default random games")
	f.StringVar(&o.level, "level", "", "generic, avx2 or avx512; default the best that this machine has")
	return c
}

func (o *benchTrainOptions) model() (*nnuefit.Model, error) {
	arch := nnue.Fairy()
	arch.Features, arch.Width, arch.L2, arch.L3 = o.features, o.width, o.l2, o.l3
	arch.Stacks, arch.PSQT = o.stacks, o.stacks
	if o.plain {
		arch.PSQT = 0
	}
	cfg := nnuefit.DefaultConfig()
	cfg.Workers, cfg.Factorise = o.workers, !o.noFactoriser
	return nnuefit.New(arch, cfg, 1)
}

func benchTrain(ctx context.Context, w io.Writer, o benchTrainOptions) (err error) {
	switch {
	case o.batch < 1 || o.batch > 1<<20:
		return fmt.Errorf("%w: found --batch %d, expected 1 to %d", errUsage, o.batch, 1<<20)
	case o.steps < 1:
		return fmt.Errorf("%w: found --steps %d, expected at least 1", errUsage, o.steps)
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
	m, err := o.model()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 0))
	draw := randomDraw(rng, 4*o.batch)
	if o.replay != "" {
		buffer, err := replay.Open(o.replay, replay.Options{
			Variant: chess.Crazyhouse, MaxBytes: math.MaxInt64, SegmentBytes: 64 << 20, // nothing is deleted
			Window: replay.WindowRule{Min: math.MaxInt, Exponent: 1, Slope: 1},
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, buffer.Close()) }()
		draw = func(dst []sample.Sample) error { return buffer.Draw(rng, 4, sample.Filter{}, dst) }
	}
	times, err := timeSteps(ctx, m, draw, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%v\n%d steps of %d positions, %d workers, median times\n", m.Architecture(), o.steps, o.batch, o.workers)
	return printSteps(w, times, o.batch)
}

// stepParts names the parts of a step in the order of stepTimes.
var stepParts = []string{"draw", "features", "transform", "layers", "back", "sums", "update", "all"}

// stepTimes is the times of all steps, by part.
type stepTimes [8][]time.Duration

func timeSteps(ctx context.Context, m *nnuefit.Model, draw func([]sample.Sample) error, o benchTrainOptions) (stepTimes, error) {
	const warm = 2 // steps not measured: tables grow
	var times stepTimes
	batch := make([]sample.Sample, o.batch)
	for step := range warm + o.steps {
		if err := ctx.Err(); err != nil {
			return times, err
		}
		begin := time.Now()
		if err := draw(batch); err != nil {
			return times, err
		}
		drawn := time.Since(begin)
		if _, err := m.Fit(batch, trainer.Hyper{LearningRate: 1e-3, Lambda: 0.7}); err != nil {
			return times, err
		}
		if all := time.Since(begin); step >= warm {
			t := m.Times()
			for i, d := range []time.Duration{drawn, t.Features, t.Transform, t.Layers, t.Back, t.Sums, t.Update, all} {
				times[i] = append(times[i], d)
			}
		}
	}
	return times, nil
}

func printSteps(w io.Writer, times stepTimes, batch int) error {
	median := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/2]
	}
	all := median(times[len(times)-1])
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "part\tms a step\tns a position\tshare\tpositions/s\t")
	for i, name := range stepParts {
		d := median(times[i])
		fmt.Fprintf(table, "%s\t%.1f\t%.0f\t%.0f %%\t%.0f\t\n", name, d.Seconds()*1e3,
			float64(d.Nanoseconds())/float64(batch), 100*d.Seconds()/all.Seconds(), float64(batch)/d.Seconds())
	}
	return table.Flush()
}

// randomDraw plays n positions of random games, of which it then deals.
func randomDraw(rng *rand.Rand, n int) func([]sample.Sample) error {
	known := make([]sample.Sample, 0, n)
	var moves chess.MoveList
	for len(known) < n {
		p := chess.Crazyhouse.Start()
		for range 80 {
			moves.N = 0
			if p.Legal(&moves); moves.N == 0 || len(known) == n {
				break
			}
			p.Make(moves.Moves[rng.IntN(moves.N)])
			known = append(known, sample.Sample{Pos: p, Score: search.Score(rng.IntN(400) - 200), Result: int8(rng.IntN(3) - 1)})
		}
	}
	rng.Shuffle(n, func(i, j int) { known[i], known[j] = known[j], known[i] })
	at := 0
	return func(dst []sample.Sample) error {
		for i := range dst {
			dst[i] = known[at]
			at = (at + 1) % n
		}
		return nil
	}
}
