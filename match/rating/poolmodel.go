package rating

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
)

// eloUnit is the Elo of one natural unit: the logistic function of x has the
// slope of [ExpectedScore] at x·eloUnit.
const eloUnit = 400 / math.Ln10

// model is the likelihood of a pool's games as a function of the parameters:
// the ratings of the players that are not fixed, then White's advantage unless
// that is fixed, all in natural units.
type model struct {
	names   []string
	players int
	edges   []modelEdge
	anchors []Anchor

	column []int     // of a player among the parameters, -1 if fixed
	fixed  []float64 // rating of a fixed player, natural units
	priors []prior
	white  int     // column of White's advantage, -1 if fixed
	whiteX float64 // White's advantage if fixed, natural units
	size   int     // parameters
}

// modelEdge is an edge with its games, prior draws among them.
type modelEdge struct {
	edge
	games, points float64 // points are White's
	draws, real   float64 // of the games, without prior draws
}

// prior is a Gaussian one about a parameter, in natural units.
type prior struct {
	column          int
	mean, precision float64
}

// newModel makes the model of games counted by edge of p.
func newModel(p *Pool, c PoolConfig, counts []Trinomial) *model {
	m := &model{
		names: p.names, players: len(p.names), anchors: c.Anchors,
		column: make([]int, len(p.names)), fixed: make([]float64, len(p.names)),
		white: -1, whiteX: c.White / eloUnit,
	}
	for _, a := range c.Anchors {
		if a.SD == 0 {
			m.column[a.Player], m.fixed[a.Player] = -1, a.Elo/eloUnit
		}
	}
	for i := range m.column {
		if m.column[i] == 0 {
			m.column[i] = m.size
			m.size++
		}
	}
	if !c.FixWhite {
		m.white = m.size
		m.size++
	}
	for _, a := range c.Anchors {
		if a.SD > 0 {
			sd := a.SD / eloUnit
			m.priors = append(m.priors, prior{m.column[a.Player], a.Elo / eloUnit, 1 / (sd * sd)})
		}
	}
	m.addEdges(p, counts, c.PriorDraws)
	return m
}

func (m *model) addEdges(p *Pool, counts []Trinomial, priorDraws float64) {
	at := make(map[edge]int, len(p.edges))
	find := func(e edge) *modelEdge {
		i, known := at[e]
		if !known {
			i = len(m.edges)
			at[e] = i
			m.edges = append(m.edges, modelEdge{edge: e})
		}
		return &m.edges[i]
	}
	for i, e := range p.edges {
		if counts[i].Games() == 0 {
			continue
		}
		f := find(e)
		f.real = float64(counts[i].Games())
		f.draws = float64(counts[i][Draws])
		f.games += f.real
		f.points += counts[i].Points()
		back := edge{e.black, e.white}
		if j, met := p.edgeOf[back]; priorDraws == 0 || met && j < i && counts[j].Games() > 0 {
			continue // nothing to add, or added with the other colours
		}
		for _, e := range [2]edge{e, back} {
			f := find(e)
			f.games += priorDraws / 2
			f.points += priorDraws / 4
		}
	}
}

// start returns parameters to begin with: the mean of the anchors.
func (m *model) start() []float64 {
	var level float64
	for _, a := range m.anchors {
		level += a.Elo / eloUnit / float64(len(m.anchors))
	}
	x := make([]float64, m.size)
	for _, column := range m.column {
		if column >= 0 {
			x[column] = level
		}
	}
	return x
}

// rating returns a player's rating at the parameters x.
func (m *model) rating(x []float64, player int) float64 {
	if c := m.column[player]; c >= 0 {
		return x[c]
	}
	return m.fixed[player]
}

// advantage returns White's advantage at the parameters x.
func (m *model) advantage(x []float64) float64 {
	if m.white >= 0 {
		return x[m.white]
	}
	return m.whiteX
}

// score returns White's expected score on an edge at the parameters x.
func (m *model) score(x []float64, e edge) float64 {
	return logistic.Sigmoid(m.logit(x, e))
}

