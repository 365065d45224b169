package net

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/player"
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
its own: for every kind and side a board, coloured by what a piece adds on each
square, and the hands below. Features that depend on the own king's square are drawn
as their mean, or for one square with --king.

Of a file whose name ends in .onnx it prints the graph's inputs, outputs and
operators, its metadata, and the architecture if it is a net of this program.`,
		Example: `  selfplay net inspect crazyhouse.nnue
  selfplay net inspect planes.onnx --json
  selfplay net inspect builtin
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
	if err := cli.Needs(c.Flags(), "--positions or --replay", o.Given(), "count", "seed"); err != nil {
		return err
	}
	if o.format != "png" && o.format != "svg" {
		return fmt.Errorf("%w: --format: found %q, expected png or svg", cli.ErrUsage, o.format)
	}
	if nets.KindOf(path) == nets.KindPlanes {
		return inspectONNX(c, path, o)
	}
	read, err := readNet(path)
	if err != nil {
		return err
	}
	n := read.NNUE
	drawing, err := o.drawing(n)
	if err != nil {
		return err
	}
	r := netstat.Inspect(read.ID, n)
	if path != player.Builtin { // which has no file
		if r.Manifest, err = netstat.ManifestBeside(path); err != nil {
			return err
		}
	}
	if o.Given() {
		if r.Activity, err = watch(c.Context(), c.InOrStdin(), c.ErrOrStderr(), n, &o.Positions); err != nil {
			return err
		}
	}
	err = cli.WriteReport(c.OutOrStdout(), o.json, r, r.WriteText)
	if err != nil || o.draw == "" {
		return err
	}
	return drawing.write(c.OutOrStdout(), c.ErrOrStderr(), n)
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
	return drawer.Save(d.dir, d.format, d.neurons, func(path string) error {
		_, err := fmt.Fprintf(stdout, "wrote %s\n", path)
		return err
	})
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
