// Package position has the commands that look at one position, or at a file of
// them: perft, eval and planes.
package position

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
)

// Commands returns the commands of this package.
func Commands() []*cobra.Command {
	return []*cobra.Command{newPerftCommand(), newEvalCommand(), newPlanesCommand()}
}

// maxPerft bounds depths: none that is greater ends in a lifetime.
const maxPerft = 32

type perftOptions struct {
	variant  string
	chess960 bool
	fen      string
	depth    int
	file     string
	count    bool
	divide   bool
}

func newPerftCommand() *cobra.Command {
	var o perftOptions
	c := &cobra.Command{
		Use:   "perft",
		Short: "Count the leaves of the move tree, or check a file of such counts",
		Example: `  selfplay perft --depth 5
  selfplay perft --fen '2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1' --depth 3 --divide
  selfplay perft --file counts.tsv          (lines: FEN, tab, depth, tab, nodes)`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return perft(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.BoolVar(&o.chess960, "chess960", false, "Chess960 castling (king takes rook)")
	f.StringVar(&o.fen, "fen", "", "position; default the start position")
	f.IntVar(&o.depth, "depth", 5, "plies")
	f.StringVar(&o.file, "file", "", "check every line of this file (- for standard input); any mismatch exits 1")
	f.BoolVar(&o.count, "count", false, "count the last ply without generating it")
	f.BoolVar(&o.divide, "divide", false, "print the count below every move")
	return c
}

func perft(c *cobra.Command, o perftOptions) error {
	ctx, w := c.Context(), c.OutOrStdout()
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	for _, flag := range []string{"divide", "fen", "depth"} {
		if o.file != "" && c.Flags().Changed(flag) {
			return fmt.Errorf("%w: found --%s with --file, expected one of them", cli.ErrUsage, flag)
		}
	}
	count := chess.Perft
	if o.count {
		count = chess.PerftCount
	}
	if o.file != "" {
		return perftFile(ctx, c.InOrStdin(), w, o, v, count)
	}
	if o.depth < 0 || o.depth > maxPerft {
		return fmt.Errorf("%w: --depth: found %d, expected 0 to %d", cli.ErrUsage, o.depth, maxPerft)
	}
	p, err := cli.Position(v, o.fen, o.chess960)
	if err != nil {
		return err
	}
	start := time.Now()
	var nodes uint64
	if o.divide && o.depth > 0 {
		nodes, err = perftDivide(ctx, w, &p, o.depth, count)
	} else {
		nodes, err = chess.PerftContext(ctx, &p, o.depth, count)
	}
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Fprintf(w, "depth %d nodes %d time %s speed %.1f Mnps\n", o.depth, nodes, elapsed.Round(time.Millisecond), float64(nodes)/elapsed.Seconds()/1e6)
	return nil
}

// perftDivide prints the count below every move and returns their sum.
func perftDivide(ctx context.Context, w io.Writer, p *chess.Position, depth int, count func(*chess.Position, int) uint64) (nodes uint64, err error) {
	var moves chess.MoveList
	p.Legal(&moves)
	for _, m := range moves.Slice() {
		child := *p
		child.Make(m)
		n, err := chess.PerftContext(ctx, &child, depth-1, count)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(w, "%s\t%d\n", p.UCI(m), n)
		nodes += n
	}
	return nodes, nil
}

// perftFile checks lines "FEN<tab>depth<tab>nodes"; empty lines and lines that
// begin with # are skipped.
func perftFile(ctx context.Context, in io.Reader, w io.Writer, o perftOptions, v *chess.Variant, count func(*chess.Position, int) uint64) error {
	start := time.Now()
	var lines, wrong int
	var total uint64
	err := cli.EachLine(ctx, o.file, in, func(l cli.Line) error {
		lines++
		nodes, err := perftLine(ctx, l.Text, v, o.chess960, count)
		total += nodes
		if ctx.Err() == nil && err != nil {
			wrong++
			fmt.Fprintf(w, "%s:%d: %v\n", o.file, l.Number, err)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	elapsed := time.Since(start)
	fmt.Fprintf(w, "%d lines, %d wrong, %d nodes, %s, %.1f Mnps\n", lines, wrong, total, elapsed.Round(time.Millisecond), float64(total)/elapsed.Seconds()/1e6)
	if wrong > 0 {
		return cli.ErrSilent
	}
	if lines == 0 {
		return fmt.Errorf("%s: found no lines, expected FEN, tab, depth, tab, nodes", o.file)
	}
	return nil
}

func perftLine(ctx context.Context, line string, v *chess.Variant, chess960 bool, count func(*chess.Position, int) uint64) (uint64, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return 0, fmt.Errorf("found %d fields, expected 3: FEN, depth, nodes separated by tabs", len(fields))
	}
	p, err := cli.FenField(v, fields[0], chess960)
	if err != nil {
		return 0, err
	}
	depth, err := strconv.Atoi(fields[1])
	if err != nil || depth < 0 || depth > maxPerft {
		return 0, fmt.Errorf("depth: found %q, expected 0 to %d", fields[1], maxPerft)
	}
	want, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("nodes: found %q, expected a whole number", fields[2])
	}
	got, err := chess.PerftContext(ctx, &p, depth, count)
	if err != nil {
		return 0, err
	}
	if got != want {
		return got, fmt.Errorf("%s depth %d: found %d nodes, expected %d", fields[0], depth, got, want)
	}
	return got, nil
}
