package netstat

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Mobility counts how often pieces of each kind have each mobility, as
// features.Mobility gives it, over positions and both sides. The zero value has
// counted nothing.
type Mobility struct {
	Positions int
	// Count [kind][mobility], pawn first; every position counts once a side.
	Count [6][65]int
}

// Add counts a position.
func (m *Mobility) Add(p *chess.Position) {
	m.Positions++
	for kind := range m.Count {
		for c := chess.White; c <= chess.Black; c++ {
			m.Count[kind][features.Mobility(p, c, chess.PieceType(kind))]++
		}
	}
}

// positive returns how many counts of a kind have a mobility above 0.
func (m *Mobility) positive(kind chess.PieceType) int {
	sum := 0
	for _, n := range m.Count[kind][1:] {
		sum += n
	}
	return sum
}

// largest returns the largest mobility seen of a kind.
func (m *Mobility) largest(kind chess.PieceType) int {
	largest := 0
	for value, n := range &m.Count[kind] {
		if n > 0 {
			largest = value
		}
	}
	return largest
}

// Cover returns the smallest mobility of a kind that at least the given share of
// its positive counts does not exceed: how many values need a feature of their
// own. It is 0 if the kind was never mobile.
func (m *Mobility) Cover(kind chess.PieceType, share float64) int {
	need, sum := share*float64(m.positive(kind)), 0
	if need == 0 {
		return 0
	}
	for value := 1; value < len(m.Count[kind]); value++ {
		if sum += m.Count[kind][value]; float64(sum) >= need {
			return value
		}
	}
	return m.largest(kind)
}
