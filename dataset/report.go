package dataset

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// Report is what Stats have counted, as text, JSON and figure.
type Report struct {
	Positions int64 `json:"positions"`
	Games     int64 `json:"games"` // as far as plies and results distinguish them

	// Duplicates counts samples whose position came before; clocks do not count. It
	// is exact up to some two million positions, and beyond an estimate from a
	// random share of them.
	Duplicates          int64 `json:"duplicates"`
	DuplicatesEstimated bool  `json:"duplicates_estimated"`

	WhiteWins int64 `json:"white_wins"` // positions of such games
	Draws     int64 `json:"draws"`
	BlackWins int64 `json:"black_wins"`
	NoResult  int64 `json:"no_result,omitempty"`

	MeanScore float64 `json:"mean_score"` // centipawns, side to move, mates apart
	MeanAbs   float64 `json:"mean_abs_score"`
	MaxAbs    int     `json:"max_abs_score"`
	Mates     int64   `json:"mates"`
	NoScore   int64   `json:"no_score,omitempty"` // left out of the histogram of scores
	MaxPly    int     `json:"max_ply"`

	Drops      map[string]int64 `json:"drops"` // by letter of the piece
	Captures   int64            `json:"captures"`
	Promotions int64            `json:"promotions"`
	Castlings  int64            `json:"castlings"`
	Partial    int64            `json:"partial_moves"` // drops and promotions of unknown pieces, not among those above
	Illegal    int64            `json:"illegal_moves"`
	InCheck    int64            `json:"in_check"`
	Promoted   int64            `json:"with_promoted_pieces"`

	Histograms []Histogram `json:"histograms"`
}

// Histogram counts positions, or hands, by a number.
type Histogram struct {
	Of     string  `json:"of"`
	Low    int     `json:"low"`    // lower end of the first bin
	Width  int     `json:"width"`  // of a bin
	Counts []int64 `json:"counts"` // the last bin, of scores the first too, is open
}

// Report returns what was counted.
func (t *Stats) Report() *Report {
	r := t.sum
	scored := float64(max(r.Positions-r.NoScore-r.Mates, 1))
	r.MeanScore, r.MeanAbs = t.scoreSum/scored, t.absSum/scored
	r.Duplicates = r.Positions - min(t.distinct.count(), r.Positions)
	r.DuplicatesEstimated = t.distinct.shift > 0
	r.Histograms = []Histogram{
		{"score, centipawns", -scoreTop - scoreBin/2, scoreBin, t.scores[:]},
		{"ply", 0, plyBin, t.plies[:]},
		{"pieces on the board", 0, 1, t.board[:]},
		{"pieces in both hands", 0, 1, t.held[:]},
	}
	r.Drops = make(map[string]int64)
	for kind, n := range t.drops {
		name := chess.PieceType(kind).String()
		r.Drops[name] = n
		r.Histograms = append(r.Histograms, Histogram{name + " in a hand", 0, 1, t.hands[kind][:]})
	}
	return &r
}

// WriteText writes the report as a table.
func (r *Report) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	share := func(name string, n int64) {
		fmt.Fprintf(t, "%s\t%d\t%.2f %%\n", name, n, 100*float64(n)/float64(max(r.Positions, 1)))
	}
	fmt.Fprintf(t, "positions\t%d\n", r.Positions)
	fmt.Fprintf(t, "games\t%d\t%.1f positions each\n", r.Games, float64(r.Positions)/float64(max(r.Games, 1)))
	if share("positions that came before", r.Duplicates); r.DuplicatesEstimated {
		fmt.Fprintf(t, "\t\tan estimate\n")
	}
	share("of games White won", r.WhiteWins)
	share("of drawn games", r.Draws)
	share("of games Black won", r.BlackWins)
	if r.NoResult > 0 {
		share("without a result", r.NoResult)
	}
	fmt.Fprintf(t, "mean score\t%.1f\tcentipawns, magnitude %.1f, at most %d\n", r.MeanScore, r.MeanAbs, r.MaxAbs)
	share("mate scores", r.Mates)
	if r.NoScore > 0 {
		share("without a score", r.NoScore)
	}
	fmt.Fprintf(t, "last ply\t%d\n", r.MaxPly)
	for kind := chess.Pawn; kind <= chess.Queen; kind++ {
		share("drops of "+kind.String(), r.Drops[kind.String()])
	}
	share("captures", r.Captures)
	share("promotions", r.Promotions)
	share("castlings", r.Castlings)
	share("moves of an unknown piece", r.Partial)
	share("illegal moves", r.Illegal)
	share("positions in check", r.InCheck)
	share("with promoted pieces", r.Promoted)
	for _, h := range r.Histograms {
		h.print(t)
	}
	return t.Flush()
}

// print prints the bins that are not empty.
func (h *Histogram) print(w io.Writer) {
	total := int64(0)
	for _, n := range h.Counts {
		total += n
	}
	fmt.Fprintf(w, "\n%s\tcount\tshare\n", h.Of)
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low := h.Low + i*h.Width
		name := fmt.Sprint(low)
		if h.Width > 1 {
			name = fmt.Sprintf("%d to %d", low, low+h.Width-1)
		}
		fmt.Fprintf(w, "%s\t%d\t%.4f\n", name, n, float64(n)/float64(total))
	}
}

// Figure draws all histograms.
func (r *Report) Figure() *figure.Figure {
	f := &figure.Figure{Title: fmt.Sprintf("%d positions of %d games", r.Positions, r.Games)}
	const across = 3
	for i, h := range r.Histograms {
		if i%across == 0 {
			f.Rows = append(f.Rows, nil)
		}
		last := len(h.Counts)
		for last > 1 && h.Counts[last-1] == 0 {
			last--
		}
		bars := &figure.Histogram{Title: h.Of, XLabel: h.Of, YLabel: "count", Low: float64(h.Low), Width: float64(h.Width)}
		for _, n := range h.Counts[:last] {
			bars.Heights = append(bars.Heights, float64(n))
		}
		row := len(f.Rows) - 1
		f.Rows[row] = append(f.Rows[row], bars)
	}
	return f
}
