package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// DefaultRate is the rate that fishtest recommends.
const DefaultRate = 0.002

// Number is a parameter whose value is a whole number from Low to High.
type Number struct {
	Key       string
	Low, High int
	Start     float64
	// Step is fishtest's c_end: how far from the present value both sides of the
	// last pair play, one above it and one below. Earlier pairs are further out.
	Step float64
	// Rate is fishtest's r_end. After the last pair the value would move by
	// Rate·Step for each game that A has won more than B.
	Rate float64
}

// DefaultStep is a twentieth of the range, and no less than makes the two sides of
// every pair differ.
func DefaultStep(low, high int) float64 { return max(0.5, float64(high-low)/20) }

// SPSA is simultaneous perturbation stochastic approximation: every pair perturbs all
// numbers at once, each up or down by chance, and moves them towards the side that
// won. (Spall, Implementation of the simultaneous perturbation algorithm for
// stochastic optimization, 1998.)
//
// The schedule is that of fishtest, Stockfish's testing framework. With N pairs,
// A = N/10, α = 0.602, γ = 0.101, and c_end and r_end of a number, pair k from 1 to N
// has
//
//	c_k = c / k^γ        c = c_end · N^γ
//	a_k = a / (A+k)^α    a = r_end · c_end² · (A+N)^α
//
// A plays with θ + c_k·Δ, B with θ − c_k·Δ, where Δ is −1 or 1. After the pair θ moves
// by a_k/c_k · Δ · (games won − games lost by A), within its range. Spall's estimate of
// the gradient is that difference divided by 2·c_k·Δ; the 2 is part of a here. The two
// values are rounded up or down by the same random fraction, so that steps below 1
// count too.
//
// Batch pairs at a time are played from the same θ. Their results are applied in the
// order of their numbers, each with its own c_k, a_k and Δ.
type SPSA struct {
	Numbers []Number
	Batch   int // 1 or more
	// OnBatch, if not nil, is called after every batch with the number of pairs
	// applied and the values then. OnPair is not called meanwhile.
	OnBatch func(pairs int, values []float64)
}

// Exponents of the schedule, and the share of the pairs in A.
const (
	alpha     = 0.602
	gamma     = 0.101
	stability = 0.1
)

func (s *SPSA) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrConfig, fmt.Errorf(format, args...))
	}
	if len(s.Numbers) == 0 || s.Batch < 1 {
		return bad("%d numbers in batches of %d pairs, expected 1 or more of both", len(s.Numbers), s.Batch)
	}
	seen := map[string]bool{}
	for _, n := range s.Numbers {
		low, high := float64(n.Low), float64(n.High)
		switch {
		case seen[n.Key]:
			return bad("%s: found twice, expected once", n.Key)
		case low >= high:
			return bad("%s: range %d to %d, expected two values or more", n.Key, n.Low, n.High)
		case !(n.Start >= low && n.Start <= high):
			return bad("%s: start %v, expected %d to %d", n.Key, n.Start, n.Low, n.High)
		case !(n.Step > 0 && n.Step <= (high-low)/2):
			return bad("%s: step %v, expected more than 0 and at most half of the range, %v", n.Key, n.Step, (high-low)/2)
		case !(n.Rate > 0 && n.Rate <= 1):
			return bad("%s: rate %v, expected more than 0 and at most 1", n.Key, n.Rate)
		}
		seen[n.Key] = true
	}
	return nil
}

func (s *SPSA) settings(pairs int) map[string]string {
	all := map[string]string{"method": "spsa", "pairs": fmt.Sprint(pairs), "batch": fmt.Sprint(s.Batch)}
	for _, n := range s.Numbers {
		all["parameter "+n.Key] = fmt.Sprintf("%d to %d, start %v, step %v, rate %v", n.Low, n.High, n.Start, n.Step, n.Rate)
	}
	return all
}

// Run tunes, or goes on with it if there is a state, and returns the path of the
// values; with an error too, as far as it went. Errors: [ErrConfig],
// [ErrOtherSettings], [ErrBadState], those of Play, of the context and of the file.
func (s *SPSA) Run(ctx context.Context, c Config) (Path, error) {
	if err := s.validate(); err != nil {
		return Path{}, err
	}
	r, err := c.begin(s.settings(c.Pairs))
	if err != nil {
		return Path{}, err
	}
	if last, first := r.last(), r.firstMissing(); last/s.Batch > first/s.Batch {
		return Path{}, fmt.Errorf("%w: %s: found pair %d but not pair %d of a batch before", ErrBadState, c.State, last, first)
	}
	path := Path{Numbers: s.Numbers}
	err = s.play(ctx, r, &path)
	return path, errors.Join(err, r.save())
}

