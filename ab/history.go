package ab

import "github.com/crazyhouse-rl/selfplay/chess"

const (
	dropBase   = 64 * 64           // first index of drops in a butterfly table
	butterfly  = dropBase + 5*64   // from-to pairs, then piece-square of drops
	pieceTo    = 6 * 64            // piece kind and target square
	historyMax = 8192              // bound of every history value
	bonusMax   = 1200              // greatest change before the pull to zero
	noPieceTo  = uint16(1<<16 - 1) // piece-to index of a null move
	orderLimit = 3 * historyMax    // bound of the sum that ordering uses
)

// history remembers which quiet moves refuted lines before, so that they are
// tried early elsewhere. Values lie within ±historyMax.
type history struct {
	// quiet is indexed by side and butterfly index of the move.
	quiet [2][butterfly]int16
	// reply is indexed by side to move, then piece-to indexes of the move
	// answered and of the answer. Drops and moves of a kind share an index:
	// where the piece stands afterwards matters more than whence it came.
	reply [2][pieceTo][pieceTo]int16
}

func (h *history) clear() { *h = history{} }

// butterflyIndex returns where quiet keeps m.
func butterflyIndex(m chess.Move) int {
	if m.IsDrop() {
		return dropBase + int(m.DropType())*64 + int(m.To())
	}
	return int(m.From()) | int(m.To())<<6
}

// pieceToIndex returns where reply keeps m, a legal move of p.
func pieceToIndex(p *chess.Position, m chess.Move) uint16 {
	t := m.DropType()
	if !m.IsDrop() {
		t = p.PieceAt(m.From()).Type()
	}
	return uint16(t)*64 + uint16(m.To())
}

// score returns what is known of the quiet move m of p after the move with
// piece-to index prev, within ±orderLimit.
func (h *history) score(p *chess.Position, m chess.Move, prev uint16) int32 {
	us := p.SideToMove()
	v := int32(h.quiet[us][butterflyIndex(m)])
	if prev != noPieceTo {
		v += 2 * int32(h.reply[us][prev][pieceToIndex(p, m)])
	}
	return v
}

// update notes that best cut off at the given depth where the quiet moves in
// tried, searched before it, did not.
func (h *history) update(p *chess.Position, prev uint16, best chess.Move, tried []chess.Move, depth int) {
	bonus := int32(min(16*depth*depth+32*depth, bonusMax))
	h.reward(p, prev, best, bonus)
	for _, m := range tried {
		h.reward(p, prev, m, -bonus)
	}
}

func (h *history) reward(p *chess.Position, prev uint16, m chess.Move, bonus int32) {
	us := p.SideToMove()
	gravitate(&h.quiet[us][butterflyIndex(m)], bonus)
	if prev != noPieceTo {
		gravitate(&h.reply[us][prev][pieceToIndex(p, m)], bonus)
	}
}

// gravitate adds bonus to v and pulls v to zero the harder the larger it is, so
// that it never leaves ±historyMax and old lessons fade.
func gravitate(v *int16, bonus int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/historyMax)
}
