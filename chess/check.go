package chess

// AttackersTo returns the pieces of both sides that attack s when the squares
// of occ are occupied. Pieces outside occ still attack.
func (p *Position) AttackersTo(s Square, occ Bitboard) Bitboard {
	queens := p.byType[Queen]
	return PawnAttacks(White, s)&p.Pieces(Black, Pawn) |
		PawnAttacks(Black, s)&p.Pieces(White, Pawn) |
		KnightAttacks(s)&p.byType[Knight] |
		KingAttacks(s)&p.byType[King] |
		BishopAttacks(s, occ)&(p.byType[Bishop]|queens) |
		RookAttacks(s, occ)&(p.byType[Rook]|queens)
}

// attacked reports whether a piece of side by attacks s when the squares of occ
// are occupied.
func (p *Position) attacked(s Square, by Color, occ Bitboard) bool {
	enemy := p.byColor[by&1]
	if (PawnAttacks(by^1, s)&p.byType[Pawn]|KnightAttacks(s)&p.byType[Knight]|KingAttacks(s)&p.byType[King])&enemy != 0 {
		return true
	}
	return p.slidersTo(s, occ)&enemy != 0
}

// slidersTo returns the bishops, rooks and queens that attack s when the squares
// of occ are occupied.
func (p *Position) slidersTo(s Square, occ Bitboard) Bitboard {
	queens := p.byType[Queen]
	return RookAttacks(s, occ)&(p.byType[Rook]|queens) | BishopAttacks(s, occ)&(p.byType[Bishop]|queens)
}

// Checkers returns the pieces that give check to the side to move.
func (p *Position) Checkers() Bitboard {
	return p.AttackersTo(p.King(p.side), p.Occupied()) & p.byColor[p.side&1^1]
}

// InCheck reports whether the side to move is in check.
func (p *Position) InCheck() bool { return p.attacked(p.King(p.side), p.side^1, p.Occupied()) }

// checkInfo returns, for the side to move, the pieces giving check, its own
// pieces that are pinned to their king, and the king's square.
func (p *Position) checkInfo() (checkers, pinned Bitboard, king Square) {
	us := p.side & 1
	own, enemy := p.byColor[us], p.byColor[us^1]
	king = (p.byType[King] & own).First() & 63
	checkers = (pawnTable[us][king]&p.byType[Pawn] | knightTable[king]&p.byType[Knight]) & enemy
	for snipers := p.slidersTo(king, enemy) & enemy; snipers != 0; snipers &= snipers - 1 {
		blockers := betweenTable[king][snipers.First()&63] & own
		if blockers == 0 {
			checkers |= snipers & -snipers
		} else if blockers&(blockers-1) == 0 {
			pinned |= blockers
		}
	}
	return checkers, pinned, king
}

// GivesCheck reports whether the legal move m gives check.
func (p *Position) GivesCheck(m Move) bool {
	us := p.side & 1
	from, to := m.From(), m.To()
	king := p.King(us ^ 1)
	occ := p.Occupied()
	if m.IsDrop() {
		return attacksOf(m.DropType(), us, to, occ).Has(king)
	}
	moved := p.board[from].Type()
	left := from.Bitboard() // own pieces no longer where they stood
	switch kind := m.Kind(); kind {
	case Castle:
		c := castlingOf(us, from, to)
		left |= to.Bitboard()
		occ = occ&^left | c.kingTo.Bitboard() | c.rookTo.Bitboard()
		if RookAttacks(c.rookTo, occ).Has(king) {
			return true
		}
	case EnPassant:
		occ = occ&^left&^(to^8).Bitboard() | to.Bitboard()
		if PawnAttacks(us, to).Has(king) {
			return true
		}
	default:
		if m.IsPromotion() {
			moved = m.PromotionType()
		}
		occ = occ&^left | to.Bitboard()
		if moved != King && attacksOf(moved, us, to, occ).Has(king) {
			return true
		}
		if lineTable[from][king] == 0 {
			return false
		}
	}
	return p.slidersTo(king, occ)&p.byColor[us]&^left != 0
}

// IsCapture reports whether the legal move m captures; en passant does,
// castling does not.
func (p *Position) IsCapture(m Move) bool { return p.CapturedType(m) != NoPieceType }

// CapturedType returns the kind of piece the legal move m captures, as it stands
// on the board, NoPieceType if it captures nothing.
func (p *Position) CapturedType(m Move) PieceType {
	switch m.Kind() {
	case EnPassant:
		return Pawn
	case Castle:
		return NoPieceType
	}
	return p.board[m.To()].Type()
}

// CheckSquares returns, by kind of piece, the squares from which a piece of the side to
// move would attack the opposing king; none for its own king.
func (p *Position) CheckSquares() [6]Bitboard {
	them := p.side&1 ^ 1
	king, occ := p.King(them), p.Occupied()
	diagonal, straight := BishopAttacks(king, occ), RookAttacks(king, occ)
	return [6]Bitboard{
		Pawn:   PawnAttacks(them, king),
		Knight: KnightAttacks(king),
		Bishop: diagonal,
		Rook:   straight,
		Queen:  diagonal | straight,
	}
}