func (m *model) logit(x []float64, e edge) float64 {
	return m.rating(x, e.white) + m.advantage(x) - m.rating(x, e.black)
}

// logLikelihood returns that of all games, up to a constant.
func (m *model) logLikelihood(x []float64) float64 {
	var sum float64
	for _, e := range m.edges {
		z := m.logit(x, e.edge)
		sum += e.points*z - e.games*logistic.Softplus(z)
	}
	for _, p := range m.priors {
		d := x[p.column] - p.mean
		sum -= p.precision * d * d / 2
	}
	return sum
}

// gradient returns the slope of logLikelihood.
func (m *model) gradient(x []float64) []float64 {
	g := make([]float64, m.size)
	add := func(column int, value float64) {
		if column >= 0 {
			g[column] += value
		}
	}
	for _, e := range m.edges {
		excess := e.points - e.games*m.score(x, e.edge)
		add(m.column[e.white], excess)
		add(m.column[e.black], -excess)
		add(m.white, excess)
	}
	for _, p := range m.priors {
		g[p.column] -= p.precision * (x[p.column] - p.mean)
	}
	return g
}

// information sums up the parameters' squared directions, each edge weighted:
// with the variances of its games that is the negative Hessian. The model must
// have parameters.
func (m *model) information(weight func(e *modelEdge) float64) *mat.SymDense {
	h := mat.NewSymDense(m.size, nil)
	add := func(i, j int, value float64) {
		if i >= 0 && j >= 0 {
			h.SetSym(i, j, h.At(i, j)+value)
		}
	}
	for i := range m.edges {
		e := &m.edges[i]
		w := weight(e)
		white, black := m.column[e.white], m.column[e.black]
		add(white, white, w)
		add(black, black, w)
		add(m.white, m.white, w)
		add(white, black, -w)
		add(white, m.white, w)
		add(black, m.white, -w)
	}
	for _, p := range m.priors {
		add(p.column, p.column, p.precision)
	}
	return h
}

// hessian returns the negative Hessian at x. Without anchors only differences
// of ratings matter, and it is singular along a common shift of all; adding to
// that direction makes it invertible and changes no step, for steps have no
// part in it.
func (m *model) hessian(x []float64) *mat.SymDense {
	h := m.information(func(e *modelEdge) float64 {
		p := m.score(x, e.edge)
		return e.games * p * (1 - p)
	})
	if len(m.anchors) == 0 {
		var mean float64
		for i := range m.players {
			mean += h.At(i, i) / float64(m.players)
		}
		for i := range m.players {
			for j := range i + 1 {
				h.SetSym(i, j, h.At(i, j)+mean/float64(m.players))
			}
		}
	}
	return h
}

// factorise returns the Cholesky decomposition of a matrix. It is false if the
// matrix is not positive definite, or so nearly not that nothing could be
// solved with it.
func factorise(h *mat.SymDense) (*mat.Cholesky, bool) {
	const least = 1e-11 // of a pivot to its diagonal element
	var factor mat.Cholesky
	if !factor.Factorize(h) {
		return nil, false
	}
	root := factor.RawU()
	for i := range h.SymmetricDim() {
		if pivot := root.At(i, i) * root.At(i, i); !(pivot > least*h.At(i, i)) {
			return nil, false
		}
	}
	return &factor, true
}

