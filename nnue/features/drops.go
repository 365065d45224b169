package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// kingSteps is the number of squares beside a king, which has the middle of 3 x 3:
// 0 to 2 from the left below it, 3 to its left, 4 to its right, 5 to 7 above it.
const kingSteps = 8

var (
	dropCheckSquares = setBlock{&setTable{
		block: block{
			name: "DropCheckSquares", describe: "empty squares where a drop gives check, by kind in hand",
			size: (planes - 2) * 64, most: mostDropChecks,
			never: func(f, king int) bool {
				square := f % 64
				return square == king || f < 2*64 && !pawnRank(square)
			},
		},
		each: 64,
		sets: func(p *chess.Position, perspective chess.Color) (sets [planes]uint64) {
			for c := chess.White; c <= chess.Black; c++ {
				hand := p.Hand(c)
				for t := chess.Pawn; t <= chess.Queen && !hand.Empty(); t++ {
					if hand.Has(t) {
						sets[planeOf(int(t), int(c), int(perspective))] = oriented(checkingDrops(p, c, t), perspective)
					}
				}
			}
			return sets
		},
	}}

	// dropZone leaves out squares that a piece beside the king defends: a piece
	// dropped there is taken by another piece than the king.
	dropZone = setBlock{&setTable{
		block: block{
			name: "DropZone", describe: "squares beside a king that only it defends, by kind in hand to drop there",
			size: (planes - 2) * kingSteps, most: func(onBoard int) int { return kingSteps * heldKinds(onBoard) },
		},
		each: kingSteps,
		sets: func(p *chess.Position, perspective chess.Color) (sets [planes]uint64) {
			for c := chess.White; c <= chess.Black; c++ {
				hand := p.Hand(c)
				if hand.Empty() {
					continue
				}
				free := freeZone(p, c.Other())
				anyKind, pawns := zoneSteps(p, free, c.Other(), perspective), uint64(0)
				if hand.Has(chess.Pawn) {
					pawns = zoneSteps(p, free&pawnRanks, c.Other(), perspective)
				}
				for t := chess.Pawn; t <= chess.Queen; t++ {
					switch plane := planeOf(int(t), int(c), int(perspective)); {
					case t == chess.Pawn:
						sets[plane] = pawns
					case hand.Has(t):
						sets[plane] = anyKind
					}
				}
			}
			return sets
		},
	}}
)

// mostDropChecks is the bound of checking drops: as many kinds as may be held, those
// first that a king on an empty board sees from most squares.
func mostDropChecks(onBoard int) int {
	squares := [...]int{27, 27, 14, 14, 13, 13, 8, 8, 2, 2}
	sum := 0
	for _, n := range squares[:heldKinds(onBoard)] {
		sum += n
	}
	return sum
}

// freeZone returns the empty squares beside the king of a side which none of its other
// pieces defends.
func freeZone(p *chess.Position, side chess.Color) chess.Bitboard {
	occupied := p.Occupied()
	zone := chess.KingAttacks(p.King(side)) &^ occupied
	for t := chess.Pawn; t <= chess.Queen && zone != 0; t++ {
		zone &^= attacked(p.Pieces(side, t), side, t, occupied)
	}
	return zone
}

// zoneSteps numbers the squares of a set beside the king of a side, as bits.
func zoneSteps(p *chess.Position, set chess.Bitboard, side, perspective chess.Color) uint64 {
	king := int(p.King(side)) ^ int(perspective)*rankMirror
	steps := uint64(0)
	for s := oriented(set, perspective); s != 0; s &= s - 1 {
		steps |= 1 << stepNumber[bits.TrailingZeros64(s)-king+9]
	}
	return steps
}

// stepNumber gives the number of a king's step by the difference of squares plus 9.
var stepNumber = [19]uint8{0: 0, 1: 1, 2: 2, 8: 3, 10: 4, 16: 5, 17: 6, 18: 7}
