package net

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
)

type inspectOptions struct {
	cli.Positions
	draw, neurons, format, king string
	json                        bool
}

func newInspectCommand() *cobra.Command {
	var o inspectOptions
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Print what a net is and what its weights do, and draw them",
		Long: `Print a net's architecture, features and origin, the ranges of its parameters,
whether sums could overflow or saturate, and the neurons that do nothing, whatever the
position, or in the positions named by --positions or --replay.

With --draw the weights of neurons of the transformer are drawn, each in a file of
its own: for every kind and side a board, coloured by what a man adds on each
square, and the hands below. Features that hang on the own king's square are drawn
as their mean, or for one square with --king.

Of a file whose name ends in .onnx it prints the graph's inputs, outputs and
operators, its metadata, and the architecture if it is a net of this program.`,
		Example: `  selfplay net inspect crazyhouse.nnue
  selfplay net inspect planes.onnx --json
  selfplay net inspect crazyhouse.nnue --replay runs/crazyhouse-laptop --count 5000 --json
  selfplay net inspect crazyhouse.nnue --draw neurons --neurons 0,5,17 --king g1 --format svg`,
		Args: cli.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := cli.NetFile(c.ErrOrStderr(), args[0])
			if err != nil {
				return err
			}
			return netInspect(c, path, o)
		},
	}
	f := c.Flags()
	o.AddFlags(f, 5000, "positions to run")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.draw, "draw", "", "draw neurons into this directory")
	f.StringVar(&o.neurons, "neurons", "0,1,2,3", "which neurons to draw")
	f.StringVar(&o.format, "format", "png", "of drawings, png or svg")
	f.StringVar(&o.king, "king", "", "square of the own king in drawings; default all, the mean")
	return c
}

func netInspect(c *cobra.Command, path string, o inspectOptions) error {
	if err := o.Check(); err != nil {
		return err
	}
	for _, flag := range []string{"neurons", "format", "king"} {
		if o.draw == "" && c.Flags().Changed(flag) {
			return fmt.Errorf("%w: found --%s without --draw, which names the directory to draw into", cli.ErrUsage, flag)
		}
	}
	if o.format != "png" && o.format != "svg" {
		return fmt.Errorf("%w: --format: found %q, expected png or svg", cli.ErrUsage, o.format)
	}
	if filepath.Ext(path) == ".onnx" {
		return inspectONNX(c, path, o)
	}
	n, err := readNet(path)
	if err != nil {
		return err
	}
	drawing, err := o.drawing(n)
	if err != nil {
		return err
	}
	r, err := inspect(path, n)
	if err != nil {
		return err
	}
	if o.Given() {
		if r.Activity, err = watch(c.Context(), c.InOrStdin(), c.ErrOrStderr(), n, &o.Positions); err != nil {
			return err
		}
	}
	if o.json {
		err = json.NewEncoder(c.OutOrStdout()).Encode(r)
	} else {
		err = r.print(c.OutOrStdout())
	}
	if err != nil || o.draw == "" {
		return err
	}
	return drawing.write(c.OutOrStdout(), c.ErrOrStderr(), n)
}

// netReport is what net inspect prints.
type netReport struct {
	ID           string            `json:"id"` // SHA-256 of the file
	Variant      string            `json:"variant"`
	Architecture nnue.Architecture `json:"architecture"`
	Description  string            `json:"description"`
	Features     featuresReport    `json:"features"`
	Manifest     *nets.Manifest    `json:"manifest,omitempty"`
	Overflow     string            `json:"overflow,omitempty"` // how it could happen
	Accumulator  nnue.Span         `json:"accumulator"`
	Saturations  []nnue.Saturation `json:"saturations,omitempty"`
	Ranges       []netstat.Range   `json:"ranges"`
	Dead         []netstat.Neuron  `json:"dead_by_weights"`
	Activity     *netstat.Activity `json:"activity,omitempty"`
}

