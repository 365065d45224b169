package chess

// Make makes the legal move m. It does not check it: an illegal move leaves a
// position without meaning.
//
// What nearly every move needs stands here in one piece, and what is rarer is
// called last: a call in the middle would have the compiler keep everything in
// memory across it, at a third of the speed.
func (p *Position) Make(m Move) {
	us := p.side & 1
	from, to, kind := m.From(), m.To(), m.Kind()
	p.side ^= 1
	p.moves += uint16(us)
	key := p.key ^ keySide
	if p.ep != NoSquare {
		key ^= keyEP[p.ep&7]
		p.ep = NoSquare
	}
	if kind >= DropPawn {
		p.key = key
		p.drop(us, PieceType(kind-DropPawn), to)
		return
	}
	p.halfmove++
	pc := p.board[from]
	fromBit, toBit := bit(from), bit(to)

	if p.castling != 0 { // rights end when a rook leaves or is taken, and both when a king moves
		lost := fromBit | toBit
		if pc == MakePiece(us, King) {
			lost |= backRank(us)
		}
		for lost &= p.castling; lost != 0; lost &= lost - 1 {
			rook := lost.First() & 63
			p.castling ^= bit(rook)
			key ^= keyCastling[rook]
		}
	}
	if kind == Castle {
		p.key = key
		p.castle(us, from, to)
		return
	}

	victimSquare := to
	if kind == EnPassant {
		victimSquare ^= 8
	}
	if victim := p.board[victimSquare]; victim != NoPiece {
		t := PieceType(victim&7) - 1
		b := bit(victimSquare)
		p.halfmove = 0
		p.byType[t] ^= b
		p.byColor[us^1] ^= b
		p.board[victimSquare] = NoPiece
		key ^= keyPiece[victim&15][victimSquare]
		if p.promoted&b != 0 {
			p.promoted ^= b
			key ^= keyPromoted[victimSquare]
			t = Pawn
		}
		if p.Variant().CapturesToHand {
			n := p.hands[us].Count(t)
			p.hands[us] = p.hands[us].Add(t)
			key ^= keyHand[us][t][n] ^ keyHand[us][t][(n+1)&maxHand]
		}
	}

	p.byType[PieceType(pc&7)-1] ^= fromBit | toBit
	p.byColor[us] ^= fromBit | toBit
	p.board[from] = NoPiece
	p.board[to] = pc
	key ^= keyPiece[pc&15][from] ^ keyPiece[pc&15][to]
	if p.promoted&fromBit != 0 {
		p.promoted ^= fromBit | toBit
		key ^= keyPromoted[from] ^ keyPromoted[to]
	}
	if pc == MakePiece(us, Pawn) {
		p.halfmove = 0
		if behind := (from + to) / 2; kind == DoublePush && pawnTable[us][behind]&p.byType[Pawn]&p.byColor[us^1] != 0 {
			p.ep = behind
			key ^= keyEP[behind&7]
		}
	}
	p.key = key
	if kind >= PromoteKnight {
		p.promote(us, Knight+PieceType(kind-PromoteKnight), to)
	}
}

// drop puts a piece from the hand of us on to.
func (p *Position) drop(us Color, t PieceType, to Square) {
	pc := MakePiece(us, t)
	p.halfmove = 0
	p.byType[t] |= bit(to)
	p.byColor[us] |= bit(to)
	p.board[to] = pc
	n := p.hands[us].Count(t)
	p.hands[us] = p.hands[us].Remove(t)
	p.key ^= keyPiece[pc&15][to] ^ keyHand[us][t][n] ^ keyHand[us][t][(n-1)&maxHand]
}

// castle moves king and rook, whose squares may overlap with those they go to.
func (p *Position) castle(us Color, from, rook Square) {
	c := castlingOf(us, from, rook)
	k, r := MakePiece(us, King), MakePiece(us, Rook)
	p.byType[King] ^= bit(from) ^ bit(c.kingTo)
	p.byType[Rook] ^= bit(rook) ^ bit(c.rookTo)
	p.byColor[us] ^= bit(from) ^ bit(c.kingTo) ^ bit(rook) ^ bit(c.rookTo)
	p.board[from], p.board[rook] = NoPiece, NoPiece
	p.board[c.kingTo], p.board[c.rookTo] = k, r
	p.key ^= keyPiece[k][from] ^ keyPiece[k][c.kingTo] ^ keyPiece[r][rook] ^ keyPiece[r][c.rookTo]
}

// promote turns the pawn of us on s into a piece of kind t.
func (p *Position) promote(us Color, t PieceType, s Square) {
	pawn, pc := MakePiece(us, Pawn), MakePiece(us, t)
	p.byType[Pawn] ^= bit(s)
	p.byType[t] ^= bit(s)
	p.board[s] = pc
	p.key ^= keyPiece[pawn][s] ^ keyPiece[pc][s]
	if p.Variant().CapturesToHand {
		p.promoted |= bit(s)
		p.key ^= keyPromoted[s]
	}
}

// MakeNull passes the turn. The side to move must not be in check.
func (p *Position) MakeNull() {
	p.key ^= keySide
	if p.ep != NoSquare {
		p.key ^= keyEP[p.ep&7]
		p.ep = NoSquare
	}
	p.moves += uint16(p.side & 1)
	p.side ^= 1
	p.halfmove++
}
