package rating

import (
	"errors"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/check"
)

// ErrSPRT is wrapped by every error about the parameters of a sequential test.
var ErrSPRT = errors.New("rating: bad sequential test")

// SPRT is a sequential test between H0, "the first player is better by Elo0",
// and H1, "better by Elo1". Hypotheses are logistic Elo, or normalised Elo if
// Normalized is set.
type SPRT struct {
	Elo0       float64 `json:"elo0"`
	Elo1       float64 `json:"elo1"`
	Alpha      float64 `json:"alpha"` // wanted probability of accepting H1 when H0 holds, in (0,1)
	Beta       float64 `json:"beta"`  // wanted probability of accepting H0 when H1 holds, in (0,1)
	Normalized bool    `json:"normalized"`
}

// Bounds of the hypotheses. Beyond 1000 Elo an expected score is so near to 0
// or 1 that likelihoods say nothing; beyond 200 normalised Elo the iteration
// that finds them is not sure to start.
const (
	maxHypothesis           = 1000
	maxNormalizedHypothesis = 200
)

// Validate returns errors wrapping [ErrSPRT] unless Elo0 < Elo1, both within
// ±1000 (±200 if normalised), and Alpha and Beta are positive with a sum below 1.
func (t SPRT) Validate() error {
	limit := float64(maxHypothesis)
	if t.Normalized {
		limit = maxNormalizedHypothesis
	}
	wrong := check.Of(ErrSPRT)
	check.Within(wrong, "elo0", t.Elo0, -limit, limit)
	check.Within(wrong, "elo1", t.Elo1, -limit, limit)
	wrong.That(t.Elo0 < t.Elo1, "elo0", t.Elo0, fmt.Sprintf("less than elo1, %g", t.Elo1))
	wrong.That(t.Alpha > 0, "alpha", t.Alpha, "a number above 0")
	wrong.That(t.Beta > 0, "beta", t.Beta, "a number above 0")
	wrong.That(t.Alpha+t.Beta < 1, "alpha", t.Alpha, fmt.Sprintf("less than 1 together with beta, %g", t.Beta))
	return wrong.Err()
}

// Decision is what a sequential test says of the results so far.
type Decision int

// The decisions: go on, or stop with one hypothesis accepted.
const (
	Continue Decision = iota
	AcceptH0
	AcceptH1
)

var decisionNames = [...]string{Continue: "continue", AcceptH0: "H0", AcceptH1: "H1"}

// String returns "continue", "H0" or "H1".
func (d Decision) String() string { return decisionNames[d] }

// MarshalText returns what String returns.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Bounds returns Wald's bounds of the log-likelihood ratio: H0 is accepted at
// or below lower = ln(β/(1−α)), H1 at or above upper = ln((1−β)/α).
func (t SPRT) Bounds() (lower, upper float64) {
	return math.Log(t.Beta / (1 - t.Alpha)), math.Log((1 - t.Beta) / t.Alpha)
}

// Status returns the decision at a log-likelihood ratio.
func (t SPRT) Status(llr float64) Decision {
	lower, upper := t.Bounds()
	switch {
	case llr >= upper:
		return AcceptH1
	case llr <= lower:
		return AcceptH0
	}
	return Continue
}

// ExpectedLength predicts the test when the first player is truly better by
// elo (on the test's own scale): the probability of accepting H1, and the mean
// number of pairs until a decision. pairVariance is the variance of a pair's
// score in [0,1], as [OpeningVariance] gives it; a normalised test does not
// depend on it. The log-likelihood ratio is taken for a Brownian motion, so
// the overshoot of the last pair is left out.
func (t SPRT) ExpectedLength(elo, pairVariance float64) (acceptH1, pairs float64) {
	s, s0, s1 := ExpectedScore(elo), ExpectedScore(t.Elo0), ExpectedScore(t.Elo1)
	if t.Normalized {
		s, s0, s1 = deviations(elo), deviations(t.Elo0), deviations(t.Elo1)
		pairVariance = 1
	}
	drift := (s - (s0+s1)/2) * (s1 - s0) / pairVariance
	variance := (s1 - s0) * (s1 - s0) / pairVariance
	lower, upper := t.Bounds()
	h := 2 * drift / variance
	if math.Abs(h) < 1e-6 { // no drift: the limit of the formulas below
		return -lower / (upper - lower), -lower * upper / variance
	}
	acceptH1 = math.Expm1(-h*lower) / (math.Expm1(-h*lower) - math.Expm1(-h*upper))
	return acceptH1, (lower + (upper-lower)*acceptH1) / drift
}

// OpeningVariance returns the variance of a pair's score between equal players
// from openings where White wins, draws and loses with these probabilities.
func OpeningVariance(win, draw, loss float64) float64 {
	total := win + draw + loss
	mean := (win + draw/2) / total
	return ((win+draw/4)/total - mean*mean) / 2
}