type featuresReport struct {
	Expression string `json:"expression"`
	Describe   string `json:"describe"`
	Size       int    `json:"size"`
	MaxActive  int    `json:"max_active"`
	Dead       int    `json:"dead"` // never active in a legal game
}

func inspect(path string, n *nnue.Network) (r netReport, err error) {
	if r.ID, err = nets.HashFile(path); err != nil {
		return r, err
	}
	if r.Manifest, err = manifestBeside(path); err != nil {
		return r, err
	}
	set := n.Features()
	r.Architecture = n.Architecture()
	r.Variant, r.Description = r.Architecture.Variant, n.Description
	r.Features = featuresReport{set.String(), set.Describe(), set.Size(), set.MaxActive(), len(features.Dead(set))}
	if err := n.Check(); err != nil {
		r.Overflow = err.Error()
	}
	bounds := n.AccumulatorBounds()
	for _, b := range bounds {
		r.Accumulator.Low, r.Accumulator.High = min(r.Accumulator.Low, b.Low), max(r.Accumulator.High, b.High)
	}
	r.Saturations = n.Saturations()
	r.Ranges = netstat.Ranges(n)
	r.Dead = netstat.DeadByWeights(n, bounds)
	return r, nil
}

// manifestBeside reads the manifest that a net store keeps beside a net; nil if
// there is none.
func manifestBeside(path string) (*nets.Manifest, error) {
	name := strings.TrimSuffix(path, filepath.Ext(path)) + ".json"
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := nets.ParseManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &m, nil
}

// watch runs positions through a net.
func watch(ctx context.Context, stdin io.Reader, stderr io.Writer, n *nnue.Network, o *cli.Positions) (*netstat.Activity, error) {
	list, err := o.Draw(ctx, stdin, stderr, n.Variant())
	if err != nil {
		return nil, err
	}
	w := netstat.NewWatch(n)
	p := cli.NewProgress(stderr, "positions run")
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Add(&list[i])
		p.Step()
	}
	a := w.Activity()
	return &a, nil
}

