package match

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// rateReport is what rate prints. Intervals are of 95 %.
type rateReport struct {
	Games   gameCounts      `json:"games"`
	Samples *samplesReport  `json:"resampling,omitempty"` // nil: none
	White   rateEstimate    `json:"white_advantage"`
	Draws   float64         `json:"even_draw_rate"` // probability that players with equal chances draw
	Players []ratedPlayer   `json:"players"`        // best first
	Chances [][]float64     `json:"superiority"`    // probability that the player of the row is the stronger one
	anchors []rating.Anchor // to tell in words
}

type samplesReport struct {
	Done   int    `json:"done"`
	Failed int    `json:"failed"` // gave no finite ratings
	Seed   uint64 `json:"seed"`
}

// rateEstimate has the interval by the curvature of the likelihood and, if
// there was resampling, the one by that.
type rateEstimate struct {
	Elo     rating.Estimate  `json:"elo"`
	Samples *rating.Estimate `json:"elo_resampled,omitempty"`
}

type ratedPlayer struct {
	Rank int    `json:"rank"`
	Name string `json:"name"`
	rateEstimate
	Anchor *float64           `json:"anchor,omitempty"` // the rating it is tied to
	Counts rating.Trinomial   `json:"games"`            // losses, draws, wins
	Pairs  rating.Pentanomial `json:"pairs"`
}

func newRateReport(l *poolLoader, cfg rating.PoolConfig, r *rating.Ratings, s *rating.Resampling, seed uint64) *rateReport {
	report := &rateReport{Games: l.counts, Draws: r.DrawRate, anchors: cfg.Anchors}
	report.White.Elo = r.WhiteInterval()
	errors := r.Errors
	if s != nil {
		report.Samples = &samplesReport{s.Done, s.Failed, seed}
		errors = s.Errors
		white := s.WhiteInterval(r)
		report.White.Samples = &white
	}
	names := l.pool.Players()
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Elo[b], r.Elo[a]), cmp.Compare(names[a], names[b]))
	})
	for rank, i := range order {
		p := ratedPlayer{Rank: rank + 1, Name: names[i]}
		p.Elo = r.Interval(i, r.Errors)
		if s != nil {
			e := r.Interval(i, s.Errors)
			p.Samples = &e
		}
		p.Counts, p.Pairs = l.pool.Record(i)
		for _, a := range cfg.Anchors {
			if a.Player == i {
				p.Anchor = &a.Elo
			}
		}
		chances := make([]float64, len(order))
		for column, j := range order {
			chances[column] = r.Superiority(i, j, errors)
		}
		report.Players = append(report.Players, p)
		report.Chances = append(report.Chances, chances)
	}
	return report
}

func (r *rateReport) writeJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

func (r *rateReport) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "rank\tElo\t±\t")
	if r.Samples != nil {
		fmt.Fprint(t, "± pairs\t")
	}
	fmt.Fprintln(t, "games\tscore\tdraws\tpairs\tptnml(0-2)\t  player")
	for _, p := range r.Players {
		fmt.Fprintf(t, "%d\t%.1f\t%s\t", p.Rank, p.Elo.Value, margin(&p.Elo))
		if r.Samples != nil {
			fmt.Fprintf(t, "%s\t", margin(p.Samples))
		}
		score, _ := p.Counts.Score()
		games := p.Counts.Games()
		name := p.Name
		if p.Anchor != nil {
			name += " (anchor)"
		}
		fmt.Fprintf(t, "%d\t%.1f %%\t%.1f %%\t%d\t%s\t  %s\n", games, 100*score,
			100*float64(p.Counts[rating.Draws])/float64(games), p.Pairs.Pairs(), strings.Trim(fmt.Sprint(p.Pairs.Five()), "[]"), name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.printModel(w); err != nil {
		return err
	}
	return r.printChances(w)
}

// margin is half an interval, what stands behind ±.
func margin(e *rating.Estimate) string {
	m, _ := e.Margin() // ratings are finite
	return fmt.Sprintf("%.1f", m)
}

// printModel tells what the ratings rest on.
func (r *rateReport) printModel(w io.Writer) error {
	white := fmt.Sprintf("%.1f ± %s", r.White.Elo.Value, margin(&r.White.Elo))
	if r.White.Samples != nil {
		white += fmt.Sprintf(" (± %s by pairs)", margin(r.White.Samples))
	}
	level := "the mean of the players is 0"
	if len(r.anchors) > 0 {
		level = "the anchors are given"
	}
	_, err := fmt.Fprintf(w, "\nWhite's advantage %s Elo; players with equal chances draw %.1f %%; %s\n%d games, %d pairs and %d single\n",
		white, 100*r.Draws, level, r.Games.Rated, r.Games.Pairs, r.Games.Rated-2*r.Games.Pairs)
	if err == nil && r.Samples != nil {
		_, err = fmt.Fprintf(w, "± pairs by %d samples, seed %d\n", r.Samples.Done, r.Samples.Seed)
		if err == nil && r.Samples.Failed > 0 {
			_, err = fmt.Fprintf(w, "%d more samples gave no finite ratings and were left out, so ± pairs is not to be trusted; more games would help, or --prior-draws\n", r.Samples.Failed)
		}
	}
	return err
}

// widestMatrix is how many players the text has a matrix for; JSON has it for
// any number.
const widestMatrix = 16

func (r *rateReport) printChances(w io.Writer) error {
	if len(r.Players) > widestMatrix {
		return nil
	}
	fmt.Fprint(w, "\nprobability, in %, that the player of the row is stronger than that of the column\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range r.Players {
		fmt.Fprintf(t, "\t%d", p.Rank)
	}
	fmt.Fprint(t, "\t\n")
	for i, p := range r.Players {
		fmt.Fprintf(t, "%d\t", p.Rank)
		for j, chance := range r.Chances[i] {
			if i == j {
				fmt.Fprint(t, "-\t")
			} else {
				fmt.Fprintf(t, "%.1f\t", 100*chance)
			}
		}
		fmt.Fprintf(t, "  %s\n", p.Name)
	}
	return t.Flush()
}

// figure draws the ratings with the errors by pairs if there are any.
func (r *rateReport) figure() *figure.Figure {
	v := &figure.Intervals{Title: "bars: 95 % by the curvature of the likelihood", XLabel: "Elo"}
	if r.Samples != nil {
		v.Title = "bars: 95 % by resampling opening pairs"
	}
	for _, p := range r.Players {
		e := p.Elo
		if p.Samples != nil {
			e = *p.Samples
		}
		v.Names = append(v.Names, p.Name)
		v.Values, v.Low, v.High = append(v.Values, e.Value), append(v.Low, e.Low), append(v.High, e.High)
	}
	return &figure.Figure{
		Title: fmt.Sprintf("Ratings from %d games", r.Games.Rated),
		Rows:  [][]figure.Panel{{v}},
	}
}
