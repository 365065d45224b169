package rating

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// PlanConfig says what the games of a [Plan] are for.
type PlanConfig struct {
	// Margin is what may stand behind ± of a target's rating: half its 95 %
	// interval, in Elo.
	Margin float64
	// Targets are the players whose errors count; without any, all do.
	Targets []int
	// Among are the players who can play; without any, all can.
	Among []int
}

// Validate returns an error that wraps [ErrPool] if settings are out of range for a pool
// of a number of players.
func (c *PlanConfig) Validate(players int) error {
	if !(c.Margin >= minMargin && c.Margin <= maxPoolElo) {
		return fmt.Errorf("%w: margin %g Elo, expected %g to %g", ErrPool, c.Margin, minMargin, maxPoolElo)
	}
	for _, t := range slices.Concat(c.Targets, c.Among) {
		if t < 0 || t >= players {
			return fmt.Errorf("%w: player %d in a plan, expected 0 to %d", ErrPool, t, players-1)
		}
	}
	return nil
}

// orAll returns a list of players, or all there are if it is empty.
func orAll(list []int, players int) []int {
	if len(list) > 0 {
		return list
	}
	all := make([]int, players)
	for i := range all {
		all[i] = i
	}
	return all
}

// A Plan is a list of matches that brings the errors of ratings down to a margin.
type Plan struct {
	Matches []PlannedMatch // the one that is worth most first; none if no games help
	Errors  Covariance     // of the ratings, as expected after all matches
	Reached bool           // whether all targets are expected within the margin
}

// PlannedMatch is a number of games between two players who have met.
type PlannedMatch struct {
	Players [2]int
	Games   int
	Seconds float64 // they will take one after the other, by the games so far; 0: not known
}

const (
	planStep  = 20        // games that a plan takes at a time
	planMost  = 1_000_000 // games of a plan
	planReach = 400       // Elo between players who are to meet
	planLeast = 0.002     // of the mean excess of a target, what a step has to save
	minMargin = 0.1       // Elo
)

// Plan chooses games between players who have met and are at most 400 Elo apart, beyond
// which the model is less sure than it seems, so that the errors of the targets fall to the
// margin in as little time as may be. The errors now are those of r, or those by resampling.
// It takes step by step the match that saves most of the variances above the margin for its
// time, up to a million games, and ends where nothing saves much: an error can be out of
// reach. A game of two players, with the expected score p and draws D, tells their difference
// with the variance (p(1−p) − D/4)/(p(1−p))² in natural units, and lowers the errors of all
// players as far as these depend on that difference.
//
// The time of a game is the mean of the games with a known time between its players, or
// else of all games with one; if there are none, games count instead. An error wraps
// [ErrPool], or is that of ctx.
func (p *Pool) Plan(ctx context.Context, r *Ratings, errors Covariance, c PlanConfig) (*Plan, error) {
	n := len(p.names)
	if err := c.Validate(n); err != nil {
		return nil, err
	}
	if len(r.Elo) != n || errors.n != n {
		return nil, fmt.Errorf("%w: ratings of %d players with errors of %d, expected %d", ErrPool, len(r.Elo), errors.n, n)
	}
	w := &planner{
		errors:   Covariance{n, slices.Clone(errors.values)},
		targets:  orAll(c.Targets, n),
		most:     math.Pow(c.Margin/quantile95, 2),
		meetings: p.meetings(r, orAll(c.Among, n)),
	}
	for range planMost / planStep {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best, worth := -1, 0.0
		least := w.total() * planLeast / float64(len(w.targets))
		for i := range w.meetings {
			saved := w.saved(&w.meetings[i])
			if v := saved / w.meetings[i].seconds; saved > least && v > worth {
				best, worth = i, v
			}
		}
		if best < 0 {
			break // all within the margin, or nothing brings them much nearer
		}
		w.play(&w.meetings[best])
	}
	return w.plan(p.timed()), nil
}