// solve finds the parameters of the largest likelihood by Newton's method from
// x. The pool must be connected; then all ratings are finite if White's
// advantage is.
func (m *model) solve(x []float64) ([]float64, error) {
	const (
		rounds    = 500
		tolerance = 1e-10 // natural units: 2e-8 Elo
		reach     = 3.0   // longest step
		mostWhite = 10.0  // more than 1700 Elo: it runs away
	)
	if m.size == 0 {
		return x, nil
	}
	x = slices.Clone(x)
	value := m.logLikelihood(x)
	for range rounds {
		factor, ok := factorise(m.hessian(x))
		if !ok {
			return nil, fmt.Errorf("%w: the games do not tell it from strength: too few players had both colours", ErrWhiteAdvantage)
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, mat.NewVecDense(m.size, m.gradient(x))); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPool, err)
		}
		longest := 0.0
		for _, s := range step.RawVector().Data {
			longest = max(longest, math.Abs(s))
		}
		if longest < tolerance {
			return x, nil
		}
		share := min(1, reach/longest)
		next := make([]float64, len(x))
		for ; ; share /= 2 {
			for i := range x {
				next[i] = x[i] + share*step.AtVec(i)
			}
			// Near the top, rounding hides the gain.
			if better := m.logLikelihood(next); better >= value-1e-12*math.Abs(value) || share < 1e-6 {
				x, value = next, better
				break
			}
		}
		if m.white >= 0 && math.Abs(x[m.white]) > mostWhite {
			return nil, fmt.Errorf("%w: ratings and an advantage without bound explain every result", ErrWhiteAdvantage)
		}
	}
	return nil, fmt.Errorf("%w: no solution after %d rounds", ErrPool, rounds)
}

// ratings turns a solution into ratings with errors.
func (m *model) ratings(x []float64) (*Ratings, error) {
	r := &Ratings{Elo: m.elo(x), White: m.advantage(x) * eloUnit, DrawRate: m.drawRate(x)}
	r.Errors = noCovariance(m.players)
	r.Priors = r.Errors
	if m.size == 0 {
		return r, nil
	}
	factor, ok := factorise(m.hessian(x))
	if !ok {
		return nil, fmt.Errorf("%w: its error is not finite", ErrWhiteAdvantage)
	}
	variance := m.information(func(e *modelEdge) float64 {
		p := m.score(x, e.edge)
		return e.games*p*(1-p) - e.real*davidson(p, r.DrawRate)/4
	})
	errors, white, err := m.errors(factor, variance)
	if err != nil {
		return nil, err
	}
	r.Errors, r.WhiteSD = errors, math.Sqrt(white)
	if len(m.priors) > 0 {
		priors := m.information(func(*modelEdge) float64 { return 0 }) // without games
		r.Priors, r.whitePriors, err = m.errors(factor, priors)
	}
	return r, err
}

// errors returns the covariance of ratings, and the variance of White's advantage, by that of
// the gradient: the inverse Hessian from both sides of it.
func (m *model) errors(hessian *mat.Cholesky, gradient *mat.SymDense) (Covariance, float64, error) {
	c := noCovariance(m.players)
	var half, cov mat.Dense // inverse·gradient, and that times the inverse
	if err := hessian.SolveTo(&half, gradient); err != nil {
		return c, 0, fmt.Errorf("%w: %w", ErrPool, err)
	}
	if err := hessian.SolveTo(&cov, half.T()); err != nil {
		return c, 0, fmt.Errorf("%w: %w", ErrPool, err)
	}
	for i, a := range m.column {
		for j, b := range m.column {
			if a >= 0 && b >= 0 {
				c.values[i*m.players+j] = cov.At(a, b) * eloUnit * eloUnit
			}
		}
	}
	if m.white < 0 {
		return c, 0, nil
	}
	return c, max(cov.At(m.white, m.white), 0) * eloUnit * eloUnit, nil
}

// elo returns the players' ratings at the parameters x.
func (m *model) elo(x []float64) []float64 {
	elo := make([]float64, m.players)
	for i := range elo {
		elo[i] = m.rating(x, i) * eloUnit
	}
	return elo
}

// drawRate returns the even draw rate at which the draws expected are as many
// as were played. They grow with it, so halving finds it.
func (m *model) drawRate(x []float64) float64 {
	var draws float64
	for _, e := range m.edges {
		draws += e.draws
	}
	low, high := 0.0, 1.0
	for range 60 {
		rate := (low + high) / 2
		var expected float64
		for _, e := range m.edges {
			expected += e.real * davidson(m.score(x, e.edge), rate)
		}
		if expected < draws {
			low = rate
		} else {
			high = rate
		}
	}
	return low
}