// play plays all batches.
func (s *SPSA) play(ctx context.Context, r *run, path *Path) error {
	values := make([]float64, len(s.Numbers))
	for i, n := range s.Numbers {
		values[i] = n.Start
	}
	path.add(0, values)
	for first := 0; first < r.cfg.Pairs; first += s.Batch {
		end := min(first+s.Batch, r.cfg.Pairs)
		if err := r.play(ctx, first, end, func(pair int) (a, b Values) { return s.sides(r.cfg, pair, values) }); err != nil {
			return err
		}
		for pair := first; pair < end; pair++ {
			points, _ := r.points(pair)
			s.move(r.cfg, pair, values, points-2)
		}
		path.add(end, values)
		if s.OnBatch != nil {
			s.OnBatch(end, values)
		}
	}
	return nil
}

// schedule returns c_k and a_k of a number.
func (n *Number) schedule(pair, pairs int) (c, a float64) {
	k, all := float64(pair+1), float64(pairs)
	c = n.Step * math.Pow(all/k, gamma)
	a = n.Rate * n.Step * n.Step * math.Pow((stability*all+all)/(stability*all+k), alpha)
	return c, a
}

// rounded returns a value within the range as a whole number, up with the probability of
// its fraction, if the fraction given is drawn evenly from [0, 1).
func (n *Number) rounded(x, fraction float64) string {
	return strconv.Itoa(int(math.Floor(n.clamp(x) + fraction)))
}

func (n *Number) clamp(x float64) float64 { return min(max(x, float64(n.Low)), float64(n.High)) }

// sides returns the values that A and B play a pair with, around those given.
func (s *SPSA) sides(c *Config, pair int, values []float64) (a, b Values) {
	rng := c.random(pair)
	a, b = Values{}, Values{}
	for i := range s.Numbers {
		n := &s.Numbers[i]
		step, _ := n.schedule(pair, c.Pairs)
		step *= float64(sign(rng))
		fraction := rng.Float64()
		a[n.Key], b[n.Key] = n.rounded(values[i]+step, fraction), n.rounded(values[i]-step, fraction)
	}
	return a, b
}

// move applies the result of a pair, the games that A has won more than B.
func (s *SPSA) move(c *Config, pair int, values []float64, won int) {
	rng := c.random(pair)
	for i := range s.Numbers {
		n := &s.Numbers[i]
		step, gain := n.schedule(pair, c.Pairs)
		values[i] = n.clamp(values[i] + gain/step*float64(sign(rng)*won))
		rng.Float64() // the fraction of sides
	}
}

// Path is how the values went.
type Path struct {
	Numbers []Number
	Pairs   []int       // pairs applied, ascending from 0
	Values  [][]float64 // for each of Pairs a value of every number
}

func (p *Path) add(pairs int, values []float64) {
	p.Pairs = append(p.Pairs, pairs)
	p.Values = append(p.Values, append([]float64(nil), values...))
}

// Last returns the last values, not rounded.
func (p *Path) Last() []float64 { return p.Values[len(p.Values)-1] }

// Rounded returns the last values as whole numbers.
func (p *Path) Rounded() Values {
	all := Values{}
	for i, n := range p.Numbers {
		all[n.Key] = strconv.Itoa(int(math.Round(p.Last()[i])))
	}
	return all
}

// Shape of the drawing of a path.
const (
	panelsPerRow = 2
	maxPoints    = 500 // of a curve
)

// Figure draws the path, a panel for every number.
func (p *Path) Figure() *figure.Figure {
	f := &figure.Figure{Title: "parameters by pairs played"}
	stride := len(p.Pairs)/maxPoints + 1
	for i, n := range p.Numbers {
		if i%panelsPerRow == 0 {
			f.Rows = append(f.Rows, nil)
		}
		var curve figure.Curve
		for at := 0; at < len(p.Pairs); at++ {
			if at%stride == 0 || at == len(p.Pairs)-1 {
				curve.X, curve.Y = append(curve.X, float64(p.Pairs[at])), append(curve.Y, p.Values[at][i])
			}
		}
		row := &f.Rows[len(f.Rows)-1]
		*row = append(*row, &figure.Lines{Title: n.Key, XLabel: "pairs", YLabel: "value", Curves: []figure.Curve{curve}})
	}
	return f
}
