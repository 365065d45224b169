package rating

import (
	"fmt"
	"math"
)

// Trinomial counts single games: losses, draws and wins of the first player,
// in that order.
type Trinomial [3]int

// Losses, Draws and Wins index a [Trinomial].
const (
	Losses = iota
	Draws
	Wins
)

// Games returns the number of games counted.
func (t Trinomial) Games() int { return t[Losses] + t[Draws] + t[Wins] }

// Points returns the first player's points: a win is one, a draw a half.
func (t Trinomial) Points() float64 { return float64(t[Wins]) + float64(t[Draws])/2 }

// Score returns the share of points in [0,1], and false when there are no games.
func (t Trinomial) Score() (float64, bool) { return share(t.Points(), t.Games()) }

// Pentanomial counts pairs by the results of their two games, for the first
// player: L a loss, D a draw, W a win, whatever the order of the games. LW and
// DD are worth the same and are one cell to the mathematics; they are kept
// apart because their ratio tells how biased the openings are, and because
// with them apart the counts of single games can be had from those of pairs.
type Pentanomial struct {
	LL int `json:"ll"` // no point of two
	LD int `json:"ld"` // half a point
	LW int `json:"lw"` // one point, by a win and a loss
	DD int `json:"dd"` // one point, by two draws
	DW int `json:"dw"` // one point and a half
	WW int `json:"ww"` // two points
}

// Outcome is the result of one game for the first player: the index of its
// count in a [Trinomial].
type Outcome int

// Loss, Draw and Win are the results of a game for the first player.
const (
	Loss Outcome = Losses
	Draw Outcome = Draws
	Win  Outcome = Wins
)

// Add counts one pair with the results a and b of its two games.
func (p *Pentanomial) Add(a, b Outcome) {
	if a > b {
		a, b = b, a
	}
	switch [2]Outcome{a, b} {
	case [2]Outcome{Loss, Loss}:
		p.LL++
	case [2]Outcome{Loss, Draw}:
		p.LD++
	case [2]Outcome{Loss, Win}:
		p.LW++
	case [2]Outcome{Draw, Draw}:
		p.DD++
	case [2]Outcome{Draw, Win}:
		p.DW++
	case [2]Outcome{Win, Win}:
		p.WW++
	default:
		panic(fmt.Sprintf("rating: outcomes %d and %d, expected Loss, Draw or Win", a, b))
	}
}

// Pairs returns the number of pairs counted.
func (p Pentanomial) Pairs() int { return p.LL + p.LD + p.LW + p.DD + p.DW + p.WW }

// Five returns the counts by points of the pair: 0, ½, 1, 1½, 2.
func (p Pentanomial) Five() [5]int { return [5]int{p.LL, p.LD, p.LW + p.DD, p.DW, p.WW} }

// Games returns the counts of single games, two to a pair.
func (p Pentanomial) Games() Trinomial {
	return Trinomial{
		Losses: 2*p.LL + p.LD + p.LW,
		Draws:  p.LD + 2*p.DD + p.DW,
		Wins:   p.LW + p.DW + 2*p.WW,
	}
}

// DrawRatio returns the share of pairs, in [0,1], that gave each player one
// point; false when there are no pairs.
func (p Pentanomial) DrawRatio() (float64, bool) {
	return share(float64(p.LW+p.DD), p.Pairs())
}

// PairsRatio returns pairs won over pairs lost; false when none was lost.
func (p Pentanomial) PairsRatio() (float64, bool) {
	return share(float64(p.DW+p.WW), p.LL+p.LD)
}

// BiasRatio returns LW over DD: high when the opening rather than the players
// decides the games. It is false when there is no DD.
func (p Pentanomial) BiasRatio() (float64, bool) { return share(float64(p.LW), p.DD) }

// share divides, and is false instead of infinite or NaN.
func share(part float64, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return part / float64(whole), true
}

// emptyCell is the count that stands for an outcome not seen.
const emptyCell = 1e-3

// sample is an empirical distribution of the scores of pairs, ready for the formulas:
// its cells are never empty.
type sample struct {
	score [5]float64 // a_i, ascending from 0 to 1
	prob  [5]float64 // p_i, positive
	total float64    // N, pairs
}

func (p Pentanomial) sample() sample {
	var s sample
	for i, n := range p.Five() {
		s.score[i] = float64(i) / float64(len(s.score)-1)
		s.prob[i] = math.Max(float64(n), emptyCell)
		s.total += s.prob[i]
	}
	for i := range s.prob {
		s.prob[i] /= s.total
	}
	return s
}

// moments returns mean and variance of the scores under the probabilities prob.
func (s *sample) moments(prob *[5]float64) (mean, variance float64) {
	for i := range prob {
		mean += s.score[i] * prob[i]
	}
	for i := range prob {
		d := s.score[i] - mean
		variance += prob[i] * d * d
	}
	return mean, variance
}
