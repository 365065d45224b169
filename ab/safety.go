package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// attacks are squares of a position, from the side to move: where a piece of it may be
// lost, and from where it attacks a greater one. Knights and bishops count as equal, and
// pins do not matter.
type attacks struct {
	lesser      [6]chess.Bitboard // by kind of piece: attacked by the opponent with a lesser one
	greater     [6]chess.Bitboard // by kind of piece: from here it attacks a greater one
	theirs      chess.Bitboard    // attacked by the opponent
	once, twice chess.Bitboard    // attacked by the side to move, by two of its pieces
}

// find fills in what the rules in s need.
func (a *attacks) find(p *chess.Position, s *Selection) {
	us := p.SideToMove()
	them, occ := us.Other(), p.Occupied()
	left, right := chess.PawnCaptures(them, p.Pieces(them, chess.Pawn))
	by := left | right
	a.lesser[chess.Knight], a.lesser[chess.Bishop] = by, by
	for b := p.Pieces(them, chess.Knight); b != 0; b &= b - 1 {
		by |= chess.KnightAttacks(b.First())
	}
	for b := p.Pieces(them, chess.Bishop); b != 0; b &= b - 1 {
		by |= chess.BishopAttacks(b.First(), occ)
	}
	a.lesser[chess.Rook] = by
	for b := p.Pieces(them, chess.Rook); b != 0; b &= b - 1 {
		by |= chess.RookAttacks(b.First(), occ)
	}
	a.lesser[chess.Queen] = by
	if s.Loose {
		for b := p.Pieces(them, chess.Queen); b != 0; b &= b - 1 {
			by |= chess.QueenAttacks(b.First(), occ)
		}
		a.theirs = by | chess.KingAttacks(p.King(them))
		a.findOwn(p, us, occ)
	}
	if s.Threaten {
		a.findGreater(p, them, occ)
	}
}

// findOwn fills in once and twice.
func (a *attacks) findOwn(p *chess.Position, us chess.Color, occ chess.Bitboard) {
	left, right := chess.PawnCaptures(us, p.Pieces(us, chess.Pawn))
	a.once, a.twice = left|right, left&right
	for b := p.Pieces(us, chess.Knight); b != 0; b &= b - 1 {
		a.add(chess.KnightAttacks(b.First()))
	}
	for b := p.Pieces(us, chess.Bishop); b != 0; b &= b - 1 {
		a.add(chess.BishopAttacks(b.First(), occ))
	}
	for b := p.Pieces(us, chess.Rook); b != 0; b &= b - 1 {
		a.add(chess.RookAttacks(b.First(), occ))
	}
	for b := p.Pieces(us, chess.Queen); b != 0; b &= b - 1 {
		a.add(chess.QueenAttacks(b.First(), occ))
	}
	a.add(chess.KingAttacks(p.King(us)))
}

// add counts what one piece of the side to move attacks.
func (a *attacks) add(b chess.Bitboard) {
	a.twice |= a.once & b
	a.once |= b
}

// findGreater fills in greater.
func (a *attacks) findGreater(p *chess.Position, them chess.Color, occ chess.Bitboard) {
	for b := p.Pieces(them, chess.Queen); b != 0; b &= b - 1 {
		s := b.First()
		a.greater[chess.Knight] |= chess.KnightAttacks(s)
		a.greater[chess.Bishop] |= chess.BishopAttacks(s, occ)
		a.greater[chess.Rook] |= chess.RookAttacks(s, occ)
	}
	for b := p.Pieces(them, chess.Rook); b != 0; b &= b - 1 {
		s := b.First()
		a.greater[chess.Knight] |= chess.KnightAttacks(s)
		a.greater[chess.Bishop] |= chess.BishopAttacks(s, occ)
	}
	// A pawn attacks a square from where a pawn of the opponent on it would attack.
	left, right := chess.PawnCaptures(them, p.ByColor(them)&^p.ByType(chess.Pawn)&^p.ByType(chess.King))
	a.greater[chess.Pawn] = left | right
}

// safetyWeights are what kinds of pieces count in the order by attacks, a rook being 3.
var safetyWeights = [6]int32{chess.Pawn: 1, chess.Knight: 2, chess.Bishop: 2, chess.Rook: 3, chess.Queen: 5}

// safety is what the quiet move m gains in the order by attacks: by leaving one or by
// attacking, or below 0 by going into one.
func (a *attacks) safety(p *chess.Position, m chess.Move, s *Selection) int32 {
	if m.IsCastle() || m.IsPromotion() {
		return 0
	}
	to := m.To()
	var kind chess.PieceType
	score := int32(0)
	defended := a.once
	if m.IsDrop() {
		kind = m.DropType()
	} else {
		from := m.From()
		if kind = p.PieceAt(from).Type(); kind == chess.King {
			return 0
		}
		if kind != chess.Pawn {
			defended = a.twice // by the piece itself too
		}
		switch {
		case a.lesser[kind].Has(from) && !p.Promoted().Has(from):
			score += int32(s.EscapeBonus)
		case a.theirs.Has(from) && !a.once.Has(from):
			score += int32(s.LooseBonus)
		}
	}
	switch {
	case a.lesser[kind].Has(to):
		score -= int32(s.EscapeBonus)
	case a.theirs.Has(to) && !defended.Has(to):
		score -= int32(s.LooseBonus)
	}
	score = safetyWeights[kind] * score / 3
	if a.greater[kind].Has(to) {
		score += int32(s.ThreatBonus)
	}
	return score
}
