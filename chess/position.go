package chess

// Position is what a FEN says: board, hands, side to move, castling rights, en
// passant square and clocks, with the variant they belong to. It is a value of
// 168 bytes without pointers; copy it to keep it.
//
// Positions come from ParseFEN, ParseFEN960, Variant.Start and Make; the zero
// value is none. Two positions are equal (==) if they agree in all of that,
// clocks included.
type Position struct {
	byType   [6]Bitboard
	byColor  [2]Bitboard
	promoted Bitboard // pieces that were pawns
	castling Bitboard // squares of the rooks that may still castle
	key      uint64
	board    [64]Piece
	hands    [2]Hand
	halfmove uint16 // plies since a pawn move, capture or drop
	moves    uint16 // full moves made: the move number less one
	side     Color
	ep       Square // NoSquare, or a square an enemy pawn attacks
	variant  uint8
	chess960 bool
}

// Variant returns the variant p belongs to.
func (p *Position) Variant() *Variant { return variants[p.variant&1] }

// Chess960 reports whether castling is written as in Chess960: as king takes
// rook in UCI, with the rooks' files in FEN.
func (p *Position) Chess960() bool { return p.chess960 }

// SetChess960 chooses how castling is written. It stays on while a right
// remains that standard chess does not have, from another square than the king's
// e1 or e8 or with a rook elsewhere than in a corner.
func (p *Position) SetChess960(on bool) { p.chess960 = on || !p.standardCastling() }

// standardCastling reports whether every castling right left is one of standard
// chess.
func (p *Position) standardCastling() bool {
	const corners = (fileA | fileH) & (rank1 | rank8)
	for c := White; c <= Black; c++ {
		if p.castling&backRank(c) != 0 && p.King(c).File() != 4 {
			return false
		}
	}
	return p.castling&^corners == 0
}

// SideToMove returns the side to move.
func (p *Position) SideToMove() Color { return p.side }

// PieceAt returns the piece on s, NoPiece if there is none.
func (p *Position) PieceAt(s Square) Piece { return p.board[s&63] }

// Pieces returns the squares of the pieces of colour c and kind t.
func (p *Position) Pieces(c Color, t PieceType) Bitboard { return p.byColor[c&1] & p.byType[t] }

// ByType returns the squares of the pieces of kind t, of both sides.
func (p *Position) ByType(t PieceType) Bitboard { return p.byType[t] }

// ByColor returns the squares of the pieces of colour c.
func (p *Position) ByColor(c Color) Bitboard { return p.byColor[c&1] }

// Occupied returns the squares that are not empty.
func (p *Position) Occupied() Bitboard { return p.byColor[White] | p.byColor[Black] }

// Promoted returns the squares of promoted pieces, which go to hand as pawns.
// It is empty where captures do not go to hand.
func (p *Position) Promoted() Bitboard { return p.promoted }

// Hand returns what c has in hand.
func (p *Position) Hand(c Color) Hand { return p.hands[c&1] }

// King returns the square of the king of c.
func (p *Position) King(c Color) Square { return (p.byType[King] & p.byColor[c&1]).First() & 63 }

// CastlingRooks returns the squares of the rooks that may still castle, of both
// sides. A rook on a higher file than its king is that of the kingside.
func (p *Position) CastlingRooks() Bitboard { return p.castling }

// EnPassant returns the square behind a pawn that has just made a double step,
// if an enemy pawn attacks that square, whether or not it may capture; else
// NoSquare.
func (p *Position) EnPassant() Square { return p.ep }

// HalfmoveClock returns the plies since the last capture, pawn move or drop.
func (p *Position) HalfmoveClock() int { return int(p.halfmove) }

// FullmoveNumber returns the number of the move to be made, from 1.
func (p *Position) FullmoveNumber() int { return 1 + int(p.moves) }

// Ply returns the plies made before p by its move number, from 0.
func (p *Position) Ply() int { return 2*int(p.moves) + int(p.side&1) }

// Key returns the Zobrist key of p: board, promoted marks, hands, castling
// rights, side to move, and the en passant square as EnPassant gives it. Clocks
// and the manner of writing castling are no part of it.
func (p *Position) Key() uint64 { return p.key }

// placeAll makes the bitboards of p, which are empty, from the squares of every
// Piece.
func (p *Position) placeAll(squares *[16]Bitboard) {
	for t := range p.byType {
		white, black := squares[1+t], squares[9+t]
		p.byType[t] = white | black
		p.byColor[White] |= white
		p.byColor[Black] |= black
	}
}
