package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// values are the pieces' worth in exchanges, in centipawns, indexed by
// chess.PieceType. They steer ordering and pruning and are no evaluation.
type values struct {
	board [7]int // on the board; the king and no piece count nothing
	swing [7]int // what a capture gains: lost by the victim and, where captures change hands, won in hand
	// promoted is swing for a piece marked as promoted, which falls back to a
	// pawn when captured.
	promoted [7]int
}

// newValues derives the swings from the worth on board and in hand.
func newValues(board, hand [7]int, capturesToHand bool) *values {
	w := &values{board: board, swing: board, promoted: board}
	if capturesToHand {
		for t := chess.Pawn; t < chess.King; t++ {
			w.swing[t] = board[t] + hand[t]
			w.promoted[t] = board[t] + hand[chess.Pawn]
		}
	}
	return w
}

// at returns the swing of capturing what stands on sq.
func (v *values) at(p *chess.Position, sq chess.Square) int {
	t := p.PieceAt(sq).Type()
	if p.Promoted().Has(sq) {
		return v.promoted[t]
	}
	return v.swing[t]
}

// captured returns the swing of what the move m of p captures, 0 if nothing.
func (v *values) captured(p *chess.Position, m chess.Move) int {
	switch {
	case m.IsEnPassant():
		return v.swing[chess.Pawn]
	case m.IsDrop() || m.IsCastle() || p.PieceAt(m.To()) == chess.NoPiece:
		return 0
	}
	return v.at(p, m.To())
}

// exchangeAtLeast reports whether the exchange on its target square that the
// legal move m of p begins wins at least threshold, both sides recapturing with
// their least valuable piece for as long as that pays. Promoted pieces go first
// among their kind. Pins, checks and promotions by recapture are ignored, and a
// drop is worth nothing by itself.
func (v *values) exchangeAtLeast(p *chess.Position, m chess.Move, threshold int) bool {
	if m.IsCastle() {
		return threshold <= 0
	}
	to := m.To()
	occ := p.Occupied() | to.Bitboard()
	gain, risk := v.captured(p, m), 0
	switch {
	case m.IsDrop():
		risk = v.swing[m.DropType()]
	case m.IsPromotion():
		t := m.PromotionType()
		gain += v.board[t] - v.board[chess.Pawn]
		risk = v.promoted[t]
		occ &^= m.From().Bitboard()
	default:
		risk = v.at(p, m.From())
		occ &^= m.From().Bitboard()
		if m.IsEnPassant() {
			occ &^= (to ^ 8).Bitboard()
		}
	}
	balance := gain - threshold
	if balance < 0 {
		return false
	}
	if balance = risk - balance; balance <= 0 {
		return true
	}
	return v.recapture(p, to, occ, balance)
}

// recapture plays out the exchange on to after the side to move of p has put a
// piece there, with occ what stands then. The opponent, who captures first, is
// ahead by balance > 0 if nothing comes after that capture. It reports whether
// the side to move of p comes out on top.
func (v *values) recapture(p *chess.Position, to chess.Square, occ chess.Bitboard, balance int) bool {
	diagonal := p.ByType(chess.Bishop) | p.ByType(chess.Queen)
	straight := p.ByType(chess.Rook) | p.ByType(chess.Queen)
	attackers := p.AttackersTo(to, occ) & occ
	side := p.SideToMove()
	winning := true // the side to move of p, as things stand
	for {
		side = side.Other()
		ours := attackers & p.ByColor(side)
		if ours == 0 {
			return winning
		}
		t := chess.Pawn
		for ours&p.ByType(t) == 0 {
			t++
		}
		if t == chess.King {
			// A king may not step into attack.
			if attackers&^ours != 0 {
				return winning
			}
			return !winning
		}
		winning = !winning
		from := ours & p.ByType(t)
		if marked := from & p.Promoted(); marked != 0 {
			from = marked
		}
		sq := from.First()
		balance = v.at(p, sq) - balance
		// Whoever has just captured may stay ahead even if that piece is
		// lost in turn; equality is enough for the side that began only.
		if balance < 0 || balance == 0 && winning {
			return winning
		}
		occ &^= sq.Bitboard()
		if t == chess.Pawn || t == chess.Bishop || t == chess.Queen {
			attackers |= chess.BishopAttacks(to, occ) & diagonal
		}
		if t == chess.Rook || t == chess.Queen {
			attackers |= chess.RookAttacks(to, occ) & straight
		}
		attackers &= occ
	}
}

// fullBoard is what onBoard is with all pieces of both sides on the board.
const fullBoard = 903 + 32*16 + 24*8 + 40*4 + 79*2

// onBoard weighs the pieces on the board, those in hand left out.
func (v *values) onBoard(p *chess.Position) int {
	n := func(t chess.PieceType) int { return p.ByType(t).Count() }
	return 903 + 32*n(chess.Pawn) + 24*(n(chess.Knight)+n(chess.Bishop)) + 40*n(chess.Rook) + 79*n(chess.Queen)
}
