package chess

// Legal fills l with the legal moves of p, in an order that depends on the
// position alone.
//
// Generation is legal from the start. In check only captures of the checker and
// squares between it and the king are targets; a pinned piece stays on the line
// of its pin. King moves and en passant are tried out.
func (p *Position) Legal(l *MoveList) {
	l.N = 0
	var g generator
	g.prepare(p)
	g.kingMoves(p, l, ^g.own)
	if g.checkers&(g.checkers-1) != 0 {
		return
	}
	if g.checkers == 0 && p.castling&backRank(g.us) != 0 {
		g.castlings(p, l)
	}
	if p.hands[g.us] != 0 {
		g.drops(p, l)
	}
	g.pieceAndPawnMoves(p, l)
}

// pieceAndPawnMoves adds the moves of all pieces but the king.
func (g *generator) pieceAndPawnMoves(p *Position, l *MoveList) {
	g.pieceMoves(p, l, g.targets)
	g.pawnPushes(p, l)
	g.pawnCaptures(p, l)
	if p.ep != NoSquare {
		g.enPassant(p, l)
	}
}

// generator is what the generation of moves in one position shares.
type generator struct {
	own, enemy, occ  Bitboard
	checkers, pinned Bitboard
	interpose        Bitboard // where a piece may be dropped: in check only between
	targets          Bitboard // where pieces other than the king may move to
	king             Square
	us               Color
}

func (g *generator) prepare(p *Position) {
	g.us = p.side & 1
	g.own, g.enemy = p.byColor[g.us], p.byColor[g.us^1]
	g.occ = g.own | g.enemy
	g.checkers, g.pinned, g.king = p.checkInfo()
	g.interpose, g.targets = ^g.occ, ^g.own
	if g.checkers != 0 {
		g.interpose = betweenTable[g.king&63][g.checkers.First()&63]
		g.targets = g.interpose | g.checkers
	}
}

// kingMoves adds the steps of the king to squares of targets.
func (g *generator) kingMoves(p *Position, l *MoveList, targets Bitboard) {
	occ := g.occ &^ g.king.Bitboard()
	for t := kingTable[g.king&63] & targets; t != 0; t &= t - 1 {
		if to := t.First(); !p.attacked(to, g.us^1, occ) {
			l.Add(NewMove(g.king, to, Normal))
		}
	}
}

// castlings adds castling to either side; the king must not be in check.
func (g *generator) castlings(p *Position, l *MoveList) {
	for rooks := p.castling & backRank(g.us); rooks != 0; rooks &= rooks - 1 {
		rook := rooks.First()
		if castlingOf(g.us, g.king, rook).empty&g.occ == 0 && p.canCastle(g.king, rook) {
			l.Add(NewMove(g.king, rook, Castle))
		}
	}
}

// drops adds the drops from the hand of the side to move.
func (g *generator) drops(p *Position, l *MoveList) {
	hand := p.hands[g.us&1]
	if hand.Has(Pawn) {
		l.addDrops(Pawn, g.interpose&^(rank1|rank8))
	}
	for t := Knight; t <= Queen; t++ {
		if hand.Has(t) {
			l.addDrops(t, g.interpose)
		}
	}
}

// pieceMoves adds the moves of knights, bishops, rooks and queens to squares of
// targets.
func (g *generator) pieceMoves(p *Position, l *MoveList, targets Bitboard) {
	free := g.own &^ g.pinned
	for b := p.byType[Knight] & free; b != 0; b &= b - 1 {
		from := b.First() & 63
		l.addMoves(from, knightTable[from]&targets)
	}
	diagonal := p.byType[Bishop] | p.byType[Queen]
	straight := p.byType[Rook] | p.byType[Queen]
	for b := diagonal & free; b != 0; b &= b - 1 {
		from := b.First()
		l.addMoves(from, BishopAttacks(from, g.occ)&targets)
	}
	for b := straight & free; b != 0; b &= b - 1 {
		from := b.First()
		l.addMoves(from, RookAttacks(from, g.occ)&targets)
	}
	if g.pinned == 0 || g.checkers != 0 { // a pinned piece cannot end a check
		return
	}
	for b := diagonal & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		l.addMoves(from, BishopAttacks(from, g.occ)&targets&lineTable[g.king&63][from])
	}
	for b := straight & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		l.addMoves(from, RookAttacks(from, g.occ)&targets&lineTable[g.king&63][from])
	}
}

