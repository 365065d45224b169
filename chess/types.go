package chess

import (
	"fmt"
	"math/bits"
)

// Color is a side, White or Black.
type Color uint8

// The two sides.
const (
	White Color = iota
	Black
)

// Other returns the opponent of c.
func (c Color) Other() Color { return c ^ 1 }

// String returns "white" or "black".
func (c Color) String() string {
	if c == White {
		return "white"
	}
	return "black"
}

// PieceType is a kind of piece without its colour.
type PieceType uint8

// The kinds of piece, and the absence of one.
const (
	Pawn PieceType = iota
	Knight
	Bishop
	Rook
	Queen
	King
	NoPieceType
)

// pieceLetters are the English piece letters, indexed by PieceType.
const pieceLetters = "PNBRQK"

// String returns the upper-case English letter of t, or "-" for none.
func (t PieceType) String() string {
	if t >= NoPieceType {
		return "-"
	}
	return pieceLetters[t : t+1]
}

// Piece is a coloured piece: 1 + type in the lower three bits, colour in bit 3.
type Piece uint8

// NoPiece marks an empty square.
const NoPiece Piece = 0

// MakePiece returns the piece of colour c and kind t; t must not be
// NoPieceType.
func MakePiece(c Color, t PieceType) Piece { return Piece(1 + uint8(t) | uint8(c)<<3) }

// Type returns the kind of p, NoPieceType for NoPiece.
func (p Piece) Type() PieceType {
	if p == NoPiece {
		return NoPieceType
	}
	return PieceType(p&7) - 1
}

// Color returns the side of p; it means nothing for NoPiece.
func (p Piece) Color() Color { return Color(p>>3) & 1 }

// String returns the FEN letter of p, upper case for White, "." for NoPiece.
func (p Piece) String() string {
	if p.Type() >= NoPieceType {
		return "."
	}
	return string(p.letter())
}

// letter returns the FEN letter of p, which must not be NoPiece.
func (p Piece) letter() byte { return pieceLetters[p.Type()] | byte(p.Color())<<5 }

// letterOfPiece holds the FEN letters by Piece.
var letterOfPiece = func() (table [16]byte) {
	for c := White; c <= Black; c++ {
		for t := Pawn; t <= King; t++ {
			table[MakePiece(c, t)] = MakePiece(c, t).letter()
		}
	}
	return table
}()

// pieceOf returns the piece a FEN letter stands for, NoPiece if it stands for
// none.
func pieceOf(letter byte) Piece { return pieceOfLetter[letter] }

var pieceOfLetter = func() (table [256]Piece) {
	for c := White; c <= Black; c++ {
		for t := Pawn; t <= King; t++ {
			pc := MakePiece(c, t)
			table[pc.letter()] = pc
		}
	}
	return table
}()

// Square is a square of the board, a1 = 0, b1 = 1, …, h8 = 63.
type Square uint8

// The corner squares and the absence of a square; the others follow by
// NewSquare.
const (
	A1       Square = 0
	H1       Square = 7
	A8       Square = 56
	H8       Square = 63
	NoSquare Square = 64
)

// NewSquare returns the square on the given file and rank, both 0 to 7.
func NewSquare(file, rank int) Square { return Square(rank<<3 | file) }

// ParseSquare reads a square such as "e4".
func ParseSquare(s string) (Square, error) {
	if sq := parseSquare(s); sq != NoSquare {
		return sq, nil
	}
	return NoSquare, fmt.Errorf("chess: square: found %s, expected a file a-h and a rank 1-8", quote(s))
}

// parseSquare is ParseSquare with NoSquare for an error.
func parseSquare(s string) Square {
	if len(s) != 2 || s[0] < 'a' || s[0] > 'h' || s[1] < '1' || s[1] > '8' {
		return NoSquare
	}
	return NewSquare(int(s[0]-'a'), int(s[1]-'1'))
}

// File returns the file of s, 0 for a to 7 for h.
func (s Square) File() int { return int(s & 7) }

// Rank returns the rank of s, 0 for the first to 7 for the eighth.
func (s Square) Rank() int { return int(s >> 3) }

// Bitboard returns the set holding only s, empty for NoSquare.
func (s Square) Bitboard() Bitboard { return 1 << s }

// String returns s as in "e4", "-" for NoSquare.
func (s Square) String() string {
	if s >= NoSquare {
		return "-"
	}
	return string([]byte{'a' + byte(s&7), '1' + byte(s>>3)})
}

// Bitboard is a set of squares, square n being bit n.
type Bitboard uint64

const (
	fileA Bitboard = 0x0101010101010101
	fileH Bitboard = fileA << 7
	rank1 Bitboard = 0xff
	rank3 Bitboard = rank1 << 16
	rank6 Bitboard = rank1 << 40
	rank8 Bitboard = rank1 << 56

	lightSquares Bitboard = 0x55aa55aa55aa55aa
)

// Has reports whether s is in b.
func (b Bitboard) Has(s Square) bool { return b>>s&1 != 0 }

// Count returns the number of squares in b.
func (b Bitboard) Count() int { return bits.OnesCount64(uint64(b)) }

// First returns the lowest square of b, NoSquare if b is empty. Loop over a
// set by clearing it square by square: b &= b - 1.
func (b Bitboard) First() Square { return Square(bits.TrailingZeros64(uint64(b))) }

// bit returns the set holding only s, which must be a square. Unlike
// Square.Bitboard it costs the compiler no thought about NoSquare.
func bit(s Square) Bitboard { return 1 << (s & 63) }

// backRank returns the first rank as c sees it.
func backRank(c Color) Bitboard { return rank1 << (c & 1 * 56) }