// planner has the errors expected after the matches planned so far.
type planner struct {
	errors   Covariance
	targets  []int
	most     float64 // variance of a target, Elo²
	meetings []meeting
	order    []*meeting // with games planned, in order of the first
}

// meeting is two players who have met.
type meeting struct {
	a, b     int
	variance float64 // of their difference by planStep games, Elo²
	seconds  float64 // of a game
	games    int     // planned
}

// meetings returns those of near players among some, in order of their first games.
func (p *Pool) meetings(r *Ratings, among []int) []meeting {
	var all spent
	for _, s := range p.spent {
		all.games += s.games
		all.seconds += s.seconds
	}
	var list []meeting
	for i, e := range p.edges {
		time := p.spent[i]
		if back, met := p.edgeOf[edge{e.black, e.white}]; met {
			if back < i {
				continue
			}
			time.games += p.spent[back].games
			time.seconds += p.spent[back].seconds
		}
		difference := r.Elo[e.white] - r.Elo[e.black]
		if math.Abs(difference) > planReach || !slices.Contains(among, e.white) || !slices.Contains(among, e.black) {
			continue
		}
		score := ExpectedScore(difference)
		slope := score * (1 - score)
		m := meeting{a: e.white, b: e.black, seconds: 1}
		m.variance = (slope - davidson(score, r.DrawRate)/4) / (slope * slope) * eloUnit * eloUnit / planStep
		switch {
		case time.seconds > 0:
			m.seconds = time.seconds / float64(time.games)
		case all.seconds > 0:
			m.seconds = all.seconds / float64(all.games)
		}
		list = append(list, m)
	}
	return list
}

// timed reports whether the time of any game is known.
func (p *Pool) timed() bool {
	return slices.ContainsFunc(p.spent, func(s spent) bool { return s.seconds > 0 })
}

// shared returns the covariance of a player's error and that of the difference of the two
// who meet.
func (w *planner) shared(m *meeting, player int) float64 {
	row := w.errors.values[player*w.errors.n:]
	return row[m.a] - row[m.b]
}

// spread returns the variance of what planStep games will show of that difference: by the
// errors now, and by the games themselves.
func (w *planner) spread(m *meeting) float64 {
	return w.shared(m, m.a) - w.shared(m, m.b) + m.variance
}

// excess returns how far a player's variance less a part is above the margin's.
func (w *planner) excess(player int, less float64) float64 {
	return max(w.errors.values[player*(w.errors.n+1)]-less-w.most, 0)
}

// total returns how far the targets' variances are above the margin's, in all.
func (w *planner) total() (sum float64) {
	for _, t := range w.targets {
		sum += w.excess(t, 0)
	}
	return sum
}

// saved returns what planStep games of a meeting take from the variances of the targets
// above the margin.
func (w *planner) saved(m *meeting) float64 {
	spread, sum := w.spread(m), 0.0
	for _, t := range w.targets {
		x := w.shared(m, t)
		sum += w.excess(t, 0) - w.excess(t, x*x/spread)
	}
	return sum
}

// play takes planStep games of a meeting into the plan, and what they will show from the
// errors, as a measurement of the difference does (Kalman 1960).
func (w *planner) play(m *meeting) {
	if m.games == 0 {
		w.order = append(w.order, m)
	}
	m.games += planStep
	spread := w.spread(m)
	n := w.errors.n
	x := make([]float64, n)
	for i := range x {
		x[i] = w.shared(m, i)
	}
	for i := range n {
		for j := range n {
			w.errors.values[i*n+j] -= x[i] * x[j] / spread
		}
	}
}

// plan returns the matches taken.
func (w *planner) plan(timed bool) *Plan {
	plan := &Plan{Errors: w.errors, Reached: true}
	for _, t := range w.targets {
		plan.Reached = plan.Reached && w.excess(t, 0) == 0
	}
	for _, m := range w.order {
		match := PlannedMatch{Players: [2]int{m.a, m.b}, Games: m.games}
		if timed {
			match.Seconds = float64(m.games) * m.seconds
		}
		plan.Matches = append(plan.Matches, match)
	}
	return plan
}
