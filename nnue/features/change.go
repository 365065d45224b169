package features

import "github.com/crazyhouse-rl/selfplay/chess"

// Change is what one move changes about a position, seen from neither side, in
// 12 bytes, so that a search can note it at every move and turn it into
// features only where an evaluation needs them. The zero value changes nothing,
// like a null move.
type Change struct {
	added, removed   [2]element
	nAdded, nRemoved uint8
	king             uint8 // 1 + colour of the king that moved, or 0
}

// element is a man on a square or a step of a hand's thermometer, in 16 bits.
//
//	bits 0-5  square, or step 0..15
//	bit  6    colour
//	bits 7-9  kind
//	bit  10   in hand
type element uint16

const inHand element = 1 << 10

func man(c chess.Color, t chess.PieceType, s chess.Square) element {
	return element(s) | element(c)<<6 | element(t)<<7
}

func handStep(c chess.Color, t chess.PieceType, step int) element {
	return element(step) | element(c)<<6 | element(t)<<7 | inHand
}

func (v view) feature(e element) int32 {
	low, c, t := int(e&63), int(e>>6&1), int(e>>7&7)
	if e&inHand != 0 {
		return int32(v.base + handOffset + (2*t+(c^v.enemy))*handSteps + low)
	}
	return v.man(c, t, low)
}

func (c *Change) add(e element) {
	c.added[c.nAdded] = e
	c.nAdded++
}

func (c *Change) remove(e element) {
	c.removed[c.nRemoved] = e
	c.nRemoved++
}

// Changed returns what the legal move m changes in p, the position before the
// move. chess.NoMove, a null move, changes nothing.
func (h HalfKAv2) Changed(p *chess.Position, m chess.Move) Change {
	var c Change
	if m == chess.NoMove {
		return c
	}
	us := p.SideToMove()
	switch {
	case m.IsDrop():
		t := m.DropType()
		if step := p.Hand(us).Count(t) - 1; h.hands && step < handSteps {
			c.remove(handStep(us, t, step))
		}
		c.add(man(us, t, m.To()))
	case m.IsCastle():
		c.castle(us, m)
	default:
		h.boardMove(&c, p, m)
	}
	return c
}

// castle moves king and rook; m.To is the square of the rook.
func (c *Change) castle(us chess.Color, m chess.Move) {
	rank := m.From() &^ 7
	kingTo, rookTo := rank+2, rank+3 // c and d file
	if m.To() > m.From() {
		kingTo, rookTo = rank+6, rank+5 // g and f file
	}
	c.king = 1 + uint8(us)
	c.remove(man(us, chess.King, m.From()))
	c.remove(man(us, chess.Rook, m.To()))
	c.add(man(us, chess.King, kingTo))
	c.add(man(us, chess.Rook, rookTo))
}

func (h HalfKAv2) boardMove(c *Change, p *chess.Position, m chess.Move) {
	us := p.SideToMove()
	t := p.PieceAt(m.From()).Type()
	c.remove(man(us, t, m.From()))
	if t == chess.King {
		c.king = 1 + uint8(us)
	}
	if m.IsPromotion() {
		t = m.PromotionType()
	}
	c.add(man(us, t, m.To()))

	target := m.To()
	if m.IsEnPassant() {
		target ^= 8 // the captured pawn stands on the rank before or behind
	}
	taken := p.PieceAt(target)
	if taken == chess.NoPiece {
		return
	}
	c.remove(man(us.Other(), taken.Type(), target))
	if !h.hands {
		return
	}
	gained := taken.Type()
	if p.Promoted()>>target&1 != 0 {
		gained = chess.Pawn
	}
	if step := p.Hand(us).Count(gained); step < handSteps {
		c.add(handStep(us, gained, step))
	}
}

// Refresh reports whether the features of a perspective must be collected anew
// because its own king has moved.
func (c *Change) Refresh(perspective chess.Color) bool { return c.king == 1+uint8(perspective) }

// Append appends the features the change switches on to added and those it
// switches off to removed, for a perspective whose king stands on king before
// and after the move. Each grows by two at most.
func (h HalfKAv2) Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32) {
	v := h.viewFrom(perspective, king)
	for _, e := range c.added[:c.nAdded] {
		added = append(added, v.feature(e))
	}
	for _, e := range c.removed[:c.nRemoved] {
		removed = append(removed, v.feature(e))
	}
	return added, removed
}

// Snapshot is the men and hands of a position, from which the features of
// another can be reached by a difference. The zero value is the empty board.
type Snapshot struct {
	men   [2][6]chess.Bitboard
	hands [2]chess.Hand
}

// Difference appends to added and removed the features that lead from s to p,
// seen from perspective with its king where p has it, and makes s equal p.
func (h HalfKAv2) Difference(s *Snapshot, p *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	v := h.view(p, perspective)
	for c := range s.men {
		for t := range s.men[c] {
			now, old := p.Pieces(chess.Color(c), chess.PieceType(t)), s.men[c][t]
			if now == old {
				continue
			}
			added = v.appendMen(added, c, t, now&^old)
			removed = v.appendMen(removed, c, t, old&^now)
			s.men[c][t] = now
		}
		now, old := p.Hand(chess.Color(c)), s.hands[c]
		if now == old || !h.hands {
			continue
		}
		for t := range handKinds {
			n, o := handCount(now, t), handCount(old, t)
			added = v.appendHand(added, c, t, o, n)
			removed = v.appendHand(removed, c, t, n, o)
		}
		s.hands[c] = now
	}
	return added, removed
}
