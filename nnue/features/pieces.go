package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// pieceBlock has a feature for a piece of a kind and side on a square.
type pieceBlock struct{ *pieceIndices }

type pieceIndices struct {
	block
	// first gives the feature of the square a1, by side (own, enemy) and kind;
	// -1 where the block has none.
	first    [2][6]int32
	mirror   int  // XORed to squares for Black
	promoted bool // promoted pieces only

	ofPiece [2]pieceTable // first by perspective
}

// pieceTable has a number for every chess.Piece.
type pieceTable [16]int32

// byPiece turns numbers by side (own, enemy) and kind into numbers by piece, for
// both perspectives.
func byPiece(first [2][6]int32) (tables [2]pieceTable) {
	for perspective := range tables {
		for c := range 2 {
			for t, n := range first[c^perspective] {
				tables[perspective][chess.MakePiece(chess.Color(c), chess.PieceType(t))] = n
			}
		}
	}
	return tables
}

func newPieceBlock(t pieceIndices) pieceBlock {
	t.ofPiece = byPiece(t.first)
	return pieceBlock{&t}
}

var (
	allPieces = newPieceBlock(pieceIndices{
		block: block{name: "All", describe: "pieces on squares", size: planes * 64,
			most: perPiece, never: neverPiece},
		first:  [2][6]int32{{0, 128, 256, 384, 512, 640}, {64, 192, 320, 448, 576, 704}},
		mirror: rankMirror,
	})
	withoutKings = newPieceBlock(pieceIndices{
		block: block{name: "P", describe: "pieces other than kings on squares", size: (planes - 2) * 64,
			most: butKings, never: neverPiece},
		first:  [2][6]int32{{0, 128, 256, 384, 512, -1}, {64, 192, 320, 448, 576, -1}},
		mirror: rankMirror,
	})
	// rotatedPieces is P with the orientation of HalfKP's file format.
	rotatedPieces = newPieceBlock(pieceIndices{
		block:  withoutKings.block,
		first:  withoutKings.first,
		mirror: rotation,
	})
	ownKing = newPieceBlock(pieceIndices{
		block: block{name: "King", describe: "own king on a square", size: 64,
			most: always(1), never: func(f, king int) bool { return king != noKing && f != king }},
		first:  [2][6]int32{{-1, -1, -1, -1, -1, 0}, {-1, -1, -1, -1, -1, -1}},
		mirror: rankMirror,
	})
	promotedPieces = newPieceBlock(pieceIndices{
		block: block{name: "Promoted", describe: "promoted pieces on squares", size: 8 * 64,
			most: func(onBoard int) int { return min(onBoard-2, 16) }},
		first:    [2][6]int32{{-1, 0, 128, 256, 384, -1}, {-1, 64, 192, 320, 448, -1}},
		mirror:   rankMirror,
		promoted: true,
	})
)

func butKings(onBoard int) int { return onBoard - 2 }

// neverPiece knows what cannot be among the planes of All.
func neverPiece(f, king int) bool {
	plane, square := f/64, f%64
	switch plane {
	case 0, 1:
		return !pawnRank(square) || square == king
	case 10:
		return king != noKing && square != king
	case 11:
		return king != noKing && (square == king || adjacent(square, king))
	default:
		return square == king
	}
}

func (b pieceBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	set := p.Occupied()
	if b.promoted {
		set = p.Promoted()
	}
	return appendPieces(dst, p, set, &b.ofPiece[perspective], int32(int(perspective)*b.mirror))
}

// appendPieces appends the features of the pieces on the squares of a set: the number
// of the piece and the square, mirrored by XOR. Pieces with a negative number have
// none. One loop over the pieces has fewer surprises for the processor than one for
// each kind.
func appendPieces(dst []int32, p *chess.Position, set chess.Bitboard, first *pieceTable, mirror int32) []int32 {
	for s := uint64(set); s != 0; s &= s - 1 {
		square := bits.TrailingZeros64(s)
		if f := first[p.PieceAt(chess.Square(square))&15]; f >= 0 {
			dst = append(dst, f+(int32(square)^mirror))
		}
	}
	return dst
}

// Difference looks at the squares that do not have the same piece.
func (b pieceBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	enemy := int(perspective)
	changed := changedSquares(from, to)
	if b.promoted {
		changed |= from.Promoted() ^ to.Promoted()
	}
	for ; changed != 0; changed &= changed - 1 {
		s := changed.First()
		if f := b.at(to, s, enemy); f >= 0 {
			added = append(added, f)
		}
		if f := b.at(from, s, enemy); f >= 0 {
			removed = append(removed, f)
		}
	}
	return added, removed
}

// at returns the feature of the piece on a square, -1 if there is none.
func (b pieceBlock) at(p *chess.Position, s chess.Square, enemy int) int32 {
	piece := p.PieceAt(s)
	if piece == chess.NoPiece || b.promoted && !p.Promoted().Has(s) {
		return -1
	}
	first := b.first[int(piece.Color())^enemy][piece.Type()]
	if first < 0 {
		return -1
	}
	return first + int32(int(s)^enemy*b.mirror)
}

func (b pieceBlock) Append(c *Change, perspective chess.Color, _ chess.Square, added, removed []int32) ([]int32, []int32) {
	enemy := int(perspective)
	mirror := enemy * b.mirror
	for _, e := range c.added[:c.nAdded] {
		if first := b.firstOf(e, enemy); first >= 0 {
			added = append(added, first+int32(e.square()^mirror))
		}
	}
	for _, e := range c.removed[:c.nRemoved] {
		if first := b.firstOf(e, enemy); first >= 0 {
			removed = append(removed, first+int32(e.square()^mirror))
		}
	}
	return added, removed
}

// firstOf returns first for an element, -1 if the block has no feature for it.
func (b pieceBlock) firstOf(e element, enemy int) int32 {
	if e&inHand != 0 || b.promoted && e&promoted == 0 {
		return -1
	}
	return b.first[e.color()^enemy][e.kind()]
}
