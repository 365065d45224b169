package chess

// IsLegal reports whether m is legal in p, for any value of m: whether Legal
// would list it.
func (p *Position) IsLegal(m Move) bool {
	var g generator
	g.prepare(p)
	to := m.To()
	kind := m.Kind()
	double := g.checkers&(g.checkers-1) != 0
	if kind >= DropPawn {
		return m.From() == 0 && !double && g.canDrop(p, kind, to)
	}
	from := m.From()
	if !g.own.Has(from) {
		return false
	}
	if from == g.king {
		return g.isKingMove(p, to, kind)
	}
	if double || kind == Castle {
		return false
	}
	if kind == EnPassant {
		return to == p.ep && g.enPassantPawns(p).Has(from)
	}
	if !g.targets.Has(to) || g.pinned.Has(from) && (g.checkers != 0 || !lineTable[g.king&63][from].Has(to)) {
		return false
	}
	t := p.board[from].Type()
	if t == Pawn {
		return g.isPawnMove(from, to, kind)
	}
	return kind == Normal && attacksOf(t, g.us, from, g.occ).Has(to)
}

// canDrop reports whether the drop is legal; the king is not in double check.
func (g *generator) canDrop(p *Position, kind MoveKind, to Square) bool {
	if kind > DropQueen || kind == DropPawn && (rank1|rank8).Has(to) {
		return false
	}
	return p.hands[g.us&1].Has(PieceType(kind-DropPawn)) && g.interpose.Has(to)
}

// isKingMove reports whether the king may go to a square or castle with a rook
// there.
func (g *generator) isKingMove(p *Position, to Square, kind MoveKind) bool {
	switch kind {
	case Castle:
		return g.checkers == 0 && (p.castling & backRank(g.us)).Has(to) && p.canCastle(g.king, to)
	case Normal:
		return (kingTable[g.king&63] &^ g.own).Has(to) && !p.attacked(to, g.us^1, g.occ&^g.king.Bitboard())
	}
	return false
}

// isPawnMove reports whether a pawn makes such a move, en passant apart; what
// check and pins demand has been seen to.
func (g *generator) isPawnMove(from, to Square, kind MoveKind) bool {
	single, double := pushes(g.us, from.Bitboard(), ^g.occ)
	if kind == DoublePush {
		return double.Has(to)
	}
	promotes := kind >= PromoteKnight
	if promotes != (rank1|rank8).Has(to) || kind == EnPassant || kind == Castle {
		return false
	}
	return (single | pawnTable[g.us&1][from]&g.enemy).Has(to)
}
