package rating

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// GameCounts counts the games that a pool was made of by what became of them.
type GameCounts struct {
	Read         int `json:"read"`
	Rated        int `json:"rated"`
	Malformed    int `json:"malformed"`
	Unfinished   int `json:"unfinished"`      // without a result
	Nameless     int `json:"nameless"`        // without names of two players
	OtherVariant int `json:"other_variant"`   // not of the variant asked for
	Repeated     int `json:"repeated"`        // the same as in an earlier file, in every tag and move
	NotReplayed  int `json:"not_replayed"`    // rated though their rules are not known
	Blocks       int `json:"blocks"`          // what is drawn anew: pairs and single games
	Pairs        int `json:"pairs_of_blocks"` // blocks that are pairs
}

// PoolReport is what the games of a pool tell of its players. Intervals are of 95 %.
type PoolReport struct {
	Games   GameCounts     `json:"games"`
	Samples *SamplesReport `json:"resampling,omitempty"` // nil: none
	White   PoolEstimate   `json:"white_advantage"`
	Draws   float64        `json:"even_draw_rate"` // probability that players with equal chances draw
	Players []RatedPlayer  `json:"players"`        // best first
	Chances [][]float64    `json:"superiority"`    // probability that the player of the row is the stronger one
	Plan    *PlanReport    `json:"plan,omitempty"` // nil: none
	anchors []Anchor
}

// SamplesReport says how many times games were drawn anew for their errors.
type SamplesReport struct {
	Done   int    `json:"done"`
	Failed int    `json:"failed"` // gave no finite ratings
	Seed   uint64 `json:"seed"`
}

// PoolEstimate has the interval by the curvature of the likelihood and, if
// there was resampling, the one by that.
type PoolEstimate struct {
	Elo     Estimate  `json:"elo"`
	Samples *Estimate `json:"elo_resampled,omitempty"`
}

// RatedPlayer is a player with its rating and what it rests on.
type RatedPlayer struct {
	Rank int    `json:"rank"`
	Name string `json:"name"`
	PoolEstimate
	Anchor *float64    `json:"anchor,omitempty"` // the rating it is tied to
	Counts Trinomial   `json:"games"`            // losses, draws, wins
	Pairs  Pentanomial `json:"pairs"`
}

// NewPoolReport sums up ratings of a pool by a configuration. Games says what the
// pool was made of; the resampling, with its seed, may be nil.
func NewPoolReport(pool *Pool, games GameCounts, cfg PoolConfig, r *Ratings, s *Resampling, seed uint64) *PoolReport {
	report := &PoolReport{Games: games, Draws: r.DrawRate, anchors: cfg.Anchors}
	report.White.Elo = r.WhiteInterval()
	errors := r.Errors
	if s != nil {
		report.Samples = &SamplesReport{s.Done, s.Failed, seed}
		errors = s.Errors
		white := s.WhiteInterval(r)
		report.White.Samples = &white
	}
	names := pool.Players()
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.Elo[b], r.Elo[a]), cmp.Compare(names[a], names[b]))
	})
	for rank, i := range order {
		p := RatedPlayer{Rank: rank + 1, Name: names[i]}
		p.Elo = r.Interval(i, r.Errors)
		if s != nil {
			e := r.Interval(i, s.Errors)
			p.Samples = &e
		}
		p.Counts, p.Pairs = pool.Record(i)
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

// WriteText writes the report as tables.
func (r *PoolReport) WriteText(w io.Writer) error {
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
			100*float64(p.Counts[Draws])/float64(games), p.Pairs.Pairs(), strings.Trim(fmt.Sprint(p.Pairs.Five()), "[]"), name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.printModel(w); err != nil {
		return err
	}
	if err := r.printChances(w); err != nil || r.Plan == nil {
		return err
	}
	return r.Plan.writeText(w)
}

// margin is half an interval, what stands behind ±.
func margin(e *Estimate) string {
	m, _ := e.Margin() // ratings are finite
	return fmt.Sprintf("%.1f", m)
}

// printModel tells what the ratings rest on.
func (r *PoolReport) printModel(w io.Writer) error {
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

func (r *PoolReport) printChances(w io.Writer) error {
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

// Figure draws the ratings with the errors by pairs if there are any.
func (r *PoolReport) Figure() *figure.Figure {
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
