// Package wdl fits win probabilities to scores: W(s) = σ((s − A)/B) is the score
// of the game that a player expects whose search says s. A Tally counts scores
// with results in bounded memory; its fit is exact, not one of binned data.
package wdl

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrNoFit says that scores and results do not determine a curve.
var ErrNoFit = errors.New("scores do not determine a curve of win probabilities")

// leastPositions is how many positions a fit needs.
const leastPositions = 100

// Bounds of a fitted Curve.B in centipawns. One below would call a tenth of a pawn
// decisive, one above fifty pawns nothing.
const (
	leastScale = 10
	mostScale  = 5000
)

// groups is the number of groups that games are dealt into, one after the other.
// How a figure varies when each is left out in turn (the delete-a-group
// jackknife) is its standard error, whatever positions of one game have in
// common.
const groups = 32

// Tally counts results by score. The zero value is ready.
type Tally struct {
	cells     map[search.Score]*[groups]results
	positions uint64
	games     uint64
	mates     uint64
}

// results counts the results of positions for the side to move.
type results [3]uint64 // lost, drawn, won

func (r *results) n() uint64 { return r[0] + r[1] + r[2] }

// points is the sum of the results, draws counting half.
func (r *results) points() float64 { return float64(r[2]) + float64(r[1])/2 }

// Add counts a position by its score in centipawns and its result, −1, 0 or 1,
// both for the side to move. Begins says that it is the first of its game. Mate
// scores are counted apart and not fitted: they would pull the curve towards
// their arbitrary size.
func (t *Tally) Add(score search.Score, result int8, begins bool) {
	if begins {
		t.games++
	}
	if score.IsMate() {
		t.mates++
		return
	}
	if t.cells == nil {
		t.cells = make(map[search.Score]*[groups]results)
	}
	cell := t.cells[score]
	if cell == nil {
		cell = new([groups]results)
		t.cells[score] = cell
	}
	cell[t.games%groups][result+1]++
	t.positions++
}

// Curve is a fitted curve, in centipawns.
type Curve struct {
	A float64 `json:"a"` // the score of an even chance
	B float64 `json:"b"` // score per unit of log-odds
	// The standard errors are those of games, 0 if these are too few to tell.
	// Those of positions take all positions for independent, which those of a
	// game are not: one says of B much what the next says, and of A, seen by
	// the other side, the opposite.
	ErrorA         float64 `json:"error_a"`
	ErrorB         float64 `json:"error_b"`
	PositionErrorA float64 `json:"position_error_a"`
	PositionErrorB float64 `json:"position_error_b"`

	Positions uint64 `json:"positions"` // fitted
	Games     uint64 `json:"games"`     // that they are of
	Mates     uint64 `json:"mates"`     // positions left out
}

// At returns the expected score of the game, 0 to 1, after a score in centipawns.
func (c *Curve) At(score float64) float64 { return logistic.Sigmoid((score - c.A) / c.B) }

// Fit fits the curve by maximum likelihood, draws counting half. Errors wrap
// ErrNoFit: fewer than 100 positions, results of one kind only, or scores that
// tell nothing about results, the opposite or everything.
func (t *Tally) Fit() (Curve, error) {
	c := Curve{Positions: t.positions, Games: t.games, Mates: t.mates}
	if t.positions < leastPositions {
		return c, fmt.Errorf("%w: found %d positions without mate scores, expected %d or more", ErrNoFit, t.positions, leastPositions)
	}
	all := t.points(-1)
	if sum := all.sum(); sum == 0 || sum == float64(t.positions) {
		return c, fmt.Errorf("%w: all results are alike", ErrNoFit)
	}
	l := all.fit(fitted{})
	if c.A, c.B = l.curve(); !(c.B >= leastScale && c.B <= mostScale) {
		return c, fmt.Errorf("%w: fitted scale %.4g centipawns, expected %d to %d", ErrNoFit, c.B, leastScale, mostScale)
	}
	c.PositionErrorA, c.PositionErrorB = l.errorOfEven(), l.errorOfScale()
	var as, bs jackknife
	for k := range groups {
		a, b := t.points(k).fit(l).curve()
		if !(b >= leastScale && b <= mostScale) { // it hangs on a few games
			return c, nil
		}
		as.add(a)
		bs.add(b)
	}
	c.ErrorA, c.ErrorB = as.error(), bs.error()
	return c, nil
}

