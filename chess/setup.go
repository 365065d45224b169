package chess

import "strconv"

// Setup is a position taken apart, for formats that say in bits what a FEN says
// in text. Position puts it together under the rules of ParseFEN.
type Setup struct {
	Board          [64]Piece // by square
	Promoted       Bitboard  // pieces that were pawns; none where captures do not go to hand
	Hands          [2]Hand   // by colour; at most 16 of a kind
	SideToMove     Color
	CastlingRooks  Bitboard // rooks that may still castle, as Position.CastlingRooks
	EnPassant      Square   // behind a pawn that made a double step, or NoSquare
	HalfmoveClock  uint16   // plies since a pawn move, capture or drop
	FullmoveNumber uint16   // from 1; 0 is read as 1
}

// MaxFullmoveNumber is the largest move number a Position begins with.
const MaxFullmoveNumber = 1<<16 - 1

// Position returns the position of v that s describes. It refuses and drops what
// ParseFEN does; the error is a *FENError that names the field of the FEN in
// which s would be written. Castling rights that standard chess does not have
// set Chess960. No value of s makes it panic.
func (s *Setup) Position(v *Variant) (Position, error) {
	p := Position{variant: v.index, ep: NoSquare, side: s.SideToMove & 1}
	if err := s.place(&p); err != nil {
		return Position{}, err
	}
	if err := p.checkPieces(); err != nil {
		return Position{}, err
	}
	if s.CastlingRooks != 0 {
		if err := p.addCastling(s.CastlingRooks); err != nil {
			return Position{}, err
		}
	}
	p.setEnPassant(s.EnPassant)
	p.SetClocks(int(s.HalfmoveClock), int(s.FullmoveNumber))
	p.key = p.computeKey()
	return p, nil
}

// place puts the pieces of s on the board and in the hands of p, which are empty.
func (s *Setup) place(p *Position) error {
	var occupied Bitboard
	for i, pc := range &s.Board { // without a branch that cannot be foreseen
		occupied |= Bitboard((uint32(pc)+0xff)>>8) << i
	}
	var squares [16]Bitboard // by Piece
	for rest := occupied; rest != 0; rest &= rest - 1 {
		sq := rest.First()
		pc := s.Board[sq&63]
		if pc&7 == 0 || pc&7 > 1+Piece(King) || pc > MakePiece(Black, King) {
			return &FENError{"board", "piece " + strconv.Itoa(int(pc)) + " on " + sq.String(), "a piece of either colour"}
		}
		squares[pc&15] |= bit(sq)
	}
	p.placeAll(&squares)
	p.board = s.Board
	if !p.Variant().CapturesToHand {
		if s.Promoted != 0 {
			return &FENError{"board", "a promoted piece on " + s.Promoted.First().String(), "no marks in " + p.Variant().Name}
		}
		if s.Hands != [2]Hand{} {
			return &FENError{"pocket", "pieces", "no pieces in hand in " + p.Variant().Name}
		}
		return nil
	}
	if wrong := s.Promoted &^ (p.byType[Knight] | p.byType[Bishop] | p.byType[Rook] | p.byType[Queen]); wrong != 0 {
		return &FENError{"board", "a promoted piece on " + wrong.First().String(), "a knight, bishop, rook or queen there"}
	}
	p.promoted = s.Promoted
	for c, hand := range s.Hands {
		for t := Pawn; t <= Queen; t++ {
			if n := hand.Count(t); n > maxInHand {
				return &FENError{"pocket", strconv.Itoa(n) + " of " + MakePiece(Color(c), t).String(), "at most " + strconv.Itoa(maxInHand)}
			}
		}
		p.hands[c] = hand & handMask
	}
	return nil
}

// addCastling gives the rooks the right to castle and drops those without king
// or rook in place.
func (p *Position) addCastling(rooks Bitboard) error {
	for ; rooks != 0; rooks &= rooks - 1 {
		rook := rooks.First()
		c := p.board[rook].Color()
		if !(p.Pieces(c, Rook) & backRank(c) &^ p.promoted).Has(rook) || !backRank(c).Has(p.King(c)) {
			continue
		}
		if old := p.rightBeside(rook); old != NoSquare {
			return &FENError{"castling", "rooks on " + old.String() + " and " + rook.String(), "one rook on each side of a king"}
		}
		p.castling |= rook.Bitboard()
	}
	p.chess960 = !p.standardCastling()
	return nil
}

// SetClocks sets the halfmove clock, from 0 to 65535, and the move number, from
// 1 to MaxFullmoveNumber; what is outside is taken as the nearest inside.
func (p *Position) SetClocks(halfmove, fullmove int) {
	p.halfmove = uint16(min(max(halfmove, 0), 1<<16-1))
	p.moves = uint16(min(max(fullmove, 1), MaxFullmoveNumber) - 1)
}

// ClearEnPassant takes the en passant square away, for formats that keep it only
// under conditions narrower than those of EnPassant.
func (p *Position) ClearEnPassant() {
	if p.ep != NoSquare {
		p.key ^= keyEP[p.ep&7]
		p.ep = NoSquare
	}
}
