// Package analyse is the command analyse: what a search finds in positions.
package analyse

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/analysis"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Commands returns the command.
func Commands() []*cobra.Command { return []*cobra.Command{newAnalyseCommand()} }

// usualTime is that of a search without limits.
const usualTime = 2 * time.Second

// mostLines bounds --lines.
const mostLines = 256

type analyseOptions struct {
	net      string
	variant  string
	chess960 bool
	file     string
	lines    int
	hash     int
	limits   cli.SearchLimits
	json     bool
}

func newAnalyseCommand() *cobra.Command {
	var o analyseOptions
	c := &cobra.Command{
		Use:   "analyse [FEN]",
		Short: "Show the best lines of positions, their chances, and the drops that threaten",
		Long: `Search a position, the start position without a FEN, or every FEN of a file, and
print the best lines with their scores and chances of the side to move to win,
draw and lose.

Then come the drops that the other side threatens: those that would mate at once
if it were to move, and the best others by a search of the position after a move
passed, if they check, lead to mate, or gain a pawn or more against the score of
the position. A position in check has no threats, as no move can be passed there.

--net is a player as match takes it: a net file, a directory, builtin, material,
mcts:FILE or uci:COMMAND, with settings after commas.

Exit codes: 0 done, 1 a FEN of a file could not be read or a search failed, 2
wrong usage, such as an argument that is no FEN.`,
		Example: `  selfplay analyse --lines 3 --time 1s
  selfplay analyse 'r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R[] w KQkq - 0 6' --nodes 100000
  selfplay analyse --file positions.epd --depth 8 --json
  echo '6k1/5ppp/8/8/8/8/5PPP/6K1[Rr] w - - 0 1' | selfplay analyse --file - --nodes 20000`,
		RunE: func(c *cobra.Command, args []string) error {
			return analyse(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), strings.Join(args, " "), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.net, "net", player.Builtin, "who searches: a net or any player")
	f.StringVar(&o.variant, "variant", "crazyhouse", "crazyhouse or chess")
	f.BoolVar(&o.chess960, "chess960", false, "Chess960 castling")
	f.StringVar(&o.file, "file", "", "analyse every FEN of this file, one a line (- for standard input)")
	f.IntVar(&o.lines, "lines", 1, "best moves to show, and threats")
	f.IntVar(&o.hash, "hash", 64, "transposition table, or tree, MiB")
	o.limits.AddFlags(f, usualTime)
	f.BoolVar(&o.json, "json", false, "print a JSON object a line for every position")
	return c
}

func analyse(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, fen string, o analyseOptions) error {
	if o.lines < 1 || o.lines > mostLines || o.hash < 1 {
		return fmt.Errorf("%w: found --lines %d --hash %d, expected 1 to %d and 1 or more", cli.ErrUsage, o.lines, o.hash, mostLines)
	}
	if fen != "" && o.file != "" {
		return fmt.Errorf("%w: found a FEN with --file, expected one of them", cli.ErrUsage)
	}
	v, err := cli.Variant(o.variant)
	if err != nil {
		return err
	}
	lim, err := o.limits.Limits()
	if err != nil {
		return err
	}
	m, err := cli.LoadPlayer(ctx, stderr, o.net, v, player.Defaults{Limits: lim, HashMB: o.hash})
	if err != nil {
		return err
	}
	p, err := m.Open()
	if err != nil {
		return err
	}
	defer p.Close()
	a := &analysis.Analyst{Player: p, Search: m.Spec.Search, Limits: m.Limits, Lines: o.lines}
	if o.file == "" {
		pos, err := cli.Position(v, fen, o.chess960)
		if err != nil {
			return fmt.Errorf("%w: %w", cli.ErrUsage, err)
		}
		return report(ctx, a, stdout, &pos, o.json)
	}
	failed := false
	err = cli.EachLine(ctx, o.file, stdin, func(l cli.Line) error {
		field, _, _ := strings.Cut(l.Text, "\t")
		pos, err := cli.FenField(v, field, o.chess960)
		if err != nil {
			failed = true
			fmt.Fprintf(stderr, "%s:%d: %v\n", o.file, l.Number, err)
			return nil
		}
		return report(ctx, a, stdout, &pos, o.json)
	})
	if err == nil && failed {
		return cli.ErrSilent
	}
	return err
}

// report analyses a position and prints what was found.
func report(ctx context.Context, a *analysis.Analyst, w io.Writer, p *chess.Position, asJSON bool) error {
	r, err := a.Report(ctx, chess.NewLine(*p))
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	_, err = io.WriteString(w, text(r, p))
	return err
}
