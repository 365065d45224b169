package net

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

type quantcheckOptions struct {
	cli.Positions
	checkpoint string
	scale      float64
	plot       string
	maxP999    float64
	json       bool

	runtime, against, library string // of plane nets
}

func newQuantcheckCommand() *cobra.Command {
	var o quantcheckOptions
	c := &cobra.Command{
		Use:   "quantcheck NET",
		Short: "Measure what rounding to integers costs a net",
		Long: `Run positions through an integer net and a float net and sum up the differences,
in raw units, 208 to a pawn, and in win probability.

With --checkpoint the float net is the one in a trainer's checkpoint, of which NET
should be the export: rounded weights and rounded activations are measured
together. Without, it is NET itself computed without rounding anything on the way:
activations alone are measured.

Of a plane net, a file whose name ends in .onnx, what --runtime computes is compared
with float32: the policies over legal moves (Kullback-Leibler divergence in nats),
the move each likes best, and the values, from -1 to 1. With --against the reference
is another runtime: --against onnxgo compares our float32 kernels, or --runtime, with
onnx-go on Gorgonia, which is independent of them and some hundred times slower.

Exits 1 if the 99.9th percentile is above --max-p999.

` + cli.PositionsHelp,
		Example: `  selfplay net quantcheck crazyhouse.nnue --plot differences.png
  selfplay net quantcheck RUN/nets/ID.nnue --checkpoint RUN/train/step-000000004440.checkpoint --replay RUN --max-p999 50
  selfplay net quantcheck net.onnx --count 2000
  selfplay net quantcheck net.onnx --against onnxgo --count 1000`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			path, err := cli.NetFile(c.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			if nets.KindOf(path) == nets.KindPlanes {
				return quantcheckPlanes(c, path, o)
			}
			return quantcheck(c, path, o)
		},
	}
	f := c.Flags()
	o.AddFlags(f, 50_000, "positions")
	f.StringVar(&o.checkpoint, "checkpoint", "", "of an NNUE net: trainer's checkpoint with the float net")
	f.Float64Var(&o.scale, "scale", nnuefit.DefaultConfig().NetScale, "of an NNUE net: win probability of a value v is σ(v / scale), v in raw units")
	f.StringVar(&o.plot, "plot", "", "of an NNUE net: draw a histogram of the differences into this file, .png or .svg")
	f.Float64Var(&o.maxP999, "max-p999", 0, "exit 1 if the 99.9th percentile is above this, raw units, of a plane net's value; 0: never")
	f.StringVar(&o.runtime, "runtime", runtimes.Int8, "of a plane net: what computes it, "+strings.Join(runtimes.Names(), ", "))
	f.StringVar(&o.against, "against", runtimes.Native, "of a plane net: the runtime to compare with; --runtime is native if this is another")
	f.StringVar(&o.library, "library", "", "of --runtime ort: ONNX Runtime's library")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (o *quantcheckOptions) check() error {
	if err := o.Positions.Check(); err != nil {
		return err
	}
	if !(o.scale > 0) || math.IsInf(o.scale, 0) {
		return fmt.Errorf("%w: --scale: found %g, expected more than 0", cli.ErrUsage, o.scale)
	}
	if !(o.maxP999 >= 0) {
		return fmt.Errorf("%w: --max-p999: found %g, expected 0 or more", cli.ErrUsage, o.maxP999)
	}
	return cli.CheckPlot("--plot", o.plot)
}

// quantReport is what net quantcheck prints.
type quantReport struct {
	Float string `json:"float"` // what the float net is
	netstat.Difference
}

func quantcheck(c *cobra.Command, path string, o quantcheckOptions) error {
	if err := cli.Needs(c.Flags(), "a plane net", false, "runtime", "against", "library"); err != nil {
		return err
	}
	read, err := readNet(path)
	if err != nil {
		return err
	}
	n := read.NNUE
	r := quantReport{Float: "the net without rounded activations"}
	var model *nnuefit.Model
	if o.checkpoint != "" {
		if model, r.Float, err = loadModel(o.checkpoint, n); err != nil {
			return err
		}
	}
	list, err := o.Draw(c.Context(), c.InOrStdin(), c.ErrOrStderr(), n.Variant())
	if err != nil {
		return err
	}
	float, integer, err := values(c.Context(), c.ErrOrStderr(), list, n, model)
	if err != nil {
		return err
	}
	if r.Difference, err = netstat.Compare(list, float, integer, o.scale); err != nil {
		return err
	}
	err = cli.WriteReport(c.OutOrStdout(), o.json, r, r.print)
	if err != nil {
		return err
	}
	if o.plot != "" {
		if err := r.Draw(float, integer).Save(o.plot); err != nil {
			return err
		}
	}
	if o.maxP999 > 0 && r.P999 > o.maxP999 {
		return fmt.Errorf("%s: 99.9th percentile: found %.2f raw units, expected at most %g", path, r.P999, o.maxP999)
	}
	return nil
}

// loadModel reads the float net of a checkpoint, which must be of the
// architecture of n, and says in words what it is.
func loadModel(path string, n *nnue.Network) (*nnuefit.Model, string, error) {
	model, step, exported, err := nnuefit.LoadFloat(path, n)
	if err != nil {
		return nil, "", fmt.Errorf("--checkpoint: %w", err)
	}
	if !exported {
		return model, fmt.Sprintf("checkpoint of step %d, of which the net is not the export", step), nil
	}
	return model, fmt.Sprintf("checkpoint of step %d, of which the net is the export", step), nil
}

// valuesAtOnce is how many positions are evaluated between two looks at ctx.
const valuesAtOnce = 2048

// values evaluates positions by the float net, which is model or, if that is
// nil, the float twin of n, and by n.
func values(ctx context.Context, stderr io.Writer, list []chess.Position, n *nnue.Network, model *nnuefit.Model) (float, integer []float64, err error) {
	twin := netstat.NewFloat(n)
	progress := cli.NewProgress(stderr, "positions evaluated")
	for at := 0; at < len(list); at += valuesAtOnce {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		part := list[at:min(at+valuesAtOnce, len(list))]
		integer = append(integer, netstat.Values(n, part)...)
		if model != nil {
			float = append(float, model.Values(part)...)
		}
		for i := range part {
			if model == nil {
				float = append(float, twin.Evaluate(&part[i]))
			}
			progress.Step()
		}
	}
	return float, integer, nil
}

func (r *quantReport) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, `float net        %s
positions        %d
mean             %+.3f raw units, integer less float
deviation        %.3f
99.9 %% within    %.2f
within ±50       %.4f %%
win probability  %.6f mean, %.6f at most (scale %g)
same sign        %.4f %%
worst            %s
                 float %.2f, integer %.0f
`,
		r.Float, r.Positions, r.Mean, r.Deviation, r.P999, 100*r.Near, r.MeanWin, r.MaxWin, r.Scale, 100*r.SameSign,
		r.Worst.FEN, r.Worst.Float, r.Worst.Integer)
	return err
}
