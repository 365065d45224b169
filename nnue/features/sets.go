package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// setBlock has a set for each kind and side, and a feature for each of its
// possible members. The sets are worked out from the whole position.
type setBlock struct{ *setTable }

type setTable struct {
	block
	each int // possible members of a set
	// sets returns the sets by plane, as bits.
	sets func(p *chess.Position, perspective chess.Color) [planes]uint64
}

func (b setBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	for plane, set := range b.sets(p, perspective) {
		dst = appendBits(dst, b.each*plane, set)
	}
	return dst
}

func (b setBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	old := b.sets(from, perspective)
	for plane, now := range b.sets(to, perspective) {
		if before := old[plane]; now != before {
			added = appendBits(added, b.each*plane, now&^before)
			removed = appendBits(removed, b.each*plane, before&^now)
		}
	}
	return added, removed
}

// oriented mirrors a set of squares for Black's perspective.
func oriented(set chess.Bitboard, perspective chess.Color) uint64 {
	if perspective == chess.Black {
		return bits.ReverseBytes64(uint64(set))
	}
	return uint64(set)
}
