package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// lineBlock has a feature for a line with at least one piece of a kind and side
// on it.
type lineBlock struct{ *lineTable }

type lineTable struct {
	block
	lines int       // per plane
	of    [64]uint8 // line of each oriented square
}

var (
	ranks     = newLineBlock("H", "ranks with pieces", 8, func(file, rank int) int { return rank })
	files     = newLineBlock("V", "files with pieces", 8, func(file, rank int) int { return file })
	diagonals = newLineBlock("D1", "rising diagonals with pieces", 15, func(file, rank int) int { return file - rank + 7 })
	falling   = newLineBlock("D2", "falling diagonals with pieces", 15, func(file, rank int) int { return file + rank })
)

func newLineBlock(name, describe string, lines int, line func(file, rank int) int) lineBlock {
	t := &lineTable{lines: lines}
	var room [15]bool // lines with a square where a pawn can stand
	for s := range 64 {
		l := line(s%8, s/8)
		t.of[s] = uint8(l)
		room[l] = room[l] || pawnRank(s)
	}
	t.block = block{name: name, describe: describe, size: planes * lines, most: perPiece}
	t.never = func(f, king int) bool {
		plane, l := f/lines, f%lines
		return plane < 2 && !room[l] || plane == 10 && king != noKing && l != int(t.of[king])
	}
	return lineBlock{t}
}

// held returns the set of lines with squares of a set on them.
func (b lineBlock) held(set chess.Bitboard, mirror int) uint64 {
	lines := uint64(0)
	for s := uint64(set); s != 0; s &= s - 1 {
		lines |= 1 << b.of[bits.TrailingZeros64(s)^mirror]
	}
	return lines
}

func (b lineBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	enemy := int(perspective)
	for c := range 2 {
		for t := range planes / 2 {
			set := p.Pieces(chess.Color(c), chess.PieceType(t))
			dst = appendBits(dst, b.lines*planeOf(t, c, enemy), b.held(set, enemy*rankMirror))
		}
	}
	return dst
}

func (b lineBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	enemy := int(perspective)
	for c := range 2 {
		for t := range planes / 2 {
			before := from.Pieces(chess.Color(c), chess.PieceType(t))
			after := to.Pieces(chess.Color(c), chess.PieceType(t))
			if before == after {
				continue
			}
			first := b.lines * planeOf(t, c, enemy)
			old, now := b.held(before, enemy*rankMirror), b.held(after, enemy*rankMirror)
			added = appendBits(added, first, now&^old)
			removed = appendBits(removed, first, old&^now)
		}
	}
	return added, removed
}
