package rating

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// PlanReport is a [Plan] with the names of its players.
type PlanReport struct {
	Margin  float64         `json:"margin"`  // Elo
	Reached bool            `json:"reached"` // whether the matches are expected to do
	Matches []MatchReport   `json:"matches"` // the one that is worth most first
	Errors  []PlannedMargin `json:"errors"`  // of the targets, the widest first
}

// MatchReport is a match of a plan.
type MatchReport struct {
	Players [2]string `json:"players"`
	Games   int       `json:"games"`
	Seconds float64   `json:"seconds,omitempty"`
}

// PlannedMargin is what stands behind ± of a rating now and after the plan.
type PlannedMargin struct {
	Name  string  `json:"name"`
	Now   float64 `json:"now"`
	After float64 `json:"after"`
}

// NewPlanReport returns the report of a plan that was made by c from the errors now.
func NewPlanReport(pool *Pool, c PlanConfig, now Covariance, plan *Plan) *PlanReport {
	names := pool.Players()
	report := &PlanReport{Margin: c.Margin, Reached: plan.Reached, Matches: []MatchReport{}}
	for _, m := range plan.Matches {
		report.Matches = append(report.Matches, MatchReport{[2]string{names[m.Players[0]], names[m.Players[1]]}, m.Games, m.Seconds})
	}
	for _, t := range orAll(c.Targets, len(names)) {
		report.Errors = append(report.Errors, PlannedMargin{names[t], quantile95 * now.SD(t), quantile95 * plan.Errors.SD(t)})
	}
	slices.SortStableFunc(report.Errors, func(a, b PlannedMargin) int { return cmp.Compare(b.Now, a.Now) })
	return report
}

func (r *PlanReport) writeText(w io.Writer) error {
	widest := r.Errors[0]
	if widest.Now <= r.Margin {
		_, err := fmt.Fprintf(w, "\nplan: nothing to play, the widest error is ± %.1f, of %s\n", widest.Now, widest.Name)
		return err
	}
	games, seconds := 0, 0.0
	for _, m := range r.Matches {
		games += m.Games
		seconds += m.Seconds
	}
	fmt.Fprintf(w, "\nplan for ± %g: %d games", r.Margin, games)
	if seconds > 0 {
		fmt.Fprintf(w, " of %v one after the other", time.Duration(seconds*float64(time.Second)).Round(time.Second))
	}
	fmt.Fprintf(w, "; the widest error now is ± %.1f, of %s\n", widest.Now, widest.Name)
	if !r.Reached {
		fmt.Fprintln(w, "not enough: only players who can play, have met and are at most 400 Elo apart are paired, and games do not take away what the deviations of all anchors leave open")
	}
	if len(r.Matches) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "games\ttime\t  players")
	for _, m := range r.Matches {
		time := time.Duration(m.Seconds * float64(time.Second)).Round(time.Second).String()
		if m.Seconds == 0 {
			time = "-"
		}
		fmt.Fprintf(t, "%d\t%s\t  %s  %s\n", m.Games, time, m.Players[0], m.Players[1])
	}
	return t.Flush()
}
