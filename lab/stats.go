package lab

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// confidence of intervals, and the power that a statement about what would have been seen
// is made for.
const (
	confidence = 0.95
	power      = 0.8
)

// resamples is how often openings are drawn anew.
const resamples = 400

// priorDraws is how many draws two players are taken to have played besides, so that who
// lost every game has a rating.
const priorDraws = 1

// Scores are the results of the games of two players from A's side: of each opening one
// with A as White and one as Black.
type Scores struct {
	Seed, A, B int
	Pairs      [][2]rating.Outcome
}

// Field is the players of a stage and what they scored.
type Field struct {
	Rows    int        // players 0 to Rows-1 have a net for each seed
	Players int        // the others are the same for every seed
	Seeds   int        // nets of a row
	Given   []*float64 // by player: its rating, or nil
	SD      []float64  // by player: how sure Given is, its standard deviation; 0 fixes it
	Scores  []Scores
}

// Rating is a row's, pooled over its seeds.
type Rating struct {
	Elo   float64   `json:"elo"`
	Low   float64   `json:"low"`      // ends of the 95 % interval
	High  float64   `json:"high"`     //
	Games float64   `json:"sd_games"` // standard deviation by openings drawn anew
	Seeds []float64 `json:"by_seed"`
}

// Margin is half of the interval.
func (r *Rating) Margin() float64 { return (r.High - r.Low) / 2 }

// Difference is that of two rows, A less B.
type Difference struct {
	A        int     `json:"a"`
	B        int     `json:"b"`
	Elo      float64 `json:"elo"`
	Low      float64 `json:"low"` // ends of the 95 % interval, not corrected
	High     float64 `json:"high"`
	P        float64 `json:"p"`        // of no difference
	Adjusted float64 `json:"p_holm"`   // the same, corrected for all pairs of rows
	Found    bool    `json:"found"`    // Adjusted is below 5 %
	Score    float64 `json:"score"`    // of A in the games of the two
	Pairs    int     `json:"pairs"`    // of their games
	Detected float64 `json:"detected"` // Elo that would have been found with probability 0.8
}

// Ratings is what the games of a stage say.
type Ratings struct {
	Absolute    bool         `json:"absolute"` // anchors have given ratings; else the mean of the rows is 0
	Rows        []Rating     `json:"rows"`
	Anchors     []Rating     `json:"anchors"`
	SeedSD      float64      `json:"sd_seeds"` // between nets of a row, beyond what games explain, and what a seed does to all rows
	Freedom     int          `json:"degrees_of_freedom"`
	Differences []Difference `json:"differences"`
	// Detected is the difference, in Elo, that would have been found with probability
	// 0.8 between two rows in the middle, after the correction.
	Detected float64 `json:"detected"`
	Seeds    int     `json:"seeds"`

	common [][]float64  // part of every seedRatings.spread that is common to the seeds
	apart  betweenSeeds // of SeedSD
}

// Rate rates a field; see the package comment. The error wraps rating.ErrPool if games
// give no ratings.
func Rate(ctx context.Context, f *Field, seed uint64) (*Ratings, error) {
	r := &Ratings{Seeds: f.Seeds}
	for _, given := range f.Given {
		r.Absolute = r.Absolute || given != nil
	}
	by, err := r.rate(ctx, f, seed)
	if err != nil {
		return nil, err
	}
	if !r.Absolute {
		for s := range by {
			level := mean(by[s].elo[:f.Rows])
			for i := range by[s].elo {
				by[s].elo[i] -= level
			}
		}
	}
	r.pool(f, by)
	r.compare(f, by)
	return r, nil
}

