package rating

import (
	"encoding/json"
	"fmt"
	"math"
)

// NormalizedScale is 800/ln 10: normalised Elo is this times the expected
// score above one half, in standard deviations of a single game. Near equality
// and with the variance of a game at 1/4, it agrees with logistic Elo.
const NormalizedScale = 800 / math.Ln10

// quantile95 bounds the middle 95 % of a standard normal distribution.
const quantile95 = 1.959963984540054

// Elo returns the logistic Elo difference that expects the score s in (0,1):
// −400·log10(1/s − 1). It is −Inf at 0 and +Inf at 1.
func Elo(s float64) float64 { return -400 * math.Log10(1/s-1) }

// ExpectedScore returns the score in (0,1) that a logistic Elo difference
// expects; it is the inverse of [Elo].
func ExpectedScore(elo float64) float64 { return 1 / (1 + math.Pow(10, -elo/400)) }

// Estimate is a rating difference with its 95 % interval. A match won or lost
// to nil has no finite rating: Valid is false then, and also without games.
// Where only the interval leaves the scale, Low is −Inf or High +Inf; both are
// so while all games or pairs ended alike, for there is no spread to measure by.
type Estimate struct {
	Value     float64 // Elo or normalised Elo
	Low, High float64 // ends of the 95 % interval
	Valid     bool    // Value means something
}

// Margin returns half the width of the interval, what is written after ±; it
// is false when the estimate is not valid or the interval not finite.
func (e Estimate) Margin() (float64, bool) {
	m := (e.High - e.Low) / 2
	return m, e.Valid && !math.IsInf(m, 0)
}

// String writes the estimate as "12.34 +/- 5.67", with "n/a" for what has no
// finite value.
func (e Estimate) String() string {
	if !e.Valid {
		return "n/a"
	}
	if m, ok := e.Margin(); ok {
		return fmt.Sprintf("%.2f +/- %.2f", e.Value, m)
	}
	return fmt.Sprintf("%.2f +/- n/a", e.Value)
}

// MarshalJSON writes value, low and high, with null for what has no finite
// value, which JSON numbers cannot say.
func (e Estimate) MarshalJSON() ([]byte, error) {
	finite := func(x float64) *float64 {
		if !e.Valid || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}{finite(e.Value), finite(e.Low), finite(e.High)})
}

// Elo returns the logistic Elo difference, with the interval from the spread
// of pairs.
func (p Pentanomial) Elo() Estimate {
	return p.sample().elo(hasElo(p.Games()), p.spread())
}

// NElo returns the normalised Elo difference from the spread of pairs. It is
// not valid while all pairs ended alike: there is no spread to measure by.
func (p Pentanomial) NElo() Estimate {
	return p.sample().nElo(p.spread())
}

// LOS returns the likelihood of superiority, the probability in [0,1] that the
// first player is the stronger one; ½ without pairs.
func (p Pentanomial) LOS() float64 { return p.sample().los() }

// hasElo reports whether both players have points.
func hasElo(t Trinomial) bool { return t[Draws] > 0 || t[Losses] > 0 && t[Wins] > 0 }

// spread reports whether at least two outcomes were seen.
func (p Pentanomial) spread() bool {
	seen := 0
	for _, n := range p.Five() {
		if n > 0 {
			seen++
		}
	}
	return seen > 1
}

func (s sample) elo(valid, spread bool) Estimate {
	if !valid {
		return Estimate{}
	}
	mean, variance := s.moments(&s.prob)
	if !spread {
		return Estimate{Value: Elo(mean), Low: math.Inf(-1), High: math.Inf(1), Valid: true}
	}
	reach := quantile95 * math.Sqrt(variance/s.total)
	return Estimate{
		Value: Elo(mean),
		Low:   Elo(math.Max(mean-reach, 0)),
		High:  Elo(math.Min(mean+reach, 1)),
		Valid: true,
	}
}

func (s sample) nElo(valid bool) Estimate {
	if !valid {
		return Estimate{}
	}
	mean, variance := s.moments(&s.prob)
	game := math.Sqrt(2 * variance) // standard deviation of one game
	value := NormalizedScale * (mean - 0.5) / game
	reach := NormalizedScale * quantile95 / math.Sqrt(2*s.total)
	return Estimate{Value: value, Low: value - reach, High: value + reach, Valid: true}
}

func (s sample) los() float64 {
	mean, variance := s.moments(&s.prob)
	return normalCDF((mean - 0.5) / math.Sqrt(variance/s.total))
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
