package rating

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Resampling is what rating a pool again and again with its blocks drawn anew
// has shown.
type Resampling struct {
	Errors  Covariance // of the ratings
	WhiteSD float64    // standard deviation of White's advantage, Elo
	Done    int        // samples the errors rest on
	// Failed are samples left out because they gave no finite ratings: someone
	// won or lost every game drawn. If they are many, errors are too small.
	Failed int
}

// Resample measures the errors of the ratings that fit, with the same c, gave:
// as many blocks as there are are drawn with replacement and rated, samples
// times, and the spread of the ratings is taken. It needs no model of draws
// and keeps what hangs together within a block, as a pair of games does by its
// opening. Drawing games anew does not show what the deviations of anchors do: the part of
// the fit's errors that comes of them, Priors, is added to the spread. The samples follow from rng. An error wraps [ErrPool], or is that of
// ctx.
func (p *Pool) Resample(ctx context.Context, c PoolConfig, fit *Ratings, samples int, rng *rand.Rand) (*Resampling, error) {
	if err := c.Validate(len(p.names)); err != nil {
		return nil, err
	}
	n := len(p.names)
	if len(fit.Elo) != n || fit.Priors.n != n {
		return nil, fmt.Errorf("%w: ratings of %d players, expected %d", ErrPool, len(fit.Elo), n)
	}
	r := &Resampling{}
	var ratings [][]float64 // of each sample, White's advantage behind them
	for range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := newModel(p, c, p.draw(rng))
		x := m.parameters(fit)
		if m.connected() != nil {
			r.Failed++
			continue
		}
		x, err := m.solve(x)
		if err != nil {
			r.Failed++
			continue
		}
		ratings = append(ratings, append(m.elo(x), m.advantage(x)*eloUnit))
	}
	r.Done = len(ratings)
	if r.Done < 2 {
		return nil, fmt.Errorf("%w: %d of %d samples had finite ratings, expected two or more", ErrPool, r.Done, samples)
	}
	cov := covariance(ratings)
	r.Errors = noCovariance(n)
	for i := range n {
		for j := range n {
			r.Errors.values[i*n+j] = cov[i*(n+1)+j] + fit.Priors.values[i*n+j]
		}
	}
	r.WhiteSD = math.Sqrt(cov[len(cov)-1] + fit.whitePriors)
	return r, nil
}

// WhiteInterval returns White's advantage as fitted, with its 95 % interval by
// resampling.
func (r *Resampling) WhiteInterval(fit *Ratings) Estimate { return interval(fit.White, r.WhiteSD) }

// draw counts the outcomes of as many blocks as there are, drawn with
// replacement, by edge.
func (p *Pool) draw(rng *rand.Rand) []Trinomial {
	counts := make([]Trinomial, len(p.edges))
	for range p.ends {
		block := rng.IntN(len(p.ends))
		from := 0
		if block > 0 {
			from = p.ends[block-1]
		}
		for _, r := range p.results[from:p.ends[block]] {
			counts[r.edge][r.outcome]++
		}
	}
	return counts
}

// parameters returns those of ratings known, to begin a search from.
func (m *model) parameters(r *Ratings) []float64 {
	x := make([]float64, m.size)
	for i, column := range m.column {
		if column >= 0 {
			x[column] = r.Elo[i] / eloUnit
		}
	}
	if m.white >= 0 {
		x[m.white] = r.White / eloUnit
	}
	return x
}

// covariance returns that of the columns of rows of equal length, unbiased, as
// a square of the columns.
func covariance(rows [][]float64) []float64 {
	n := len(rows[0])
	mean := make([]float64, n)
	for _, row := range rows {
		for i, v := range row {
			mean[i] += v / float64(len(rows))
		}
	}
	cov := make([]float64, n*n)
	deviation := make([]float64, n)
	for _, row := range rows {
		for i, v := range row {
			deviation[i] = v - mean[i]
		}
		for i, a := range deviation {
			for j, b := range deviation {
				cov[i*n+j] += a * b / float64(len(rows)-1)
			}
		}
	}
	return cov
}
