package chess

// Make makes the legal move m. It does not check it: an illegal move leaves a
// position without meaning.
func (p *Position) Make(m Move) {
	us := p.side & 1
	to := m.To()
	kind := m.Kind()
	p.side ^= 1
	p.ply++
	key := p.key ^ keySide
	if p.ep != NoSquare {
		key ^= keyEP[p.ep&7]
		p.ep = NoSquare
	}
	if kind >= DropPawn {
		p.key = key ^ p.drop(us, PieceType(kind-DropPawn), to)
		return
	}
	p.halfmove++
	from := m.From()
	if p.castling != 0 {
		key ^= p.loseCastling(us, from, to)
	}
	if kind == Castle {
		p.key = key ^ p.castle(us, from, to)
		return
	}
	captured := to
	if kind == EnPassant {
		captured ^= 8
	}
	if p.board[captured&63] != NoPiece {
		key ^= p.capture(us, captured)
	}

	pc := p.board[from]
	t := PieceType(pc&7) - 1
	move := from.Bitboard() | to.Bitboard()
	p.byType[t%6] ^= move
	p.byColor[us] ^= move
	p.board[from] = NoPiece
	p.board[to] = pc
	key ^= keyPiece[pc&15][from] ^ keyPiece[pc&15][to]
	if p.promoted&from.Bitboard() != 0 {
		p.promoted ^= move
		key ^= keyPromoted[from] ^ keyPromoted[to]
	}
	if t == Pawn {
		p.halfmove = 0
		switch {
		case kind == DoublePush:
			key ^= p.allowEnPassant(us, (from+to)/2)
		case kind >= PromoteKnight:
			key ^= p.promote(us, PieceType(kind-PromoteKnight)+Knight, to)
		}
	}
	p.key = key
}

// drop puts a piece from the hand of us on to. Like the steps below it returns
// what this changes in the key.
func (p *Position) drop(us Color, t PieceType, to Square) uint64 {
	pc := MakePiece(us, t)
	b := to.Bitboard()
	p.halfmove = 0
	p.byType[t%6] |= b
	p.byColor[us] |= b
	p.board[to] = pc
	n := p.hands[us].Count(t)
	p.hands[us] = p.hands[us].Remove(t)
	return keyPiece[pc&15][to] ^ keyHand[us][t%5][n&maxHand] ^ keyHand[us][t%5][(n-1)&maxHand]
}

// loseCastling removes the rights that end when us moves from one square to
// another: that of a rook that leaves or is captured, and both of a king.
func (p *Position) loseCastling(us Color, from, to Square) uint64 {
	lost := from.Bitboard() | to.Bitboard()
	if p.byType[King]&from.Bitboard() != 0 {
		lost |= backRank(us)
	}
	lost &= p.castling
	if lost == 0 {
		return 0
	}
	p.castling ^= lost
	return castlingKey(lost)
}

// castle moves king and rook, whose squares may overlap with those they go to.
func (p *Position) castle(us Color, from, rook Square) uint64 {
	c := castlingOf(us, from, rook)
	k, r := MakePiece(us, King), MakePiece(us, Rook)
	p.byType[King] ^= from.Bitboard() ^ c.kingTo.Bitboard()
	p.byType[Rook] ^= rook.Bitboard() ^ c.rookTo.Bitboard()
	p.byColor[us] ^= from.Bitboard() ^ c.kingTo.Bitboard() ^ rook.Bitboard() ^ c.rookTo.Bitboard()
	p.board[from], p.board[rook] = NoPiece, NoPiece
	p.board[c.kingTo&63], p.board[c.rookTo&63] = k, r
	return keyPiece[k&15][from] ^ keyPiece[k&15][c.kingTo&63] ^ keyPiece[r&15][rook] ^ keyPiece[r&15][c.rookTo&63]
}

// capture takes the enemy piece on s off the board, into the hand of us if the
// variant says so.
func (p *Position) capture(us Color, s Square) uint64 {
	pc := p.board[s&63]
	t := PieceType(pc&7) - 1
	b := s.Bitboard()
	p.halfmove = 0
	p.byType[t%6] ^= b
	p.byColor[us^1] ^= b
	p.board[s&63] = NoPiece
	key := keyPiece[pc&15][s&63]
	if !p.Variant().CapturesToHand {
		return key
	}
	if p.promoted&b != 0 {
		p.promoted ^= b
		key ^= keyPromoted[s&63]
		t = Pawn
	}
	n := p.hands[us].Count(t)
	p.hands[us] = p.hands[us].Add(t)
	return key ^ keyHand[us][t%5][n&maxHand] ^ keyHand[us][t%5][(n+1)&maxHand]
}

// allowEnPassant sets the square behind a pawn of us that made a double step, if
// an enemy pawn attacks it.
func (p *Position) allowEnPassant(us Color, s Square) uint64 {
	if pawnTable[us][s&63]&p.byType[Pawn]&p.byColor[us^1] == 0 {
		return 0
	}
	p.ep = s
	return keyEP[s&7]
}

// promote turns the pawn of us on s into a piece of kind t.
func (p *Position) promote(us Color, t PieceType, s Square) uint64 {
	b := s.Bitboard()
	pawn, pc := MakePiece(us, Pawn), MakePiece(us, t)
	p.byType[Pawn] ^= b
	p.byType[t%6] ^= b
	p.board[s&63] = pc
	key := keyPiece[pawn&15][s&63] ^ keyPiece[pc&15][s&63]
	if p.Variant().CapturesToHand {
		p.promoted |= b
		key ^= keyPromoted[s&63]
	}
	return key
}

// MakeNull passes the turn. The side to move must not be in check.
func (p *Position) MakeNull() {
	p.key ^= keySide
	if p.ep != NoSquare {
		p.key ^= keyEP[p.ep&7]
		p.ep = NoSquare
	}
	p.side ^= 1
	p.ply++
	p.halfmove++
}
