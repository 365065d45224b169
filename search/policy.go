package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Policy is what a search made of the legal moves of its root, as it is kept: a
// distribution in whole numbers. It is never changed once it is shared.
type Policy struct {
	// Moves are those with a weight, heaviest first, equal ones in rising order
	// of their codes. It is empty after a search too cheap to teach.
	Moves []MoveWeight
	// Surprise is how far the distribution lies from what the net expected
	// before the search, as their Kullback–Leibler divergence in nats; 0 if not
	// known.
	Surprise float32
}

// MoveWeight is a move's share of a distribution: its weight divided by the sum
// of all weights. Counts of visits are such weights.
type MoveWeight struct {
	Move   chess.Move
	Weight uint16
}

const (
	// PolicyShares is into how many shares NewPolicy divides a distribution. It
	// divides by every power of two of visits up to it without a remainder.
	PolicyShares = 4096
	// SurpriseStep is the precision in which Policy.Surprise is kept, in nats,
	// MaxSurprise the most of it.
	SurpriseStep = 1.0 / 32
	MaxSurprise  = 255 * SurpriseStep
)

// NewPolicy returns the policy of a tree search, nil of another. Moves with less
// than half a share are left out, but for the likeliest.
func NewPolicy(r *Result) *Policy {
	if r.Visits == nil && len(r.Policy) == 0 {
		return nil
	}
	p := &Policy{}
	for _, m := range r.Policy {
		if w := math.Round(float64(m.Prob) * PolicyShares); w >= 1 {
			p.Moves = append(p.Moves, MoveWeight{m.Move, uint16(min(w, math.MaxUint16))})
		}
	}
	if len(p.Moves) == 0 {
		if len(r.Policy) == 0 {
			return p
		}
		likeliest := slices.MaxFunc(r.Policy, func(a, b MoveProb) int { return cmp.Compare(a.Prob, b.Prob) })
		p.Moves = []MoveWeight{{likeliest.Move, 1}}
	}
	slices.SortFunc(p.Moves, MoveWeight.compare)
	p.Surprise = RoundSurprise(r.Surprise)
	return p
}

// compare orders the moves of a Policy.
func (m MoveWeight) compare(other MoveWeight) int {
	return cmp.Or(cmp.Compare(other.Weight, m.Weight), cmp.Compare(m.Move, other.Move))
}

// Sorted reports whether the moves of p are in the order of a Policy, each with a
// weight and none twice.
func (p *Policy) Sorted() bool {
	var seen [1 << 16 / 64]uint64 // a bit for every move
	for i, m := range p.Moves {
		word, bit := m.Move/64, uint64(1)<<(m.Move%64)
		if m.Weight == 0 || seen[word]&bit != 0 || i > 0 && p.Moves[i-1].compare(m) >= 0 {
			return false
		}
		seen[word] |= bit
	}
	return true
}

// RoundSurprise returns the nearest value that Policy.Surprise may have; what is
// no number counts as 0.
func RoundSurprise(nats float64) float32 {
	if !(nats > 0) {
		return 0
	}
	return float32(math.Round(min(nats, MaxSurprise)/SurpriseStep) * SurpriseStep)
}
