package chess

// UCI returns m as UCI writes it: "e2e4", "e7e8q", "N@f3", castling as the
// king's two steps "e1g1" or, if Chess960 is set, as king takes rook "e1h1".
// NoMove is "0000", UCI's null move.
func (p *Position) UCI(m Move) string { return string(p.AppendUCI(nil, m)) }

// AppendUCI appends UCI(m) to dst.
func (p *Position) AppendUCI(dst []byte, m Move) []byte {
	if m == NoMove {
		return append(dst, "0000"...)
	}
	to := m.To()
	if m.IsDrop() {
		return appendSquare(append(dst, pieceLetters[m.DropType()], '@'), to)
	}
	if m.IsCastle() && !p.chess960 {
		to = castlingOf(p.side, m.From(), to).kingTo
	}
	dst = appendSquare(appendSquare(dst, m.From()), to)
	if m.IsPromotion() {
		dst = append(dst, pieceLetters[m.PromotionType()]|0x20)
	}
	return dst
}

func appendSquare(dst []byte, s Square) []byte {
	return append(dst, 'a'+byte(s&7), '1'+byte(s>>3&7))
}

const uciForms = `a move such as "e2e4", "e7e8q" or "N@f3"`

// ParseUCI reads a legal move of p in the form UCI writes it. Where Chess960 is
// not set it also understands castling as king takes rook. Errors are of type
// *MoveError, wrapping ErrMoveSyntax or ErrIllegalMove.
func (p *Position) ParseUCI(s string) (Move, error) {
	m, ok := p.ReadUCI(s)
	if !ok {
		return NoMove, &MoveError{quote(s), quote(s), uciForms, ErrMoveSyntax}
	}
	if !p.IsLegal(m) {
		return NoMove, &MoveError{quote(s), p.whyIllegal(m), "a legal move of " + p.side.String(), ErrIllegalMove}
	}
	return m, nil
}

// ReadUCI reads a move in the form UCI writes it, legal or not, and finds the
// kind of move it must be in p. Moves that are not known to be legal must not be
// made. It reports whether s has the form of a move; NoMove has none.
func (p *Position) ReadUCI(s string) (m Move, ok bool) {
	if len(s) != 4 && len(s) != 5 {
		return NoMove, false
	}
	to := parseSquare(s[2:4])
	if s[1] == '@' {
		t := pieceOf(s[0]).Type()
		return NewDrop(t, to), len(s) == 4 && to != NoSquare && t < King && s[0] < 'a'
	}
	from := parseSquare(s[:2])
	if from == NoSquare || to == NoSquare {
		return NoMove, false
	}
	if len(s) == 5 {
		t := pieceOf(s[4]).Type()
		return NewPromotion(from, to, t), s[4] >= 'a' && t >= Knight && t <= Queen
	}
	return p.classify(from, to), true
}

// classify returns the move from one square to another with the kind that the
// board gives it, promotions apart.
func (p *Position) classify(from, to Square) Move {
	pc := p.board[from]
	steps := int(to) - int(from)
	switch pc.Type() {
	case King:
		if rook := p.castlingRook(from, to); rook != NoSquare {
			return NewMove(from, rook, Castle)
		}
	case Pawn:
		if steps == 16 || steps == -16 {
			return NewMove(from, to, DoublePush)
		}
		if to == p.ep && from.File() != to.File() {
			return NewMove(from, to, EnPassant)
		}
	}
	return NewMove(from, to, Normal)
}

// castlingRook returns the rook with which the king castles when UCI writes its
// move as from-to, NoSquare if that is no castling.
func (p *Position) castlingRook(from, to Square) Square {
	own := p.byColor[p.side&1]
	if rook := p.board[to]; rook.Type() == Rook && own.Has(to) {
		return to
	}
	if p.chess960 || from.Rank() != to.Rank() || from&7 != 4 || (to&7 != 6 && to&7 != 2) {
		return NoSquare
	}
	if to > from {
		return from + 3
	}
	return from - 4
}

// whyIllegal describes what an illegal move would do.
func (p *Position) whyIllegal(m Move) string {
	us := p.side & 1
	switch {
	case m.IsDrop() && !p.hands[us].Has(m.DropType()):
		return "no " + m.DropType().String() + " in hand"
	case m.IsDrop() && p.board[m.To()] != NoPiece:
		return "a drop on the occupied square " + m.To().String()
	case !m.IsDrop() && !p.byColor[us].Has(m.From()):
		return "no own piece on " + m.From().String()
	case p.InCheck():
		return "a move that does not end the check"
	}
	return "a move against the rules"
}