// jackknife gathers what estimates become when a group is left out.
type jackknife struct {
	n            int
	mean, spread float64
}

func (j *jackknife) add(x float64) {
	j.n++
	d := x - j.mean
	j.mean += d / float64(j.n)
	j.spread += d * (x - j.mean)
}

// error is the standard error of the estimate. Groups without games, whose
// omission changes nothing, count as if they had some: it is too large then.
func (j *jackknife) error() float64 {
	if j.n < 2 {
		return 0
	}
	return math.Sqrt(j.spread * float64(j.n-1) / float64(j.n))
}

// scores lists the scores there are, so that sums do not depend on the order of a
// map.
func (t *Tally) scores() []search.Score { return slices.Sorted(maps.Keys(t.cells)) }

// point is n positions with the same score, in fitUnit, and the sum of their
// results.
type point struct{ x, n, won float64 }

type points []point

// fitUnit keeps the numbers of the fit near 1, in centipawns.
const fitUnit = 300

// points lists the counts in the order of the scores, those of one group left
// out.
func (t *Tally) points(without int) points {
	list := make(points, 0, len(t.cells))
	for _, score := range t.scores() {
		p := point{x: float64(score) / fitUnit}
		for k := range groups {
			if r := &t.cells[score][k]; k != without {
				p.n += float64(r.n())
				p.won += r.points()
			}
		}
		if p.n > 0 {
			list = append(list, p)
		}
	}
	return list
}

func (l points) sum() (won float64) {
	for _, p := range l {
		won += p.won
	}
	return won
}

// fitted is σ(intercept + slope·x) with the inverse of minus the likelihood's
// second derivatives, variances and covariance of the two.
type fitted struct {
	intercept, slope float64
	v00, v01, v11    float64
}

// curve returns the parameters of the Curve in centipawns.
func (l fitted) curve() (a, b float64) {
	return -l.intercept / l.slope * fitUnit, fitUnit / l.slope
}

// errorOfEven and errorOfScale are the standard errors of a and b, linearised.
func (l fitted) errorOfEven() float64 {
	d0, d1 := -1/l.slope, l.intercept/(l.slope*l.slope)
	return fitUnit * math.Sqrt(d0*d0*l.v00+2*d0*d1*l.v01+d1*d1*l.v11)
}

func (l fitted) errorOfScale() float64 { return fitUnit * math.Sqrt(l.v11) / (l.slope * l.slope) }

// fit maximises the likelihood by Newton's method, beginning at l, damped so that
// separable data cannot run away in one step.
func (list points) fit(l fitted) fitted {
	const (
		steps     = 50
		maxChange = 1.0
		enough    = 1e-10
	)
	for range steps {
		var g0, g1, h00, h01, h11 float64
		for _, p := range list {
			q := logistic.Sigmoid(l.intercept + l.slope*p.x)
			d, w := p.won-p.n*q, p.n*q*(1-q)
			g0, g1 = g0+d, g1+d*p.x
			h00, h01, h11 = h00+w, h01+w*p.x, h11+w*p.x*p.x
		}
		det := h00*h11 - h01*h01
		if !(det > 1e-12) {
			break
		}
		l.v00, l.v01, l.v11 = h11/det, -h01/det, h00/det
		d0, d1 := l.v00*g0+l.v01*g1, l.v01*g0+l.v11*g1
		if size := math.Max(math.Abs(d0), math.Abs(d1)); size > maxChange {
			d0, d1 = d0*maxChange/size, d1*maxChange/size
		}
		l.intercept, l.slope = l.intercept+d0, l.slope+d1
		if math.Abs(d0)+math.Abs(d1) < enough {
			break
		}
	}
	return l
}
