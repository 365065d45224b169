package net

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// planesCheck is what net quantcheck prints of a plane net.
type planesCheck struct {
	Runtime string `json:"runtime"`
	Against string `json:"against,omitempty"` // the reference, "" for float32
	runtimes.Difference
}

// quantcheckPlanes compares what a runtime says of positions with what the
// reference says, by default our kernels in float32.
func quantcheckPlanes(c *cobra.Command, path string, o quantcheckOptions) error {
	if err := cli.Needs(c.Flags(), "an NNUE net", false, "checkpoint", "plot", "scale"); err != nil {
		return err
	}
	if err := runtimes.Check(o.against); err != nil {
		return fmt.Errorf("%w: --against: %w", cli.ErrUsage, err)
	}
	if o.against != runtimes.Native && !c.Flags().Changed("runtime") {
		o.runtime = runtimes.Native
	}
	if err := runtimes.Check(o.runtime); err != nil {
		return fmt.Errorf("%w: --runtime: %w", cli.ErrUsage, err)
	}
	if err := cli.NeedsORT(c.Flags(), o.runtime, o.against); err != nil {
		return err
	}
	file, err := runtimes.Read(path)
	if err != nil {
		return err
	}
	list, err := o.Draw(c.Context(), c.InOrStdin(), c.ErrOrStderr(), file.Variant)
	if err != nil {
		return err
	}
	var leaves [2][]search.Leaf
	for i, r := range []player.Runtime{{Name: o.against, Library: o.library}, {Name: o.runtime, Library: o.library}} {
		net, err := file.Open(r.Options(1))
		if err != nil {
			return err
		}
		leaves[i], err = evaluateAll(c.Context(), c.ErrOrStderr(), list, net)
		if err := errors.Join(err, net.Close()); err != nil {
			return err
		}
	}
	difference, err := runtimes.Compare(leaves[0], leaves[1])
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	check := planesCheck{Runtime: o.runtime, Difference: difference}
	if o.against != runtimes.Native {
		check.Against = o.against
	}
	err = cli.WriteReport(c.OutOrStdout(), o.json, check, check.print)
	if err == nil && o.maxP999 > 0 && check.P999 > o.maxP999 {
		err = fmt.Errorf("%s: 99.9th percentile of the value: found %.4f, expected at most %g", path, check.P999, o.maxP999)
	}
	return err
}

// evaluateAll returns what a net says of the positions that have legal moves.
func evaluateAll(ctx context.Context, stderr io.Writer, list []chess.Position, net *planes.Net) ([]search.Leaf, error) {
	var all []search.Leaf
	for i := range list {
		var moves chess.MoveList
		if list[i].Legal(&moves); moves.N > 0 {
			all = append(all, search.Leaf{Pos: &list[i], Moves: slices.Clone(moves.Slice())})
		}
	}
	const atOnce = 64
	progress := cli.NewProgress(stderr, "positions evaluated")
	for at := 0; at < len(all); at += atOnce {
		part := all[at:min(at+atOnce, len(all))]
		if err := net.Evaluate(ctx, part); err != nil {
			return nil, err
		}
		for range part {
			progress.Step()
		}
	}
	return all, nil
}

func (c *planesCheck) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, `computed by      %s, beside %s
positions        %d
policy           KL divergence %.6f mean, 99 %% within %.5f
best move        the same in %.2f %%, %.5f of probability given up
value            %.5f off in the mean, 99.9 %% within %.4f, %.4f at most
worst            %s
`, c.Runtime, cmp.Or(c.Against, "float32"), c.Positions, c.KL, c.KLP99, 100*c.Best, c.Given, c.Value, c.P999, c.Largest, c.Worst)
	return err
}
