// Package analysis says what a search finds in a position: the best lines with the
// chances of the side to move, and the drops that the other side threatens.
package analysis

import (
	"context"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Analyst searches positions by a player.
type Analyst struct {
	Player player.Player
	Search player.Search // which it is by, for the meaning of scores
	Limits search.Limits // of each search; a position needs two, one of them for threats
	Lines  int           // best moves to find, and threats
}

// Report is what is known of a position.
type Report struct {
	FEN   string `json:"fen"`
	Ended string `json:"ended,omitempty"` // why there is no move: checkmate or stalemate
	Depth int    `json:"depth"`
	Nodes uint64 `json:"nodes"`
	Lines []Line `json:"lines"`
	// Threats are drops of the side that is not to move.
	Threats []Threat `json:"threats"`
}

// Line is one of the best lines, seen by the side to move.
type Line struct {
	Score
	Win  int      `json:"win"` // per mille, as Draw and Loss
	Draw int      `json:"draw"`
	Loss int      `json:"loss"`
	UCI  []string `json:"uci"`
	SAN  []string `json:"san"`

	PV []chess.Move `json:"-"`
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

// Report searches the last position of a line, whose moves before count for repetition,
// and then what threatens in it.
func (a *Analyst) Report(ctx context.Context, line *chess.Line) (*Report, error) {
	p := line.Pos()
	r := &Report{FEN: p.FEN(), Lines: []Line{}, Threats: []Threat{}}
	if !p.HasLegalMove() {
		if r.Ended = "stalemate"; p.InCheck() {
			r.Ended = "checkmate"
		}
		return r, nil
	}
	if err := a.Player.NewGame(); err != nil {
		return nil, err
	}
	lim := a.Limits
	lim.MultiPV = a.Lines
	res, err := a.Player.Search(ctx, line, lim)
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

func (a *Analyst) line(p *chess.Position, l search.RootLine) Line {
	w := a.Search.WDL(l.Score)
	out := Line{Score: newScore(l.Score), Win: w.Win, Draw: w.Draw, Loss: w.Loss, PV: l.PV}
	at := *p
	for _, m := range l.PV {
		out.UCI, out.SAN = append(out.UCI, at.UCI(m)), append(out.SAN, at.SAN(m))
		at.Make(m)
	}
	return out
}
