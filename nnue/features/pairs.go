package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// pairBlock has a feature for two pieces that are neighbours on a rank, or on a
// file, with only empty squares between: line, left or lower piece, right or
// upper piece.
type pairBlock struct{ *pairTable }

type pairTable struct {
	block
	upright bool // on files
}

// linePairs is the number of features per line.
const linePairs = planes * planes

var (
	rankPairs = pairBlock{&pairTable{block: block{
		name: "PH", describe: "neighbours on ranks", size: 8 * linePairs, most: neighbours,
		never: func(f, king int) bool {
			rank, left, right := f/linePairs, f/planes%planes, f%planes
			if (left < 2 || right < 2) && (rank == 0 || rank == 7) {
				return true
			}
			return twoKings(left, right) || king != noKing && rank != king/8 && (left == 10 || right == 10)
		},
	}}}
	filePairs = pairBlock{&pairTable{upright: true, block: block{
		name: "PV", describe: "neighbours on files", size: 8 * linePairs, most: neighbours,
		never: func(f, king int) bool {
			file, lower, upper := f/linePairs, f/planes%planes, f%planes
			return twoKings(lower, upper) || king != noKing && file != king%8 && (lower == 10 || upper == 10)
		},
	}}}
)

// neighbours is the bound of pairs: one less than pieces on each of the lines,
// which are at least an eighth of the pieces.
func neighbours(onBoard int) int { return onBoard - (onBoard+7)/8 }

func twoKings(a, b int) bool { return a == b && a >= 10 }

// line returns the pairs on a line, numbered as in the file or rank of the board
// seen by White, as bits of features within the line.
func (b pairBlock) line(p *chess.Position, line int, enemy int) (set [(linePairs + 63) / 64]uint64) {
	squares := uint64(p.Occupied()) & (0xff << (8 * line))
	if b.upright {
		squares = uint64(p.Occupied()) & (0x0101010101010101 << line)
	}
	if squares&(squares-1) == 0 {
		return set // one piece has no neighbour
	}
	plane := &planeOfPiece[enemy]
	left := int(plane[p.PieceAt(chess.Square(bits.TrailingZeros64(squares)))&15])
	for squares &= squares - 1; squares != 0; squares &= squares - 1 {
		right := int(plane[p.PieceAt(chess.Square(bits.TrailingZeros64(squares)))&15])
		pair := planes*left + right
		if b.upright && enemy != 0 {
			pair = planes*right + left // White's upper is Black's lower
		}
		set[pair/64] |= 1 << (pair % 64)
		left = right
	}
	return set
}

// planeOfPiece gives the plane of a chess.Piece, by whether Black is the own side.
var planeOfPiece = func() (table [2][16]uint8) {
	for c := chess.White; c <= chess.Black; c++ {
		for t := chess.Pawn; t <= chess.King; t++ {
			for enemy := range table {
				table[enemy][chess.MakePiece(c, t)&15] = uint8(planeOf(int(t), int(c), enemy))
			}
		}
	}
	return table
}()

// first returns the first feature of a line.
func (b pairBlock) first(line, enemy int) int {
	if !b.upright && enemy != 0 {
		line = 7 - line
	}
	return linePairs * line
}

func (b pairBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	enemy := int(perspective)
	for line := range 8 {
		first := b.first(line, enemy)
		for i, word := range b.line(p, line, enemy) {
			dst = appendBits(dst, first+64*i, word)
		}
	}
	return dst
}

// Difference looks at the lines on which the positions differ.
func (b pairBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	enemy := int(perspective)
	for touched := b.touched(from, to); touched != 0; touched &= touched - 1 {
		line := bits.TrailingZeros64(touched)
		first := b.first(line, enemy)
		old, now := b.line(from, line, enemy), b.line(to, line, enemy)
		for i := range now {
			added = appendBits(added, first+64*i, now[i]&^old[i])
			removed = appendBits(removed, first+64*i, old[i]&^now[i])
		}
	}
	return added, removed
}

// touched returns the lines on which two positions differ, as bits.
func (b pairBlock) touched(from, to *chess.Position) uint64 {
	set := uint64(changedSquares(from, to))
	if b.upright {
		set |= set >> 32
		set |= set >> 16
		set |= set >> 8
		return set & 0xff
	}
	lines := uint64(0)
	for ; set != 0; set &= ^uint64(0) << (bits.TrailingZeros64(set) | 7) << 1 {
		lines |= 1 << (bits.TrailingZeros64(set) / 8)
	}
	return lines
}

// changedSquares returns the squares that do not have the same piece in both.
func changedSquares(a, b *chess.Position) chess.Bitboard {
	set := (a.ByColor(chess.White) ^ b.ByColor(chess.White)) | (a.ByColor(chess.Black) ^ b.ByColor(chess.Black))
	for t := chess.Pawn; t <= chess.King; t++ {
		set |= a.ByType(t) ^ b.ByType(t)
	}
	return set
}
