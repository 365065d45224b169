package lab

import (
	"context"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// seedRatings are the ratings of a seed's games, and the variances of differences: of two
// players, or of a player with itself that of its own rating.
type seedRatings struct {
	elo    []float64
	spread [][]float64 // when openings are drawn anew
	priors [][]float64 // by the errors of given ratings, which are the same ones in every seed
}

// rate rates the games of all seeds, each net a player of its own, as is each anchor for every
// seed. All games of an opening are a block, which is drawn as a whole: all seeds play the same
// openings, so what one does to a row in each of them does not average out. A spread is at
// least that by the curvature of the likelihood: of a player that lost every game, all drawings
// are alike and would tell of no error at all.
func (r *Ratings) rate(ctx context.Context, f *Field, seed uint64) ([]seedRatings, error) {
	var pool rating.Pool
	for _, block := range f.blocks() {
		if err := pool.Add(block...); err != nil {
			return nil, err
		}
	}
	cfg := rating.PoolConfig{PriorDraws: priorDraws}
	index := make([][]int, f.Seeds)
	for s := range index {
		for i := range f.Players {
			k, ok := pool.Player(playerName(s, i))
			if !ok {
				return nil, fmt.Errorf("%w: player %d has no games of seed %d", rating.ErrPool, i, s+1)
			}
			index[s] = append(index[s], k)
			if f.Given[i] != nil {
				cfg.Anchors = append(cfg.Anchors, rating.Anchor{Player: k, Elo: *f.Given[i], SD: f.SD[i]})
			}
		}
		if !r.Absolute && f.Seeds > 1 { // no games lead from one seed to another; Rate sets the level
			cfg.Anchors = append(cfg.Anchors, rating.Anchor{Player: index[s][0]})
		}
	}
	fit, err := pool.Fit(cfg)
	if err != nil {
		return nil, err
	}
	drawn, err := pool.Resample(ctx, cfg, fit, resamples, newRand(seed))
	if err != nil {
		return nil, err
	}
	by := make([]seedRatings, f.Seeds)
	for s := range by {
		by[s] = seedRatings{make([]float64, f.Players), square(f.Players), square(f.Players)}
		for i, a := range index[s] {
			by[s].elo[i] = fit.Elo[a]
			for j, b := range index[s] {
				variance := func(c *rating.Covariance) float64 {
					sd := c.SD(a)
					if i != j {
						sd = c.DifferenceSD(a, b)
					}
					return sd * sd
				}
				by[s].priors[i][j] = variance(&fit.Priors)
				by[s].spread[i][j] = max(variance(&drawn.Errors), variance(&fit.Errors), by[s].priors[i][j]) - by[s].priors[i][j]
			}
		}
	}
	r.common = commonSpread(f, index, &drawn.Errors)
	return by, nil
}

// blocks are the games by opening.
func (f *Field) blocks() (blocks [][]rating.PoolGame) {
	for i := range f.Scores {
		m := &f.Scores[i]
		a, b := playerName(m.Seed, m.A), playerName(m.Seed, m.B)
		for k, pair := range m.Pairs {
			if k == len(blocks) {
				blocks = append(blocks, nil)
			}
			blocks[k] = append(blocks[k],
				rating.PoolGame{White: a, Black: b, Result: pair[0]},
				rating.PoolGame{White: b, Black: a, Result: rating.Win - pair[1]})
		}
	}
	return blocks
}

func playerName(seed, player int) string { return fmt.Sprint(seed, player) }

// square makes a number for every two players.
func square(players int) [][]float64 {
	m := make([][]float64, players)
	for i := range m {
		m[i] = make([]float64, players)
	}
	return m
}

// commonSpread returns the part of spreads that is common to the seeds: the mean covariance of a
// difference of two players in one seed with that in another, or of a player's own rating.
func commonSpread(f *Field, index [][]int, errors *rating.Covariance) [][]float64 {
	cov := func(a, b int) float64 {
		own, other, difference := errors.SD(a), errors.SD(b), errors.DifferenceSD(a, b)
		return (own*own + other*other - difference*difference) / 2
	}
	common := square(f.Players)
	pairs := float64(f.Seeds*(f.Seeds-1)) / 2
	for i := range common {
		for j := range common {
			for s, a := range index {
				for _, b := range index[:s] {
					c := cov(a[i], b[i])
					if i != j {
						c += cov(a[j], b[j]) - cov(a[i], b[j]) - cov(a[j], b[i])
					}
					common[i][j] += c / pairs
				}
			}
			common[i][j] = max(common[i][j], 0)
		}
	}
	return common
}