// pool makes ratings of rows from those of their nets.
func (r *Ratings) pool(f *Field, by []seedRatings) {
	r.Freedom = (f.Rows - 1) * (f.Seeds - 1)
	if r.Freedom > 0 {
		left, games := r.residual(f, by)
		r.apart = newBetweenSeeds(left, games, float64(r.Freedom))
		r.SeedSD = r.apart.sd
	}
	// What a seed does to all rows stays in a rating on the scale of anchors, and in an
	// anchor's on the scale of the rows.
	var onScale betweenSeeds
	if r.Absolute {
		onScale = r.within(f, by, 0, f.Rows)
	} else {
		onScale = r.within(f, by, f.Rows, f.Players)
	}
	if f.Rows == 1 {
		r.SeedSD, r.Freedom = onScale.sd, f.Seeds-1
	}
	n := float64(f.Seeds)
	for i := range f.Players {
		var own Rating
		variance, given := (1-1/n)*r.levelVariance(f, r.common, i), 0.0
		for s := range by {
			own.Seeds = append(own.Seeds, by[s].elo[i])
			variance += r.levelVariance(f, by[s].spread, i) / (n * n)
			given += by[s].priors[i][i] / n // a mean over seeds does not lower it
		}
		own.Elo, own.Games = mean(own.Seeds), math.Sqrt(variance)
		variance += given
		var e spread
		switch isRow := i < f.Rows; {
		case isRow == r.Absolute:
			e = onScale.spread(variance, 1/n)
		case isRow:
			e = r.apart.spread(variance, (1-1/float64(f.Rows))/n)
		default: // an anchor among anchors: that of nets cancels
			e = onScale.spread(variance, 0)
		}
		reach := e.quantile(1-(1-confidence)/2) * e.sd()
		own.Low, own.High = own.Elo-reach, own.Elo+reach
		if i < f.Rows {
			r.Rows = append(r.Rows, own)
		} else {
			r.Anchors = append(r.Anchors, own)
		}
	}
}

// levelVariance is that of a player's rating: on the scale of the anchors its own; else that
// of its difference from the mean of the rows, by the variances D of differences
// Σ_j D_ij/R − Σ_jk D_jk/(2R²).
func (r *Ratings) levelVariance(f *Field, spread [][]float64, i int) float64 {
	if r.Absolute {
		return spread[i][i]
	}
	n := float64(f.Rows)
	variance := 0.0
	for j := range f.Rows {
		if j != i {
			variance += spread[i][j] / n
		}
		for k := range f.Rows {
			if k != j {
				variance -= spread[j][k] / (2 * n * n)
			}
		}
	}
	return max(variance, 0)
}

// within returns the spread between the seeds of ratings of players, from first to before end:
// the mean of each one's variance. What a seed does to all of them has a degree of freedom for
// each seed but one, whatever their number, and what it does to each as many for each player but
// one. Together they have those of Satterthwaite's approximation.
func (r *Ratings) within(f *Field, by []seedRatings, first, end int) betweenSeeds {
	n, seeds := float64(end-first), float64(f.Seeds)
	if n == 0 || seeds < 2 {
		return betweenSeeds{}
	}
	var left, games float64
	level := make([]float64, f.Seeds) // means of the players
	for i := first; i < end; i++ {
		var own []float64
		for s := range by {
			own = append(own, by[s].elo[i])
			level[s] += by[s].elo[i] / n
			games += (r.levelVariance(f, by[s].spread, i) - r.levelVariance(f, r.common, i)) / (n * seeds)
		}
		left += math.Pow(deviation(own), 2) / n
	}
	all := math.Pow(deviation(level), 2)
	inverse := all * all // of the degrees of freedom, times the square of left and seeds less 1
	if n > 1 {
		inverse += (left - all) * (left - all) / (n - 1)
	}
	if inverse == 0 { // no spread at all
		return betweenSeeds{}
	}
	return newBetweenSeeds(left, games, left*left*(seeds-1)/inverse)
}

// residual returns what tells the spread between nets of a row: the mean square of what is left
// of ratings when means of rows and of seeds are taken out, and the part of it that games explain: half
// the mean variance of a difference, less what is common to the seeds, which the means of rows hold.
func (r *Ratings) residual(f *Field, by []seedRatings) (left, games float64) {
	rows, seeds := make([]float64, f.Rows), make([]float64, f.Seeds)
	all := 0.0
	for s := range by {
		for i := range f.Rows {
			e := by[s].elo[i]
			rows[i] += e / float64(f.Seeds)
			seeds[s] += e / float64(f.Rows)
			all += e / float64(f.Rows*f.Seeds)
		}
	}
	pairs := 0
	for s := range by {
		for i := range f.Rows {
			d := by[s].elo[i] - rows[i] - seeds[s] + all
			left += d * d
			for j := range i {
				games += (by[s].spread[i][j] - r.common[i][j]) / 2
				pairs++
			}
		}
	}
	return left / float64((f.Rows-1)*(f.Seeds-1)), games / float64(max(pairs, 1))
}