func (r *netReport) print(w io.Writer) error {
	f := r.Features
	fmt.Fprintf(w, "id            %s\nvariant       %s\narchitecture  %s\n", r.ID, r.Variant, r.Architecture)
	fmt.Fprintf(w, "features      %s: %s; %d, of them %d dead, at most %d active\n", f.Expression, f.Describe, f.Size, f.Dead, f.MaxActive)
	fmt.Fprintf(w, "description   %q\n", r.Description)
	if m := r.Manifest; m != nil {
		fmt.Fprintf(w, "manifest      generation %d, step %d, %d samples, %d games, held-out loss %.6f, parent %.12s, seed %d, build %s\n",
			m.Generation, m.Step, m.Samples, m.Games, m.HeldOutLoss, m.Parent, m.Seed, m.Build)
		if m.PSQTStart != "" {
			fmt.Fprintf(w, "psqt start    %s\n", m.PSQTStart)
		}
		if m.ID != r.ID {
			fmt.Fprintf(w, "              of another net: found id %s in it\n", m.ID)
		}
	}
	if r.Overflow != "" {
		fmt.Fprintf(w, "overflow      possible: %s\n", r.Overflow)
	} else {
		fmt.Fprintln(w, "overflow      impossible")
	}
	fmt.Fprintf(w, "accumulator   from %d to %d at worst, int16 holds -32768 to 32767\n", r.Accumulator.Low, r.Accumulator.High)
	fmt.Fprintf(w, "saturation    %s\n\n", r.saturation())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "layer\tvalues\t1.0 is\tleast\tmost\tmean size\tlimit\tat limit")
	for _, l := range r.Ranges {
		limit, share := "-", "-"
		if l.Limit > 0 {
			limit, share = strconv.FormatInt(l.Limit, 10), fmt.Sprintf("%.4f %%", 100*l.AtLimit)
		}
		fmt.Fprintf(t, "%s\t%d\t%.4g\t%d\t%d\t%.2f\t%s\t%s\n", l.Layer, l.Count, l.One, l.Min, l.Max, l.Mean, limit, share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\ndead by weights: ")
	printDead(w, r.Dead)
	if r.Activity != nil {
		return r.printActivity(w)
	}
	return nil
}

func (r *netReport) saturation() string {
	if len(r.Saturations) == 0 {
		return "impossible, also in builds of Fairy-Stockfish that add products in 16 bits"
	}
	s := r.Saturations[0]
	return fmt.Sprintf("possible in builds of Fairy-Stockfish that add products in 16 bits (AVX2): %d groups of weights, the first in stack %d, layer %d, output %d, between %d and %d",
		len(r.Saturations), s.Stack, s.Layer, s.Output, s.Lowest, s.Highest)
}

// printDead lists neurons by layer and reason.
func printDead(w io.Writer, dead []netstat.Neuron) {
	if len(dead) == 0 {
		fmt.Fprintln(w, "none")
		return
	}
	fmt.Fprint(w, len(dead))
	for i, d := range dead {
		if i == 0 || d.Layer != dead[i-1].Layer || d.Why != dead[i-1].Why {
			fmt.Fprintf(w, "\n  %s, %s:", d.Layer, d.Why)
		}
		fmt.Fprintf(w, " %d", d.Index)
	}
	fmt.Fprintln(w)
}

func (r *netReport) printActivity(w io.Writer) error {
	a := r.Activity
	fmt.Fprintf(w, "\nin %d positions, by stack %s\n\n", a.Positions, strings.Trim(fmt.Sprint(a.Buckets), "[]"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "layer\toutputs\tactive: least\tmedian\tmost\tmean\tat limit: mean")
	for _, l := range a.Layers {
		sorted := slices.Sorted(slices.Values(l.Active))
		fmt.Fprintf(t, "%s\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n", l.Layer, l.Outputs,
			sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1], mean(l.Active), mean(l.Full))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\ndead in these positions: ")
	printDead(w, a.Dead)
	return nil
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// drawing says which neurons to draw, and how.
type drawing struct {
	dir, format string
	neurons     []int
	king        chess.Square // or chess.NoSquare
}

// drawing reads what the flags say about drawings of a net, if there are any.
func (o *inspectOptions) drawing(n *nnue.Network) (d drawing, err error) {
	if o.draw == "" {
		return d, nil
	}
	d = drawing{dir: o.draw, format: o.format, king: chess.NoSquare}
	if o.king != "" {
		if d.king, err = chess.ParseSquare(o.king); err != nil {
			return d, fmt.Errorf("%w: --king: %w", cli.ErrUsage, err)
		}
	}
	d.neurons, err = parseNeurons(o.neurons, n.Architecture().Width)
	return d, err
}

// write draws each neuron into a file of its own.
func (d *drawing) write(stdout, stderr io.Writer, n *nnue.Network) error {
	drawer := netstat.NewDrawer(n, d.king)
	for _, set := range drawer.LeftOut() {
		fmt.Fprintf(stderr, "not drawn: %s, which has no place on a board\n", set)
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	for _, i := range d.neurons {
		path := filepath.Join(d.dir, fmt.Sprintf("neuron-%04d.%s", i, d.format))
		if err := drawer.Neuron(i).Save(path); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(stdout, "wrote %s\n", path); err != nil {
			return err
		}
	}
	return nil
}

func parseNeurons(text string, width int) ([]int, error) {
	var list []int
	for field := range strings.SplitSeq(text, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || i < 0 || i >= width {
			return nil, fmt.Errorf("%w: --neurons: found %q, expected numbers from 0 to %d separated by commas", cli.ErrUsage, field, width-1)
		}
		list = append(list, i)
	}
	return list, nil
}
