package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
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
		Use:   "eval --net FILE",
		Short: "Evaluate positions with a net, tab-separated",
		Long: `Evaluate one position or a file of them (first tab-separated column FEN).

Columns: fen, raw, adjusted, final, psqt and positional for every bucket
(comma-separated, before the division by 16), the bucket in use, and a checksum
over both accumulators. All values are from the side to move's view in the net's own
units: 208 are a pawn. docs/formats.md has the formulas.`,
		Example: `  selfplay eval --net crazyhouse.nnue
  selfplay eval --net crazyhouse.nnue --file positions.tsv`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return eval(c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", "", "net file (required)")
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.BoolVar(&o.chess960, "chess960", false, "Chess960 castling")
	f.StringVar(&o.fen, "fen", "", "position; default the start position")
	f.StringVar(&o.file, "file", "", "evaluate every line of this file (- for standard input)")
	return c
}

func eval(stdin io.Reader, stdout, stderr io.Writer, o evalOptions) error {
	if o.net == "" {
		return fmt.Errorf("%w: --net is required (see selfplay eval --help)", errUsage)
	}
	v, err := chess.ParseVariant(o.variant)
	if err != nil {
		return fmt.Errorf("%w: --variant: %w", errUsage, err)
	}
	n, err := nnue.ReadFileVariant(o.net, v)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(stdout)
	defer w.Flush()
	fmt.Fprintln(w, "fen\traw\tadjusted\tfinal\tpsqt\tpositional\tbucket\taccumulator")
	if o.file == "" {
		return evalLine(w, n, v, o.fen, o.chess960)
	}
	in := stdin
	if o.file != "-" {
		f, err := os.Open(o.file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	failed := 0
	scanner := bufio.NewScanner(in)
	for number := 1; scanner.Scan(); number++ {
		fen, _, _ := strings.Cut(strings.TrimRight(scanner.Text(), "\r"), "\t")
		if fen == "" || strings.HasPrefix(fen, "#") {
			continue
		}
		if err := evalLine(w, n, v, fen, o.chess960); err != nil {
			failed++
			fmt.Fprintf(stderr, "%s:%d: %v\n", o.file, number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", o.file, err)
	}
	if failed > 0 {
		return errSilent
	}
	return nil
}

func evalLine(w io.Writer, n *nnue.Network, v *chess.Variant, fen string, chess960 bool) error {
	p, err := position(v, fen, chess960)
	if err != nil {
		return err
	}
	if fen == "" {
		fen = p.FEN()
	}
	e := n.Evaluate(&p)
	_, err = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%016x\n", fen, e.Raw, e.Adjusted, e.Final, commas(e.PSQT), commas(e.Positional), e.Bucket, e.Checksum)
	return err
}

func commas[T any](values []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", ",")
}
