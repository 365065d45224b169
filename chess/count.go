package chess

// CountLegal returns the number of legal moves without listing them. It walks
// as Legal does and counts squares instead.
func (p *Position) CountLegal() int {
	var g generator
	g.prepare(p)
	n := g.countKingMoves(p)
	if g.checkers&(g.checkers-1) != 0 {
		return n
	}
	if g.checkers == 0 && p.castling&backRank(g.us) != 0 {
		n += g.countCastlings(p)
	}
	if p.hands[g.us] != 0 {
		n += g.countDrops(p)
	}
	n += g.countPieceMoves(p) + g.countPawnMoves(p)
	if p.ep != NoSquare {
		n += g.enPassantPawns(p).Count()
	}
	return n
}

// HasLegalMove reports whether the side to move has a legal move.
func (p *Position) HasLegalMove() bool { return p.CountLegal() != 0 }

func (g *generator) countKingMoves(p *Position) int {
	n := 0
	occ := g.occ &^ g.king.Bitboard()
	for t := kingTable[g.king&63] &^ g.own; t != 0; t &= t - 1 {
		if !p.attacked(t.First(), g.us^1, occ) {
			n++
		}
	}
	return n
}

func (g *generator) countCastlings(p *Position) int {
	n := 0
	for rooks := p.castling & backRank(g.us); rooks != 0; rooks &= rooks - 1 {
		rook := rooks.First()
		if castlingOf(g.us, g.king, rook).empty&g.occ == 0 && p.canCastle(g.king, rook) {
			n++
		}
	}
	return n
}

func (g *generator) countDrops(p *Position) int {
	hand := p.hands[g.us&1]
	kinds := 0
	for t := Knight; t <= Queen; t++ {
		if hand.Has(t) {
			kinds++
		}
	}
	n := kinds * g.interpose.Count()
	if hand.Has(Pawn) {
		n += (g.interpose &^ (rank1 | rank8)).Count()
	}
	return n
}

func (g *generator) countPieceMoves(p *Position) int {
	n := 0
	free := g.own &^ g.pinned
	for b := p.byType[Knight] & free; b != 0; b &= b - 1 {
		n += (knightTable[b.First()&63] & g.targets).Count()
	}
	diagonal := p.byType[Bishop] | p.byType[Queen]
	straight := p.byType[Rook] | p.byType[Queen]
	for b := diagonal & free; b != 0; b &= b - 1 {
		n += (BishopAttacks(b.First(), g.occ) & g.targets).Count()
	}
	for b := straight & free; b != 0; b &= b - 1 {
		n += (RookAttacks(b.First(), g.occ) & g.targets).Count()
	}
	if g.pinned == 0 || g.checkers != 0 {
		return n
	}
	for b := diagonal & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		n += (BishopAttacks(from, g.occ) & g.targets & lineTable[g.king&63][from]).Count()
	}
	for b := straight & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		n += (RookAttacks(from, g.occ) & g.targets & lineTable[g.king&63][from]).Count()
	}
	return n
}

func (g *generator) countPawnMoves(p *Position) int {
	pawns := p.byType[Pawn] & g.own
	victims := g.enemy & g.targets
	single, double := pushes(g.us, pawns&^g.pinned, ^g.occ)
	left, right := PawnCaptures(g.us, pawns&^g.pinned)
	n := (double & g.interpose).Count()
	n += countPawnTargets(single&g.interpose) + countPawnTargets(left&victims) + countPawnTargets(right&victims)
	if g.pinned&pawns == 0 || g.checkers != 0 {
		return n
	}
	single, double = pushes(g.us, pawns&g.pinned&(fileA<<(g.king&7)), ^g.occ)
	n += countPawnTargets(single) + double.Count()
	for b := pawns & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		n += countPawnTargets(pawnTable[g.us&1][from] & victims & lineTable[g.king&63][from])
	}
	return n
}

// countPawnTargets counts moves of pawns to targets, promotions four times.
func countPawnTargets(targets Bitboard) int {
	return targets.Count() + 3*(targets&(rank1|rank8)).Count()
}