// pushes returns the squares reached by one and by two steps of pawns of c onto
// squares of empty.
func pushes(c Color, pawns, empty Bitboard) (single, double Bitboard) {
	if c == White {
		single = pawns << 8 & empty
		return single, single & rank3 << 8 & empty
	}
	single = pawns >> 8 & empty
	return single, single & rank6 >> 8 & empty
}

// forward returns the distance of a pawn step in squares: 8 or -8.
func forward(c Color) int { return 8 - 16*int(c&1) }

// pawnPushes adds the steps of pawns straight ahead, promotions included.
func (g *generator) pawnPushes(p *Position, l *MoveList) {
	pawns := p.byType[Pawn] & g.own
	single, double := pushes(g.us, pawns&^g.pinned, ^g.occ)
	step := forward(g.us)
	l.addPawnMoves(single&g.interpose, step)
	l.addShifted(double&g.interpose, 2*step, DoublePush)
	if g.checkers != 0 {
		return
	}
	// A pawn pinned along the file moves on as if it were free.
	if file := pawns & g.pinned & (fileA << (g.king & 7)); file != 0 {
		single, double = pushes(g.us, file, ^g.occ)
		l.addPawnMoves(single, step)
		l.addShifted(double, 2*step, DoublePush)
	}
}

// pawnCaptures adds the captures of pawns, without en passant.
func (g *generator) pawnCaptures(p *Position, l *MoveList) {
	pawns := p.byType[Pawn] & g.own
	victims := g.enemy & g.targets
	left, right := PawnCaptures(g.us, pawns&^g.pinned)
	step := forward(g.us)
	l.addPawnMoves(left&victims, step-1)
	l.addPawnMoves(right&victims, step+1)
	if g.checkers != 0 {
		return
	}
	for b := pawns & g.pinned; b != 0; b &= b - 1 {
		from := b.First() & 63
		to := pawnTable[g.us&1][from] & victims & lineTable[g.king&63][from]
		if to != 0 {
			l.addPawnMoves(to, int(to.First())-int(from))
		}
	}
}

// enPassant adds the captures en passant.
func (g *generator) enPassant(p *Position, l *MoveList) {
	for b := g.enPassantPawns(p); b != 0; b &= b - 1 {
		l.Add(NewMove(b.First(), p.ep, EnPassant))
	}
}

// enPassantPawns returns the pawns that may capture en passant, which p allows.
func (g *generator) enPassantPawns(p *Position) Bitboard {
	victim := (p.ep ^ 8).Bitboard()
	if !g.interpose.Has(p.ep) && g.checkers != victim {
		return 0
	}
	pawns := pawnTable[g.us&1^1][p.ep&63] & p.byType[Pawn] & g.own
	for b := pawns; b != 0; b &= b - 1 {
		occ := g.occ&^victim&^(b&-b) | p.ep.Bitboard()
		if p.slidersTo(g.king, occ)&g.enemy != 0 {
			pawns ^= b & -b
		}
	}
	return pawns
}

// addMoves adds moves from one square to every square of targets.
func (l *MoveList) addMoves(from Square, targets Bitboard) {
	n := l.N
	for ; targets != 0; targets &= targets - 1 {
		l.Moves[n&511] = Move(from) | Move(targets.First())<<6
		n++
	}
	l.N = n
}

// addDrops adds drops of kind t on every square of targets.
func (l *MoveList) addDrops(t PieceType, targets Bitboard) {
	n := l.N
	kind := Move(DropPawn+MoveKind(t)) << 12
	for ; targets != 0; targets &= targets - 1 {
		l.Moves[n&511] = kind | Move(targets.First())<<6
		n++
	}
	l.N = n
}

// addPawnMoves adds the moves of pawns that arrive on targets from step squares
// before, each promotion four times.
func (l *MoveList) addPawnMoves(targets Bitboard, step int) {
	if ends := targets & (rank1 | rank8); ends != 0 {
		for kind := PromoteKnight; kind <= PromoteQueen; kind++ {
			l.addShifted(ends, step, kind)
		}
		targets ^= ends
	}
	l.addShifted(targets, step, Normal)
}

// addShifted adds moves of one kind that arrive on targets from step squares
// before.
func (l *MoveList) addShifted(targets Bitboard, step int, kind MoveKind) {
	n := l.N
	base := int(kind)<<12 - step
	for ; targets != 0; targets &= targets - 1 {
		to := int(targets.First())
		l.Moves[n&511] = Move(base + to + to<<6)
		n++
	}
	l.N = n
}
