package features

import "github.com/crazyhouse-rl/selfplay/chess"

// Blocks about where kings stand, for products that have rows of their own for it, beside
// King: fewer rows than the 64 squares of the own king, or the other king's.

// zones of the own king: pairs of files times bands of ranks.
const (
	zoneFiles = 4 // a-b, c-d, e-f, g-h
	zoneRanks = 3 // 1, 2, 3 to 8
	kingZones = zoneFiles * zoneRanks
)

// halfSquares is half a board: the squares of files e to h, rank by rank.
const halfSquares = 32

var (
	enemyKing = newPartition("EnemyKing", "enemy king on a square", 64, func(p *chess.Position, perspective chess.Color) int {
		return orientedKing(p, perspective.Other(), perspective)
	})
	kingZone = newPartition("KingZone", "own king on a pair of files and rank 1, 2 or higher", kingZones, func(p *chess.Position, perspective chess.Color) int {
		return int(zoneOfSquare[orientedKing(p, perspective, perspective)])
	})
	zoneOfSquare = func() (zones [kingAnchors]uint8) {
		for king := range zones {
			zones[king] = uint8(zoneFiles*min(king/8, zoneRanks-1) + king%8/2)
		}
		return zones
	}()
	kingHalf = newPartition("KingHalf", "own king on a square, files mirrored so that it stands on e to h", halfSquares, func(p *chess.Position, perspective chess.Color) int {
		king := orientedKing(p, perspective, perspective)
		return king/8*4 + (king^fileMirror(king))%8 - 4
	})
	allHalf = setBlock{&setTable{
		block: block{name: "AllHalf", describe: "pieces on squares, files mirrored so that the own king stands on e to h", size: planes * 64,
			most: perPiece, never: func(f, _ int) bool {
				plane, square := f/64, f%64
				return plane < 2 && !pawnRank(square) || plane == 10 && square%8 < 4
			}},
		each: 64,
		sets: func(p *chess.Position, perspective chess.Color) (sets [planes]uint64) {
			if p.Occupied() == 0 { // the zero Position, where no king stands
				return sets
			}
			mirrored := fileMirror(orientedKing(p, perspective, perspective)) != 0
			for c := range 2 {
				for t := range 6 {
					set := oriented(p.Pieces(chess.Color(c), chess.PieceType(t)), perspective)
					if mirrored {
						set = mirrorFiles(set)
					}
					sets[planeOf(t, c, int(perspective))] = set
				}
			}
			return sets
		},
	}}
)

// newPartition returns a block of which one feature is active in every position, so that
// its products have groups; see GroupsOf.
func newPartition(name, describe string, size int, feature func(p *chess.Position, perspective chess.Color) int) valueBlock {
	return valueBlock{&valueTable{
		block:     block{name: name, describe: describe, size: size, most: always(1)},
		partition: true,
		values: func(p *chess.Position, perspective chess.Color) quantities {
			q := nothing
			if p.Occupied() != 0 { // not the zero Position
				q[0] = int32(feature(p, perspective))
			}
			return q
		},
	}}
}

// orientedKing is the square of a side's king as a perspective sees it.
func orientedKing(p *chess.Position, side, perspective chess.Color) int {
	return int(p.King(side)) ^ int(perspective)*rankMirror
}

// fileMirror is what squares are XORed with so that a king on one of them comes to stand on
// files e to h.
func fileMirror(king int) int {
	if king%8 < 4 {
		return 7
	}
	return 0
}

// mirrorFiles exchanges files a and h, b and g, c and f, d and e.
func mirrorFiles(set uint64) uint64 {
	set = set>>1&0x5555555555555555 | set&0x5555555555555555<<1
	set = set>>2&0x3333333333333333 | set&0x3333333333333333<<2
	return set>>4&0x0f0f0f0f0f0f0f0f | set&0x0f0f0f0f0f0f0f0f<<4
}
