package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// valueBlock has a few quantities, of each of which one feature at most is
// active. They are worked out from the whole position.
type valueBlock struct{ *valueTable }

type valueTable struct {
	block
	// values returns the active feature of each quantity, or none.
	values func(p *chess.Position, perspective chess.Color) quantities
	// partition: one feature is active in every position but the zero one.
	partition bool
}

type quantities [planes]int32

// none is the feature of a quantity that has none active.
const none = -1

var nothing = quantities{none, none, none, none, none, none, none, none, none, none, none, none}

func (b valueBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	for _, f := range b.values(p, perspective) {
		if f != none {
			dst = append(dst, f)
		}
	}
	return dst
}

func (b valueBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	old := b.values(from, perspective)
	for i, now := range b.values(to, perspective) {
		if now == old[i] {
			continue
		}
		if now != none {
			added = append(added, now)
		}
		if old[i] != none {
			removed = append(removed, old[i])
		}
	}
	return added, removed
}

const (
	totals     = 31 // 0 to 30 pieces in a hand
	dropChecks = 8  // checks that are counted; more count as this number
)

var (
	handTotal = valueBlock{&valueTable{
		block: block{name: "HandTotal", describe: "number of pieces in a hand", size: 2 * totals, most: always(2)},
		values: func(p *chess.Position, perspective chess.Color) quantities {
			q := nothing
			if p.Occupied() == 0 { // the zero Position
				return q
			}
			for c := range 2 {
				n := min(p.Hand(chess.Color(c)).Total(), totals-1)
				q[c] = int32(totals*(c^int(perspective)) + n)
			}
			return q
		},
	}}
	dropCheckCounts = valueBlock{&valueTable{
		block: block{name: "DropChecks", describe: "squares where a drop gives check, by kind in hand",
			size: (planes - 2) * dropChecks, most: heldKinds,
			never: func(f, _ int) bool { return f < 2*dropChecks && f%dropChecks >= 2 }}, // a king has two pawns' squares
		values: func(p *chess.Position, perspective chess.Color) quantities {
			q := nothing
			for c := chess.White; c <= chess.Black; c++ {
				hand := p.Hand(c)
				for t := chess.Pawn; t <= chess.Queen && !hand.Empty(); t++ {
					if !hand.Has(t) {
						continue
					}
					if n := min(checkingDrops(p, c, t).Count(), dropChecks); n > 0 {
						plane := planeOf(int(t), int(c), int(perspective))
						q[plane] = int32(dropChecks*plane + n - 1)
					}
				}
			}
			return q
		},
	}}
	dropMoves = valueBlock{&valueTable{
		block: block{name: "DropMoves", describe: "squares for a pawn in hand, in bands",
			size: 2 * len(dropBands), most: func(onBoard int) int { return min(totalPieces-onBoard, 2) }},
		values: func(p *chess.Position, perspective chess.Color) quantities {
			q := nothing
			for c := range 2 {
				if p.Hand(chess.Color(c)).Has(chess.Pawn) {
					band := dropBand(pawnDrops(p, chess.Color(c)).Count())
					q[c] = int32(len(dropBands)*(c^int(perspective)) + band)
				}
			}
			return q
		},
	}}
)

const pawnRanks chess.Bitboard = 0x00ffffffffffff00

// checkingDrops returns the empty squares from which a piece of colour c and kind
// t would give check. Whether its own side is in check is not asked.
func checkingDrops(p *chess.Position, c chess.Color, t chess.PieceType) chess.Bitboard {
	king, occupied := p.King(c.Other()), p.Occupied()
	switch t {
	case chess.Pawn:
		return chess.PawnAttacks(c.Other(), king) & pawnRanks &^ occupied
	case chess.Knight:
		return chess.KnightAttacks(king) &^ occupied
	case chess.Bishop:
		return chess.BishopAttacks(king, occupied) &^ occupied
	case chess.Rook:
		return chess.RookAttacks(king, occupied) &^ occupied
	default:
		return chess.QueenAttacks(king, occupied) &^ occupied
	}
}

// pawnDrops returns the squares where c may drop a pawn: in check those that
// ward it off.
func pawnDrops(p *chess.Position, c chess.Color) chess.Bitboard {
	free := pawnRanks &^ p.Occupied()
	if c != p.SideToMove() {
		return free
	}
	switch checkers := p.Checkers(); checkers.Count() {
	case 0:
		return free
	case 1:
		return free & chess.Between(p.King(c), checkers.First())
	default:
		return 0
	}
}

// dropBands gives the largest number of squares in each band. The first two
// hold positions in check, without and with squares to ward it off; the others
// a third each of the remaining positions of crazyhouse games (32, 36 and 32% of
// 623,425 of self-play).
var dropBands = [5]int{0, 6, 28, 30, 48}

func dropBand(n int) int {
	band := 0
	for n > dropBands[band] {
		band++
	}
	return band
}

// handPairs has a feature for two kinds held at once, of either side's hand.
type handPairs struct{ *block }

var handPairSet = handPairs{&block{
	name: "HandPairs", describe: "pairs of kinds in hand", size: (planes - 2) * (planes - 3) / 2,
	most: func(onBoard int) int { n := heldKinds(onBoard); return n * (n - 1) / 2 },
}}

// pairs returns the set of active features, as bits: the pair of planes i < j
// has number j(j-1)/2 + i.
func (b handPairs) pairs(p *chess.Position, perspective chess.Color) uint64 {
	held := uint64(0)
	for c := range 2 {
		hand := p.Hand(chess.Color(c))
		for t := chess.Pawn; t <= chess.Queen && !hand.Empty(); t++ {
			if hand.Has(t) {
				held |= 1 << planeOf(int(t), c, int(perspective))
			}
		}
	}
	set := uint64(0)
	for h := held; h != 0; h &= h - 1 {
		j := bits.TrailingZeros64(h)
		set |= held & (1<<j - 1) << (j * (j - 1) / 2)
	}
	return set
}

func (b handPairs) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	return appendBits(dst, 0, b.pairs(p, perspective))
}

func (b handPairs) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	old, now := b.pairs(from, perspective), b.pairs(to, perspective)
	return appendBits(added, 0, now&^old), appendBits(removed, 0, old&^now)
}

// appendBits appends first plus the number of every bit set.
func appendBits(dst []int32, first int, set uint64) []int32 {
	for ; set != 0; set &= set - 1 {
		dst = append(dst, int32(first+bits.TrailingZeros64(set)))
	}
	return dst
}
