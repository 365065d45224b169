package plycode

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

const (
	middleRanks chess.Bitboard = 0x00ffffffffffff00
	whitesLast  chess.Bitboard = 0xff << 48 // where white pawns stand before promotion
	blacksLast  chess.Bitboard = 0xff << 8
)

// movers are what the side to move can move or drop: its pieces in the order of
// their squares and the kinds in its hand from pawn to queen.
type movers struct {
	own    chess.Bitboard
	hand   chess.Hand
	pieces uint
	kinds  uint // kinds in hand
}

func moversOf(p *chess.Position) movers {
	us := p.SideToMove()
	m := movers{own: p.ByColor(us), hand: p.Hand(us)}
	m.pieces = uint(m.own.Count())
	if !m.hand.Empty() {
		m.kinds = m.kindsBelow(chess.King)
	}
	return m
}

// kindsBelow counts the kinds in hand that come before t.
func (m *movers) kindsBelow(t chess.PieceType) uint {
	n := uint(0)
	for k := chess.Pawn; k < t; k++ {
		if m.hand.Has(k) {
			n++
		}
	}
	return n
}

// kind returns number i of the kinds in hand.
func (m *movers) kind(i uint) chess.PieceType {
	for k := chess.Pawn; ; k++ {
		if m.hand.Has(k) {
			if i == 0 {
				return k
			}
			i--
		}
	}
}

// dropSquares returns where a piece of kind t may be dropped if check is left
// out of account.
func dropSquares(p *chess.Position, t chess.PieceType) chess.Bitboard {
	empty := ^p.Occupied()
	if t == chess.Pawn {
		return empty & middleRanks
	}
	return empty
}

// reach is where a piece may go if check and pins are left out of account.
type reach struct {
	to     chess.Bitboard
	castle chess.Bitboard // rooks the king has the right to castle with, counted after to
	ways   uint           // 4 if arriving means promoting, else 1
}

func (r *reach) count() uint { return uint(r.to.Count())*r.ways + uint(r.castle.Count()) }

// reachOf returns the reach of the piece of the side to move on s.
func reachOf(p *chess.Position, s chess.Square) reach {
	us := p.SideToMove()
	own := p.ByColor(us)
	switch p.PieceAt(s).Type() {
	case chess.Pawn:
		return pawnReach(p, us, s)
	case chess.Knight:
		return reach{to: chess.KnightAttacks(s) &^ own, ways: 1}
	case chess.Bishop:
		return reach{to: chess.BishopAttacks(s, p.Occupied()) &^ own, ways: 1}
	case chess.Rook:
		return reach{to: chess.RookAttacks(s, p.Occupied()) &^ own, ways: 1}
	case chess.Queen:
		return reach{to: chess.QueenAttacks(s, p.Occupied()) &^ own, ways: 1}
	}
	return reach{to: chess.KingAttacks(s) &^ own, castle: p.CastlingRooks() & own, ways: 1}
}

func pawnReach(p *chess.Position, us chess.Color, s chess.Square) reach {
	victims := p.ByColor(us.Other()) | p.EnPassant().Bitboard()
	empty := ^p.Occupied()
	to := chess.PawnAttacks(us, s) & victims
	single, double, last := s.Bitboard()<<8&empty, chess.Bitboard(0), whitesLast
	if us == chess.White {
		double = single & (0xff << 16) << 8 & empty
	} else {
		single, last = s.Bitboard()>>8&empty, blacksLast
		double = single & (0xff << 40) >> 8 & empty
	}
	r := reach{to: to | single | double, ways: 1}
	if last.Has(s) {
		r.ways = 4
	}
	return r
}

// writeMove appends the code of the legal move m.
func writeMove(w *bitWriter, p *chess.Position, m chess.Move) {
	movers := moversOf(p)
	below := m.To().Bitboard() - 1
	if m.IsDrop() {
		w.choice(movers.pieces+movers.kindsBelow(m.DropType()), movers.pieces+movers.kinds)
		squares := dropSquares(p, m.DropType())
		w.choice(uint((squares & below).Count()), uint(squares.Count()))
		return
	}
	w.choice(uint((movers.own & (m.From().Bitboard() - 1)).Count()), movers.pieces+movers.kinds)
	r := reachOf(p, m.From())
	i := uint((r.to & below).Count()) * r.ways
	switch {
	case m.IsCastle():
		i = uint(r.to.Count() + (r.castle & below).Count())
	case m.IsPromotion():
		i += uint(m.PromotionType() - chess.Knight)
	}
	w.choice(i, r.count())
}

// readMove reads the code of a move. What it returns is made up of a piece or kind
// and a square in its reach, and may still be illegal; ok is false if the piece
// cannot move at all.
func readMove(b *bitReader, p *chess.Position) (m chess.Move, ok bool) {
	movers := moversOf(p)
	i := b.choice(movers.pieces + movers.kinds)
	if i >= movers.pieces {
		t := movers.kind(i - movers.pieces)
		squares := dropSquares(p, t)
		if squares == 0 {
			return chess.NoMove, false
		}
		return chess.NewDrop(t, nth(squares, b.choice(uint(squares.Count())))), true
	}
	from := nth(movers.own, i)
	r := reachOf(p, from)
	n := r.count()
	if n == 0 {
		return chess.NoMove, false
	}
	i = b.choice(n)
	if r.ways == 4 {
		return chess.NewPromotion(from, nth(r.to, i/4), chess.Knight+chess.PieceType(i%4)), true
	}
	if steps := uint(r.to.Count()); i >= steps {
		return chess.NewMove(from, nth(r.castle, i-steps), chess.Castle), true
	}
	to := nth(r.to, i)
	kind := chess.Normal
	if p.PieceAt(from).Type() == chess.Pawn {
		switch {
		case to == p.EnPassant():
			kind = chess.EnPassant
		case to == from+16 || from == to+16:
			kind = chess.DoublePush
		}
	}
	return chess.NewMove(from, to, kind), true
}

// nth returns square number n of b, counted from 0 in rising order; b must have
// more than n.
func nth(b chess.Bitboard, n uint) chess.Square {
	for ; n > 0; n-- {
		b &= b - 1
	}
	return chess.Square(bits.TrailingZeros64(uint64(b)) & 63)
}
