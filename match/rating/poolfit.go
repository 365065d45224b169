package rating

import (
	"fmt"
	"math"
)

// Anchor ties a player to a rating.
type Anchor struct {
	Player int     // index into [Pool.Players]
	Elo    float64 // the rating
	// SD is how sure that is: the standard deviation, in Elo, of a Gaussian
	// prior about it; 0 fixes the player there.
	SD float64
}

// PoolConfig says how a pool is rated. The zero value fits everything, with
// the mean of all players at 0.
type PoolConfig struct {
	// Anchors set the level of the ratings, at most one to a player. Without
	// any, the mean of all players is 0.
	Anchors []Anchor
	// FixWhite sets White's advantage to White, in Elo, instead of fitting it.
	FixWhite bool
	White    float64
	// PriorDraws is the number of draws, half of them with each colour, that
	// any two players who met are taken to have played besides. They give
	// finite ratings to those who won or lost everything.
	PriorDraws float64
}

// Validate returns an error that wraps [ErrPool] if settings are out of range for a pool
// of a number of players.
func (c *PoolConfig) Validate(players int) error {
	finite := func(x float64) bool { return math.Abs(x) <= maxPoolElo }
	seen := make(map[int]bool)
	for _, a := range c.Anchors {
		switch {
		case a.Player < 0 || a.Player >= players:
			return fmt.Errorf("%w: anchor of player %d, expected 0 to %d", ErrPool, a.Player, players-1)
		case seen[a.Player]:
			return fmt.Errorf("%w: two anchors of player %d, expected one", ErrPool, a.Player)
		case !finite(a.Elo) || !(a.SD == 0 || a.SD >= MinAnchorSD && a.SD <= MaxAnchorSD):
			return fmt.Errorf("%w: anchor at %g with deviation %g, expected within ±%g, and 0 or %g to %g", ErrPool, a.Elo, a.SD, maxPoolElo, MinAnchorSD, MaxAnchorSD)
		}
		seen[a.Player] = true
	}
	if c.FixWhite && !finite(c.White) {
		return fmt.Errorf("%w: White's advantage %g, expected within ±%g", ErrPool, c.White, maxPoolElo)
	}
	if !(c.PriorDraws >= 0 && c.PriorDraws <= maxPriorDraws) {
		return fmt.Errorf("%w: %g prior draws, expected 0 to %g", ErrPool, c.PriorDraws, float64(maxPriorDraws))
	}
	return nil
}

// Bounds of settings, beyond which floating point numbers give out.
const (
	maxPoolElo    = 1e5
	MinAnchorSD   = 0.1 // of the deviation of an anchor's rating that is not fixed, Elo
	MaxAnchorSD   = 1e4
	maxPriorDraws = 1e6
)

// Ratings are the ratings that explain the games of a pool best.
//
// The model is Bradley's and Terry's on the scale of 400 points: White's
// expected score is p = 1/(1+10^(−x/400)), x = White's rating + White's
// advantage − Black's rating. A draw is half a win and half a loss, so that at
// the solution every player without an anchor has scored what was expected of
// it. Draws follow Davidson: their probability D is proportional to
// √(win·loss), at an expected score that stays p. The one factor is such that
// the draws of all games together are as many as expected.
type Ratings struct {
	Elo []float64 // by player
	// Errors are those of Elo: the inverse Hessian of the likelihood, narrowed
	// for draws, whose score varies less than the Hessian takes it to, by
	// D/4 of p(1−p). Games are taken as independent.
	Errors Covariance
	// Priors is the part of Errors that comes of the deviations of anchors. Games played
	// anew would not change it.
	Priors Covariance

	White   float64 // White's advantage, Elo
	WhiteSD float64 // its standard deviation; 0 if it was fixed
	// DrawRate is the probability in [0,1] that players with equal chances draw.
	DrawRate float64

	whitePriors float64 // of WhiteSD's variance, the part that comes of the deviations of anchors
}

// Fit rates the players. An error wraps [ErrPool], [ErrUnconnected] or
// [ErrWhiteAdvantage].
func (p *Pool) Fit(c PoolConfig) (*Ratings, error) {
	if err := c.Validate(len(p.names)); err != nil {
		return nil, err
	}
	if len(p.results) == 0 {
		return nil, fmt.Errorf("%w: no games", ErrPool)
	}
	m := newModel(p, c, p.tallies())
	if err := m.connected(); err != nil {
		return nil, err
	}
	x, err := m.solve(m.start())
	if err != nil {
		return nil, err
	}
	return m.ratings(x)
}

// Interval returns a player's rating with its 95 % interval: against the mean
// of the pool, or against the anchors if there are any.
func (r *Ratings) Interval(player int, errors Covariance) Estimate {
	return interval(r.Elo[player], errors.SD(player))
}

// Superiority returns the probability in [0,1] that player is the stronger one
// of the two, ½ if nothing tells them apart.
func (r *Ratings) Superiority(player, other int, errors Covariance) float64 {
	difference, sd := r.Elo[player]-r.Elo[other], errors.DifferenceSD(player, other)
	if difference == 0 {
		return 0.5
	}
	return normalCDF(difference / sd) // both ends fixed: 0 or 1
}

// WhiteInterval returns White's advantage with its 95 % interval.
func (r *Ratings) WhiteInterval() Estimate { return interval(r.White, r.WhiteSD) }

func interval(value, sd float64) Estimate {
	return Estimate{Value: value, Low: value - quantile95*sd, High: value + quantile95*sd, Valid: true}
}

// Covariance is that of the errors of ratings.
type Covariance struct {
	n      int
	values []float64 // Elo², n rows of n
}

// noCovariance is that of ratings without errors.
func noCovariance(players int) Covariance {
	return Covariance{players, make([]float64, players*players)}
}

// SD returns the standard deviation of a player's rating, in Elo.
func (c *Covariance) SD(player int) float64 {
	return math.Sqrt(max(c.values[player*c.n+player], 0))
}

// DifferenceSD returns the standard deviation, in Elo, of the difference of two
// players' ratings.
func (c *Covariance) DifferenceSD(a, b int) float64 {
	v := c.values[a*c.n+a] + c.values[b*c.n+b] - c.values[a*c.n+b] - c.values[b*c.n+a]
	return math.Sqrt(max(v, 0))
}

// davidson returns the probability of a draw at the expected score p of White,
// if that of players with equal chances is even: the root D of
// D² = ν²·(p−D/2)·(1−p−D/2), ν = 2·even/(1−even).
func davidson(p, even float64) float64 {
	if even <= 0 {
		return 0
	}
	nu := 2 * even / (1 - even)
	spread := p * (1 - p)
	// With ν² divided out, (1/ν²−1/4)·D² + D/2 − p(1−p) = 0.
	return 2 * spread / (0.5 + math.Sqrt(max(0.25-spread+4*spread/(nu*nu), 0)))
}
