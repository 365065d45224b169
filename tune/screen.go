package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// ErrTooFew says that the pairs played do not tell the parameters apart.
var ErrTooFew = errors.New("tune: too few pairs for the parameters")

// Factor is a parameter with the two levels that a Screen compares.
type Factor struct {
	Key  string `json:"key"`
	Low  string `json:"low"`
	High string `json:"high"`
}

// String names the comparison.
func (f Factor) String() string { return fmt.Sprintf("%s %s -> %s", f.Key, f.Low, f.High) }

// Screen is a factorial experiment. In every pair each factor is at one of its levels
// for A, by chance, and at the other one for B, so that every game measures every
// factor. A least-squares fit of the results on the levels gives all main effects.
// Each has the error that a match of that factor alone would have if it had all the
// games, but for the spread that the other factors add. What two factors do together
// beyond the sum of both is not seen: it averages out. Elo is taken as linear in the
// score, so effects of more than about 100 Elo come out too small.
type Screen struct {
	Factors []Factor
}

func (s *Screen) validate() error {
	if len(s.Factors) == 0 {
		return fmt.Errorf("%w: no factors, expected 1 or more", ErrConfig)
	}
	seen := map[string]bool{}
	for _, f := range s.Factors {
		if seen[f.Key] || f.Low == f.High {
			return fmt.Errorf("%w: %v: found twice or with equal levels, expected once, with two levels", ErrConfig, f)
		}
		seen[f.Key] = true
	}
	return nil
}

func (s *Screen) settings() map[string]string {
	all := map[string]string{"method": "screen"}
	for _, f := range s.Factors {
		all["parameter "+f.Key] = f.Low + " or " + f.High
	}
	return all
}

// Effect is what the high level of a factor is worth against the low one.
type Effect struct {
	Factor
	Elo rating.Estimate `json:"elo"`
}

// Effects are those of all factors, the greatest first.
type Effects struct {
	Pairs   int      `json:"pairs"` // played
	Effects []Effect `json:"effects"`
}

// Run plays the pairs, or those that are missing if there is a state, and returns the
// effects. If it was stopped they are those of the pairs played, if these suffice. A
// run that was played to its end may be continued with more pairs. Errors: [ErrConfig],
// [ErrOtherSettings], [ErrBadState], [ErrTooFew], those of Play, of the context and
// of the file.
func (s *Screen) Run(ctx context.Context, c Config) (Effects, error) {
	if err := s.validate(); err != nil {
		return Effects{}, err
	}
	r, err := c.begin(s.settings())
	if err != nil {
		return Effects{}, err
	}
	playErr := r.play(ctx, 0, c.Pairs, func(pair int) (a, b Values) { return s.sides(s.signs(&c, pair)) })
	effects, err := s.fit(r)
	return effects, errors.Join(cmp.Or(playErr, err), r.save())
}

// signs draws the levels of a pair: 1 where A has the high one, −1 where B has.
func (s *Screen) signs(c *Config, pair int) []float64 {
	rng := c.random(pair)
	signs := make([]float64, len(s.Factors))
	for i := range signs {
		signs[i] = float64(sign(rng))
	}
	return signs
}

func (s *Screen) sides(signs []float64) (a, b Values) {
	a, b = Values{}, Values{}
	for i, f := range s.Factors {
		a[f.Key], b[f.Key] = f.High, f.Low
		if signs[i] < 0 {
			a[f.Key], b[f.Key] = f.Low, f.High
		}
	}
	return a, b
}

// eloOfScore is how many Elo a score above one half by 1 would be if Elo were linear,
// as it is near one half: 1600 / ln 10.
const eloOfScore = 1600 / math.Ln10

// fit is ordinary least squares of A's score less one half, y, on the signs X of the
// finished pairs: β = (XᵀX)⁻¹Xᵀy with the covariance σ²(XᵀX)⁻¹, where σ² is the sum of
// squared residuals over pairs − factors. β is what a factor adds to A's score. There is
// no constant: A plays both colours, so without effects it scores one half.
func (s *Screen) fit(r *run) (Effects, error) {
	n := len(s.Factors)
	effects := Effects{Pairs: r.finished}
	normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	squares := 0.0 // yᵀy
	for pair := range r.results {
		points, ok := r.points(pair)
		if !ok {
			continue
		}
		y := float64(points)/4 - 0.5
		signs := mat.NewVecDense(n, s.signs(r.cfg, pair))
		normal.SymRankOne(normal, 1, signs)
		right.AddScaledVec(right, y, signs)
		squares += y * y
	}
	var factors mat.Cholesky
	if r.finished <= n || !factors.Factorize(normal) {
		return effects, fmt.Errorf("%w: found %d pairs for %d, expected several times as many", ErrTooFew, r.finished, n)
	}
	var beta mat.VecDense
	var inverse mat.SymDense
	if err := errors.Join(factors.SolveVecTo(&beta, right), factors.InverseTo(&inverse)); err != nil {
		return effects, fmt.Errorf("%w: %w", ErrTooFew, err)
	}
	variance := max(0, squares-mat.Dot(&beta, right)) / float64(r.finished-n)
	for i, f := range s.Factors {
		elo := beta.AtVec(i) * eloOfScore
		margin := 1.96 * math.Sqrt(variance*inverse.At(i, i)) * eloOfScore
		effects.Effects = append(effects.Effects, Effect{f, rating.Estimate{Value: elo, Low: elo - margin, High: elo + margin, Valid: true}})
	}
	slices.SortStableFunc(effects.Effects, func(a, b Effect) int { return cmp.Compare(b.Elo.Value, a.Elo.Value) })
	return effects, nil
}

// Figure draws the effects with their errors.
func (e *Effects) Figure() *figure.Figure {
	v := &figure.Intervals{Title: fmt.Sprintf("%d pairs", e.Pairs), XLabel: "Elo, 95 %"}
	for _, x := range e.Effects {
		v.Names, v.Values = append(v.Names, x.String()), append(v.Values, x.Elo.Value)
		v.Low, v.High = append(v.Low, x.Elo.Low), append(v.High, x.Elo.High)
	}
	return &figure.Figure{Title: "effects of parameters", Rows: [][]figure.Panel{{v}}}
}
