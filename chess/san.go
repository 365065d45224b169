package chess

import "strings"

// SAN returns the legal move m in standard algebraic notation with + or #. Drops
// are written "N@f3" and "P@e4".
func (p *Position) SAN(m Move) string {
	san := p.appendSAN(nil, m)
	child := *p
	child.Make(m)
	if child.InCheck() {
		if child.HasLegalMove() {
			return string(append(san, '+'))
		}
		return string(append(san, '#'))
	}
	return string(san)
}

// appendSAN appends m without the sign for check.
func (p *Position) appendSAN(dst []byte, m Move) []byte {
	from, to := m.From(), m.To()
	switch {
	case m.IsDrop():
		return appendSquare(append(dst, pieceLetters[m.DropType()], '@'), to)
	case m.IsCastle() && to > from:
		return append(dst, "O-O"...)
	case m.IsCastle():
		return append(dst, "O-O-O"...)
	}
	t := p.board[from].Type()
	capture := p.IsCapture(m)
	if t != Pawn {
		dst = p.appendOrigin(append(dst, t.String()...), m)
	} else if capture {
		dst = append(dst, 'a'+byte(from&7))
	}
	if capture {
		dst = append(dst, 'x')
	}
	dst = appendSquare(dst, to)
	if m.IsPromotion() {
		dst = append(dst, '=', pieceLetters[m.PromotionType()])
	}
	return dst
}

// appendOrigin appends as much of the square m comes from as tells it from other
// moves of such pieces to the same square: file, else rank, else both.
func (p *Position) appendOrigin(dst []byte, m Move) []byte {
	from := m.From()
	var rivals, sameFile, sameRank bool
	for _, r := range p.sanCandidates(p.board[from].Type(), m.To()) {
		f := r.From()
		if f == from {
			continue
		}
		rivals = true
		sameFile = sameFile || f.File() == from.File()
		sameRank = sameRank || f.Rank() == from.Rank()
	}
	if rivals && (!sameFile || sameRank) {
		dst = append(dst, 'a'+byte(from&7))
	}
	if rivals && sameFile {
		dst = append(dst, '1'+byte(from>>3))
	}
	return dst
}

// sanCandidates returns the legal moves that take a piece of kind t from another
// square of the board to to, castling apart.
func (p *Position) sanCandidates(t PieceType, to Square) []Move {
	var l MoveList
	p.Legal(&l)
	var found []Move
	for _, m := range l.Slice() {
		if !m.IsDrop() && !m.IsCastle() && m.To() == to && p.board[m.From()].Type() == t {
			found = append(found, m)
		}
	}
	return found
}

// sanMove is what the text of a move says.
type sanMove struct {
	piece     PieceType
	promotion PieceType // NoPieceType if none
	file      int       // of the origin, -1 if not given
	rank      int
	capture   bool
	to        Square
}

// ParseSAN reads a legal move of p in standard algebraic notation. Pawns are
// dropped as "P@e4" or "@e4"; castling is written with the letter O or the digit
// 0; signs for check, mate and comment (+ # ! ?) may follow and are not looked
// at; more of the origin may be given than needed. Errors are of type *MoveError,
// wrapping ErrMoveSyntax, ErrIllegalMove or ErrAmbiguousMove.
func (p *Position) ParseSAN(s string) (Move, error) {
	fail := func(found, expected string, err error) (Move, error) {
		return NoMove, &MoveError{quote(s), found, expected, err}
	}
	const longest = 16
	text := s
	if len(text) <= longest {
		text = strings.TrimRight(text, "+#!?")
	}
	candidates, ok := p.readSAN(text)
	if len(text) > longest || !ok {
		return fail(quote(s), `a move such as "Nf3", "exd5", "e8=Q", "N@f3" or "O-O"`, ErrMoveSyntax)
	}
	switch len(candidates) {
	case 1:
		return candidates[0], nil
	case 0:
		return fail("no such move", "a legal move of "+p.side.String(), ErrIllegalMove)
	}
	moves := make([]string, len(candidates))
	for i, m := range candidates {
		moves[i] = p.UCI(m)
	}
	return fail(strings.Join(moves, " and "), "the file or rank it comes from", ErrAmbiguousMove)
}

// readSAN returns the legal moves that fit the text, which has no signs at the
// end; ok reports whether it is a move at all.
func (p *Position) readSAN(text string) (fit []Move, ok bool) {
	switch text {
	case "O-O", "0-0", "O-O-O", "0-0-0":
		return p.castlings(len(text) == 3), true
	}
	if at := strings.IndexByte(text, '@'); at >= 0 {
		return p.readSANDrop(text[:at], text[at+1:])
	}
	want, ok := splitSAN(text)
	if !ok {
		return nil, false
	}
	for _, m := range p.sanCandidates(want.piece, want.to) {
		if want.fits(m) && (!want.capture || p.IsCapture(m)) {
			fit = append(fit, m)
		}
	}
	return fit, true
}

// castlings returns the legal castling moves to one side, at most one.
func (p *Position) castlings(kingside bool) []Move {
	king := p.King(p.side)
	for b := p.castling & backRank(p.side); b != 0; b &= b - 1 {
		m := NewMove(king, b.First(), Castle)
		if m.To() > king == kingside && p.IsLegal(m) {
			return []Move{m}
		}
	}
	return nil
}

// readSANDrop reads a drop from the parts before and after the @.
func (p *Position) readSANDrop(piece, square string) ([]Move, bool) {
	t := Pawn
	if len(piece) == 1 {
		t = PieceType(strings.IndexByte(pieceLetters, piece[0]))
	}
	to := parseSquare(square)
	if len(piece) > 1 || t > Queen || to == NoSquare {
		return nil, false
	}
	if m := NewDrop(t, to); p.IsLegal(m) {
		return []Move{m}, true
	}
	return nil, true
}

// splitSAN takes the text of a move on the board apart, from its end.
func splitSAN(s string) (sanMove, bool) {
	m := sanMove{piece: Pawn, promotion: NoPieceType, file: -1, rank: -1}
	if n := len(s); n > 2 && strings.IndexByte("NBRQ", s[n-1]) >= 0 {
		m.promotion = PieceType(strings.IndexByte(pieceLetters, s[n-1]))
		s = strings.TrimSuffix(s[:n-1], "=")
	}
	if len(s) > 2 {
		if t := strings.IndexByte(pieceLetters, s[0]); t >= 0 {
			m.piece = PieceType(t)
			s = s[1:]
		}
	}
	if len(s) < 2 {
		return m, false
	}
	m.to = parseSquare(s[len(s)-2:])
	s = s[:len(s)-2]
	if n := len(s); n > 0 && s[n-1] == 'x' {
		m.capture = true
		s = s[:n-1]
	}
	if len(s) > 0 && s[0] >= 'a' && s[0] <= 'h' {
		m.file = int(s[0] - 'a')
		s = s[1:]
	}
	if len(s) > 0 && s[0] >= '1' && s[0] <= '8' {
		m.rank = int(s[0] - '1')
		s = s[1:]
	}
	return m, s == "" && m.to != NoSquare && (m.piece == Pawn || m.promotion == NoPieceType)
}

// fits reports whether a move of the right piece to the right square is the one
// meant. A pawn's capture names its file.
func (w *sanMove) fits(m Move) bool {
	from := m.From()
	if w.file < 0 && w.piece == Pawn && from.File() != m.To().File() {
		return false
	}
	return m.PromotionType() == w.promotion &&
		(w.file < 0 || w.file == from.File()) && (w.rank < 0 || w.rank == from.Rank())
}
