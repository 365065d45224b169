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

// element is a piece on a square or a step of a hand's thermometer, in 16 bits.
//
//	bits 0-5  square, or step 0..15
//	bit  6    colour
//	bits 7-9  kind
//	bit  10   in hand
//	bit  11   on the board, and promoted
type element uint16

const (
	inHand   element = 1 << 10
	promoted element = 1 << 11
)

func pieceElement(c chess.Color, t chess.PieceType, s chess.Square) element {
	return element(s) | element(c)<<6 | element(t)<<7
}

func handStep(c chess.Color, t chess.PieceType, step int) element {
	return element(step) | element(c)<<6 | element(t)<<7 | inHand
}

func (e element) square() int { return int(e & 63) } // of a piece
func (e element) step() int   { return int(e & 63) } // of a hand
func (e element) color() int  { return int(e >> 6 & 1) }
func (e element) kind() int   { return int(e >> 7 & 7) }

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
func Changed(p *chess.Position, m chess.Move) Change {
	var c Change
	if m == chess.NoMove {
		return c
	}
	us := p.SideToMove()
	switch {
	case m.IsDrop():
		t := m.DropType()
		if step := p.Hand(us).Count(t) - 1; step < handSteps {
			c.remove(handStep(us, t, step))
		}
		c.add(pieceElement(us, t, m.To()))
	case m.IsCastle():
		c.castle(us, m)
	default:
		c.board(p, us, m)
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
	c.remove(pieceElement(us, chess.King, m.From()))
	c.remove(pieceElement(us, chess.Rook, m.To()))
	c.add(pieceElement(us, chess.King, kingTo))
	c.add(pieceElement(us, chess.Rook, rookTo))
}

// board moves a piece and takes what stands in its way.
func (c *Change) board(p *chess.Position, us chess.Color, m chess.Move) {
	t := p.PieceAt(m.From()).Type()
	marks := p.Promoted()
	mark := promotedIf(marks, m.From())
	c.remove(pieceElement(us, t, m.From()) | mark)
	if t == chess.King {
		c.king = 1 + uint8(us)
	}
	hands := p.Variant().CapturesToHand
	if m.IsPromotion() {
		t = m.PromotionType()
		if hands {
			mark = promoted
		}
	}
	c.add(pieceElement(us, t, m.To()) | mark)

	target := m.To()
	if m.IsEnPassant() {
		target ^= 8 // the captured pawn stands on the next rank
	}
	taken := p.PieceAt(target)
	if taken == chess.NoPiece {
		return
	}
	mark = promotedIf(marks, target)
	c.remove(pieceElement(us.Other(), taken.Type(), target) | mark)
	if !hands {
		return
	}
	gained := taken.Type()
	if mark != 0 {
		gained = chess.Pawn
	}
	if step := p.Hand(us).Count(gained); step < handSteps {
		c.add(handStep(us, gained, step))
	}
}

// promotedIf returns the mark of a promoted piece if one stands on s.
func promotedIf(marks chess.Bitboard, s chess.Square) element {
	return element(marks>>s&1) << 11
}

// Refresh reports whether the own king of a perspective has moved, so that the
// features of a set with anchors must be collected anew.
func (c *Change) Refresh(perspective chess.Color) bool { return c.king == 1+uint8(perspective) }
