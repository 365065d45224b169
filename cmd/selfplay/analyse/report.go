package analyse

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/analysis"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// text is a report for people.
func text(r *analysis.Report, p *chess.Position) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", r.FEN, cli.Board(p, false))
	if r.Ended != "" {
		fmt.Fprintf(&b, "%s to move: %s\n\n", p.SideToMove(), r.Ended)
		return b.String()
	}
	fmt.Fprintf(&b, "%s to move, depth %d, %d nodes\n", p.SideToMove(), r.Depth, r.Nodes)
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%8s  win %5.1f %%  draw %4.1f %%  loss %5.1f %%  %s\n", l.Score, float64(l.Win)/10, float64(l.Draw)/10, float64(l.Loss)/10,
			game.MovesText(p, l.PV))
	}
	switch {
	case p.InCheck():
	case len(r.Threats) == 0:
		fmt.Fprintf(&b, "no drop of %s threatens\n", p.SideToMove().Other())
	default:
		fmt.Fprintf(&b, "%s threatens\n", p.SideToMove().Other())
		for _, t := range r.Threats {
			fmt.Fprintf(&b, "%8s  %s\n", t.SAN, words(&t))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// words says what a threat is.
func words(t *analysis.Threat) string {
	if t.Mate == 1 {
		return "mate"
	}
	var words []string
	if t.Check {
		words = append(words, "check")
	}
	if t.Mate > 1 {
		words = append(words, fmt.Sprintf("mate in %d", t.Mate))
	} else {
		words = append(words, fmt.Sprintf("gains %.2f", float64(t.Gain)/search.CentipawnsPerPawn))
	}
	return strings.Join(words, ", ") + "  " + t.Line
}
