package analyse

import (
	"context"
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/search"
)

// report is what is known of a position.
type report struct {
	FEN   string `json:"fen"`
	Ended string `json:"ended,omitempty"` // why there is no move: checkmate or stalemate
	Depth int    `json:"depth"`
	Nodes uint64 `json:"nodes"`
	Lines []line `json:"lines"`
	// Threats are drops of the side that is not to move.
	Threats []threat `json:"threats"`
}

// line is one of the best lines, seen by the side to move.
type line struct {
	Score
	Win  int      `json:"win"` // per mille, as Draw and Loss
	Draw int      `json:"draw"`
	Loss int      `json:"loss"`
	UCI  []string `json:"uci"`
	SAN  []string `json:"san"`

	pv []chess.Move
}

// Score is a score in JSON: centipawns, or moves to mate.
type Score struct {
	Centipawns *int `json:"cp,omitempty"`
	Mate       *int `json:"mate,omitempty"`
}

func newScore(s search.Score) Score {
	if s.IsMate() {
		return Score{Mate: new(s.MateIn())}
	}
	return Score{Centipawns: new(int(s))}
}

// String is the score in pawns, or the moves to mate.
func (s Score) String() string {
	if s.Mate != nil {
		return fmt.Sprintf("mate %+d", *s.Mate)
	}
	return fmt.Sprintf("%+.2f", float64(*s.Centipawns)/search.CentipawnsPerPawn)
}

// report searches the position and then what threatens.
func (a *analyst) report(ctx context.Context, p *chess.Position) (*report, error) {
	r := &report{FEN: p.FEN(), Lines: []line{}, Threats: []threat{}}
	if !p.HasLegalMove() {
		if r.Ended = "stalemate"; p.InCheck() {
			r.Ended = "checkmate"
		}
		return r, nil
	}
	if err := a.player.NewGame(); err != nil {
		return nil, err
	}
	lim := a.lim
	lim.MultiPV = a.lines
	res, err := a.player.Search(ctx, chess.NewLine(*p), lim)
	if err == nil {
		err = ctx.Err() // what a search found that was broken off is not its answer
	}
	if err != nil {
		return nil, err
	}
	r.Depth, r.Nodes = res.Depth, res.Nodes
	for _, l := range bestLines(&res) {
		r.Lines = append(r.Lines, a.line(p, l))
	}
	r.Threats, err = a.threats(ctx, p, res.Score)
	return r, err
}

// bestLines returns the lines of a result, at least one.
func bestLines(r *search.Result) []search.RootLine {
	if len(r.Lines) > 0 {
		return r.Lines
	}
	return []search.RootLine{{Score: r.Score, PV: r.PV}}
}

func (a *analyst) line(p *chess.Position, l search.RootLine) line {
	w := a.search.WDL(l.Score)
	out := line{Score: newScore(l.Score), Win: w.Win, Draw: w.Draw, Loss: w.Loss, pv: l.PV}
	at := *p
	for _, m := range l.PV {
		out.UCI, out.SAN = append(out.UCI, at.UCI(m)), append(out.SAN, at.SAN(m))
		at.Make(m)
	}
	return out
}

// text is the report for people.
func (r *report) text(p *chess.Position) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", r.FEN, cli.Board(p, false))
	if r.Ended != "" {
		fmt.Fprintf(&b, "%s to move: %s\n\n", p.SideToMove(), r.Ended)
		return b.String()
	}
	fmt.Fprintf(&b, "%s to move, depth %d, %d nodes\n", p.SideToMove(), r.Depth, r.Nodes)
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%8s  win %5.1f %%  draw %4.1f %%  loss %5.1f %%  %s\n", l.Score, float64(l.Win)/10, float64(l.Draw)/10, float64(l.Loss)/10,
			cli.MovesText(p, l.pv))
	}
	switch {
	case p.InCheck():
	case len(r.Threats) == 0:
		fmt.Fprintf(&b, "no drop of %s threatens\n", p.SideToMove().Other())
	default:
		fmt.Fprintf(&b, "%s threatens\n", p.SideToMove().Other())
		for _, t := range r.Threats {
			fmt.Fprintf(&b, "%8s  %s\n", t.SAN, t.words())
		}
	}
	b.WriteByte('\n')
	return b.String()
}
