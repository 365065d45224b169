package chess

// LegalCaptures fills l with the legal captures, en passant included, and the
// legal promotions to a queen: what a quiescence search looks at.
func (p *Position) LegalCaptures(l *MoveList) {
	l.N = 0
	var g generator
	g.prepare(p)
	g.kingMoves(p, l, g.enemy)
	if g.checkers&(g.checkers-1) != 0 {
		return
	}
	g.pieceMoves(p, l, g.targets&g.enemy)
	g.pawnCaptures(p, l)
	if p.ep != NoSquare {
		g.enPassant(p, l)
	}
	g.queenPromotions(p, l)
}

// queenPromotions adds the promotions to a queen that capture nothing.
func (g *generator) queenPromotions(p *Position, l *MoveList) {
	pawns := p.byType[Pawn] & g.own
	if g.checkers == 0 {
		pawns &^= g.pinned &^ (fileA << (g.king & 7))
	} else {
		pawns &^= g.pinned
	}
	single, _ := pushes(g.us, pawns, ^g.occ)
	for b := single & g.interpose & (rank1 | rank8); b != 0; b &= b - 1 {
		to := b.First()
		l.Add(NewMove(Square(int(to)-forward(g.us)), to, PromoteQueen))
	}
}

// LegalQuiets appends to l the legal moves that LegalCaptures leaves out.
func (p *Position) LegalQuiets(l *MoveList) {
	var g generator
	g.prepare(p)
	g.kingMoves(p, l, ^g.occ)
	if g.checkers&(g.checkers-1) != 0 {
		return
	}
	if g.checkers == 0 && p.castling&backRank(g.us) != 0 {
		g.castlings(p, l)
	}
	if p.hands[g.us] != 0 {
		g.drops(p, l)
	}
	g.pieceMoves(p, l, g.targets&^g.enemy)
	n := l.N
	g.pawnPushes(p, l)
	// Few positions have a pawn that promotes.
	for i := n; i < l.N; i++ {
		if m := l.Moves[i]; m.Kind() != PromoteQueen {
			l.Moves[n] = m
			n++
		}
	}
	l.N = n
}

// LegalDropChecks appends to l the legal drops that give check.
func (p *Position) LegalDropChecks(l *MoveList) {
	if p.hands[p.side&1] == 0 {
		return
	}
	var g generator
	g.prepare(p)
	if g.checkers&(g.checkers-1) == 0 {
		g.dropChecks(p, l)
	}
}

// LegalQuietChecks appends to l the moves of LegalQuiets after which the piece that was
// moved or dropped gives check itself, but no promotions.
func (p *Position) LegalQuietChecks(l *MoveList) {
	var g generator
	g.prepare(p)
	if g.checkers&(g.checkers-1) != 0 {
		return
	}
	if p.hands[g.us] != 0 {
		g.dropChecks(p, l)
	}
	from := p.CheckSquares()
	n := l.N
	g.pieceMoves(p, l, g.targets&^g.enemy&(from[Knight]|from[Queen]))
	g.pawnPushes(p, l)
	for i := n; i < l.N; i++ {
		m := l.Moves[i]
		if t := p.PieceAt(m.From()).Type(); from[t].Has(m.To()) {
			l.Moves[n] = m
			n++
		}
	}
	l.N = n
}

// LegalChecks fills l with the legal moves that give check.
func (p *Position) LegalChecks(l *MoveList) {
	l.N = 0
	var g generator
	g.prepare(p)
	g.kingMoves(p, l, ^g.own)
	double := g.checkers&(g.checkers-1) != 0 // only the king may move
	if !double {
		if g.checkers == 0 && p.castling&backRank(g.us) != 0 {
			g.castlings(p, l)
		}
		g.pieceAndPawnMoves(p, l)
	}
	p.KeepChecks(l)
	if !double && p.hands[g.us] != 0 {
		g.dropChecks(p, l)
	}
}

// KeepChecks leaves those of the legal moves in l that give check, in their order. It is
// faster than GivesCheck for each.
func (p *Position) KeepChecks(l *MoveList) {
	from, king := p.CheckSquares(), p.King(p.side&1^1)
	n := 0
	for _, m := range l.Slice() {
		check := false
		switch {
		case m.IsDrop():
			check = from[m.DropType()].Has(m.To())
		case m.Kind() != Normal:
			check = p.GivesCheck(m)
		default:
			check = from[p.board[m.From()].Type()].Has(m.To()) || lineTable[m.From()][king] != 0 && p.GivesCheck(m)
		}
		if check {
			l.Moves[n] = m
			n++
		}
	}
	l.N = n
}

// dropChecks adds the drops that give check; the hand must not be empty.
func (g *generator) dropChecks(p *Position, l *MoveList) {
	hand, king := p.hands[g.us], p.King(g.us^1)
	if hand.Has(Pawn) {
		l.addDrops(Pawn, pawnTable[g.us^1][king&63]&g.interpose&^(rank1|rank8))
	}
	for t := Knight; t <= Queen; t++ {
		if hand.Has(t) {
			l.addDrops(t, attacksOf(t, g.us, king, g.occ)&g.interpose)
		}
	}
}
