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
	dst = append(dst, p.ep.String()...)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.halfmove), 10)
	return strconv.AppendInt(append(dst, ' '), int64(p.FullmoveNumber()), 10)
}

func (p *Position) appendBoard(dst []byte) []byte {
	for rank := 7; rank >= 0; rank-- {
		empty := byte(0)
		for file := range 8 {
			s := NewSquare(file, rank)
			if p.board[s] == NoPiece {
				empty++
				continue
			}
			if empty > 0 {
				dst = append(dst, '0'+empty)
				empty = 0
			}
			dst = append(dst, p.board[s].letter())
			if p.promoted.Has(s) {
				dst = append(dst, '~')
			}
		}
		if empty > 0 {
			dst = append(dst, '0'+empty)
		}
		if rank > 0 {
			dst = append(dst, '/')
		}
	}
	return dst
}

// appendHand appends the letters of the pieces c has in hand.
func (p *Position) appendHand(dst []byte, c Color) []byte {
	for _, t := range handOrder {
		for range p.hands[c].Count(t) {
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
		king := p.King(c)
		for s := backRank(c).First() + 7; ; s-- {
			if p.castling.Has(s) {
				dst = append(dst, p.castlingLetter(s, s > king)|byte(c)<<5)
			}
			if s.File() == 0 {
				break
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