// spread is that of a rating or of a difference.
type spread struct {
	games, seeds float64 // variances
	freedom      float64 // degrees of
}

// betweenSeeds is the spread of ratings between seeds.
type betweenSeeds struct {
	left    float64 // mean square
	sd      float64 // beyond what games explain of it
	freedom float64 // degrees of, that tell left
}

func newBetweenSeeds(left, games, freedom float64) betweenSeeds {
	return betweenSeeds{left, math.Sqrt(max(left-games, 0)), freedom}
}

// spread is that of what has a variance by games and that of a number of nets. By
// Satterthwaite's approximation there are more degrees of freedom where games, which
// many openings tell, make up for a small left.
func (b betweenSeeds) spread(games, nets float64) spread {
	e := spread{games, nets * b.sd * b.sd, manyFreedom}
	if seen := nets * b.left; seen > 0 {
		share := (e.games + e.seeds) / seen
		e.freedom = min(manyFreedom, b.freedom*max(share*share, 1))
	}
	return e
}

// manyFreedom is as good as normal.
const manyFreedom = 10_000

func (e *spread) sd() float64 { return math.Sqrt(e.games + e.seeds) }

func (e *spread) student() distuv.StudentsT { return distuv.StudentsT{Sigma: 1, Nu: e.freedom} }

func (e *spread) quantile(q float64) float64 { return e.student().Quantile(q) }

// pValue is the probability of a difference as large as found, if there is none.
func (e *spread) pValue(elo float64) float64 {
	if e.sd() == 0 {
		return 1
	}
	return 2 * e.student().CDF(-math.Abs(elo)/e.sd())
}

// compare fills in the differences of all rows.
func (r *Ratings) compare(f *Field, by []seedRatings) {
	n := float64(f.Seeds)
	tests := f.Rows * (f.Rows - 1) / 2
	for i := range f.Rows {
		for j := i + 1; j < f.Rows; j++ {
			games := (1 - 1/n) * r.common[i][j]
			for s := range by {
				games += by[s].spread[i][j]/(n*n) + by[s].priors[i][j]/n
			}
			e := r.apart.spread(games, 2/n)
			d := Difference{A: i, B: j, Elo: r.Rows[i].Elo - r.Rows[j].Elo}
			reach := e.quantile(1-(1-confidence)/2) * e.sd()
			d.Low, d.High = d.Elo-reach, d.Elo+reach
			d.P = e.pValue(d.Elo)
			d.Detected = (e.quantile(1-(1-confidence)/2/float64(tests)) + e.quantile(power)) * e.sd()
			d.Score, d.Pairs = f.score(i, j)
			r.Differences = append(r.Differences, d)
		}
	}
	holm(r.Differences)
	var detected []float64
	for i := range r.Differences {
		detected = append(detected, r.Differences[i].Detected)
	}
	r.Detected = median(detected)
}

// score is that of two rows against each other, over all seeds.
func (f *Field) score(a, b int) (score float64, pairs int) {
	var sum rating.Pentanomial
	for i := range f.Scores {
		if m := &f.Scores[i]; m.A == a && m.B == b {
			for _, pair := range m.Pairs {
				sum.Add(pair[0], pair[1])
			}
		}
	}
	score, _ = sum.Games().Score()
	return score, sum.Pairs()
}

// share is that of the points which a row has made in all its games.
func (f *Field) share(row int) float64 {
	var sum rating.Pentanomial
	for i := range f.Scores {
		m := &f.Scores[i]
		for _, pair := range m.Pairs {
			switch row {
			case m.A:
				sum.Add(pair[0], pair[1])
			case m.B:
				sum.Add(rating.Win-pair[0], rating.Win-pair[1])
			}
		}
	}
	share, _ := sum.Games().Score()
	return share
}

// holm corrects p values for their number: the k-th smallest of m, from 0, is multiplied by
// m−k, and none gets below those before it.
func holm(list []Difference) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case list[a].P < list[b].P:
			return -1
		case list[a].P > list[b].P:
			return 1
		}
		return 0
	})
	least := 0.0
	for k, i := range order {
		least = min(1, max(least, list[i].P*float64(len(list)-k)))
		list[i].Adjusted, list[i].Found = least, least < 1-confidence
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// deviation is the standard deviation of values; 0 of fewer than two.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}
