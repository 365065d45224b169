package chess

import "strconv"

// handOrder is the order of kinds in the pocket of a FEN.
var handOrder = [...]PieceType{Queen, Rook, Bishop, Knight, Pawn}

// FEN returns p in the dialect of Fairy-Stockfish: promoted pieces marked, the
// hands in brackets even if empty where the variant has hands, the en passant
// square only if an enemy pawn attacks it, castling rights as KQkq or, if
// Chess960 is set, as the rooks' files.
func (p *Position) FEN() string { return string(p.AppendFEN(nil)) }

// AppendFEN appends FEN() to dst.
func (p *Position) AppendFEN(dst []byte) []byte {
	dst = p.appendBoard(dst)
	if p.Variant().CapturesToHand {
		dst = append(dst, '[')
		dst = p.appendHand(dst, White)
		dst = p.appendHand(dst, Black)
		dst = append(dst, ']')
	}
	dst = append(dst, ' ', "wb"[p.side&1], ' ')
	dst = append(p.appendCastling(dst), ' ')
	if p.ep == NoSquare {
		dst = append(dst, '-')
	} else {
		dst = appendSquare(dst, p.ep)
	}
	dst = strconv.AppendInt(append(dst, ' '), int64(p.halfmove), 10)
	return strconv.AppendInt(append(dst, ' '), int64(p.FullmoveNumber()), 10)
}

// appendBoard goes from piece to piece, rank by rank. What may follow or not, the
// number of empty squares and the promoted mark, is written in any case and kept
// or not: whether it is cannot be foreseen, by the processor neither.
func (p *Position) appendBoard(dst []byte) []byte {
	var buf [8*16 + 8]byte // eight pieces with mark, and the slash
	n := 0
	occ := p.Occupied()
	for rank := Square(56); rank <= 56; rank -= 8 {
		next := rank // the first square of the rank not yet written
		for pieces := occ >> (rank & 63) & 0xff; pieces != 0; pieces &= pieces - 1 {
			s := rank + pieces.First()
			gap := s - next
			next = s + 1
			buf[n] = '0' + byte(gap)
			n += int(gap+7) >> 3
			buf[n] = letterOfPiece[p.board[s&63]&15]
			buf[n+1] = '~'
			n += 1 + int(p.promoted>>(s&63)&1)
		}
		if next != rank+8 {
			buf[n] = '0' + byte(rank+8-next)
			n++
		}
		buf[n] = '/'
		n++
	}
	return append(dst, buf[:n-1]...)
}

// appendHand appends the letters of the pieces c has in hand.
func (p *Position) appendHand(dst []byte, c Color) []byte {
	hand := p.hands[c&1]
	if hand == 0 {
		return dst
	}
	for _, t := range handOrder {
		for range hand.Count(t) {
			dst = append(dst, MakePiece(c, t).letter())
		}
	}
	return dst
}

// appendCastling appends the castling rights, the kingside first.
func (p *Position) appendCastling(dst []byte) []byte {
	if p.castling == 0 {
		return append(dst, '-')
	}
	for c := White; c <= Black; c++ {
		rooks := p.castling & backRank(c)
		kingside := rooks &^ (p.King(c).Bitboard() - 1)
		for _, side := range [...]Bitboard{kingside, rooks &^ kingside} {
			if side != 0 {
				dst = append(dst, p.castlingLetter(side.First(), side == kingside)|byte(c)<<5)
			}
		}
	}
	return dst
}

// castlingLetter returns the upper-case letter for the right of a rook.
func (p *Position) castlingLetter(rook Square, kingside bool) byte {
	switch {
	case p.chess960:
		return 'A' + byte(rook&7)
	case kingside:
		return 'K'
	}
	return 'Q'
}

// String draws the board with White below, the hands and the FEN, for people.
func (p *Position) String() string {
	const rule = " +---+---+---+---+---+---+---+---+\n"
	dst := []byte(rule)
	for rank := 7; rank >= 0; rank-- {
		for file := range 8 {
			s := NewSquare(file, rank)
			dst = append(dst, " | "...)
			switch {
			case p.board[s] == NoPiece:
				dst = append(dst, ' ')
			case p.promoted.Has(s): // the mark takes the place of a space
				dst = append(dst[:len(dst)-1], '~', p.board[s].letter())
			default:
				dst = append(dst, p.board[s].letter())
			}
		}
		dst = append(dst, " | "...)
		dst = append(dst, '1'+byte(rank))
		dst = p.appendDrawnHand(dst, rank)
		dst = append(append(dst, '\n'), rule...)
	}
	dst = append(dst, "   a   b   c   d   e   f   g   h\n\nFEN: "...)
	return string(append(p.AppendFEN(dst), '\n'))
}

// appendDrawnHand appends the hand drawn beside a rank: Black's beside the
// eighth, White's beside the first.
func (p *Position) appendDrawnHand(dst []byte, rank int) []byte {
	c := White
	if rank == 7 {
		c = Black
	}
	if rank != 0 && rank != 7 || !p.Variant().CapturesToHand {
		return dst
	}
	return append(p.appendHand(append(dst, " ["...), c), ']')
}
