package position

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
)

type evalOptions struct {
	net      string
	variant  string
	chess960 bool
	fen      string
	file     string
}

func newEvalCommand() *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:   "eval",
		Short: "Evaluate positions with a net, tab-separated",
		Long: `Evaluate one position or a file of them (first tab-separated column FEN).

Columns: fen, raw, adjusted, final, psqt and positional for every bucket
(comma-separated, before the division by the net's output scale, 16 as a rule; -
for a net without piece-square values), the bucket in use, and a checksum over
both accumulators. All values are from the side to move's view in the net's own
units: 208 are a pawn. docs/formats.md has the formulas.`,
		Example: `  selfplay eval --fen 'r4rk1/ppp2p1p/3p2pB/8/8/3P4/PPP2PPP/R4RK1[QNNbbpnq] w - - 0 20'
  selfplay eval --net crazyhouse.nnue --file positions.tsv`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return eval(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", player.Builtin, `net file, directory of a run or of learn, or "builtin", the program's own`)
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.BoolVar(&o.chess960, "chess960", false, "Chess960 castling")
	f.StringVar(&o.fen, "fen", "", "position; default the start position")
	f.StringVar(&o.file, "file", "", "evaluate every line of this file (- for standard input)")
	return c
}

func eval(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, o evalOptions) error {
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	if o.fen != "" && o.file != "" {
		return fmt.Errorf("%w: found --fen with --file, expected one of them", cli.ErrUsage)
	}
	net, err := player.ReadNNUE(o.net, v)
	if errors.Is(err, nnue.ErrVariant) {
		err = fmt.Errorf("%w; --variant says which", err)
	}
	if err != nil {
		return err
	}
	cli.ShowOrigin(stderr, net.Origin)
	w := bufio.NewWriter(stdout)
	err = evalAll(ctx, stdin, w, stderr, net.NNUE, v, o)
	return errors.Join(err, w.Flush())
}

// evalAll prints the table. Lines that are no position are reported and skipped.
func evalAll(ctx context.Context, stdin io.Reader, w, stderr io.Writer, n *nnue.Network, v *chess.Variant, o evalOptions) error {
	fmt.Fprintln(w, "fen\traw\tadjusted\tfinal\tpsqt\tpositional\tbucket\taccumulator")
	if o.file == "" {
		p, err := cli.Position(v, o.fen, o.chess960)
		if err != nil {
			return err
		}
		return evalLine(w, n, &p, cmp.Or(o.fen, p.FEN()))
	}
	failed := false
	err := cli.EachLine(ctx, o.file, stdin, func(l cli.Line) error {
		fen, _, _ := strings.Cut(l.Text, "\t")
		p, err := cli.FenField(v, fen, o.chess960)
		if err != nil {
			failed = true
			fmt.Fprintf(stderr, "%s:%d: %v\n", o.file, l.Number, err)
			return nil
		}
		return evalLine(w, n, &p, fen)
	})
	if err != nil {
		return err
	}
	if failed {
		return cli.ErrSilent
	}
	return nil
}

func evalLine(w io.Writer, n *nnue.Network, p *chess.Position, fen string) error {
	e := n.Evaluate(p)
	_, err := fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%016x\n", fen, e.Raw, e.Adjusted, e.Final, commas(e.PSQT), commas(e.Positional), e.Bucket, e.Checksum)
	return err
}

func commas[T any](values []T) string {
	if len(values) == 0 {
		return "-"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ",")
}
