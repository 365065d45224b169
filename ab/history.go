package ab

import "github.com/crazyhouse-rl/selfplay/chess"

const (
	dropBase   = 64 * 64           // first index of drops in a butterfly table
	butterfly  = dropBase + 5*64   // from-to pairs, then piece-square of drops
	pieceTo    = 6 * 64            // piece kind and target square
	historyMax = 8192              // bound of every history value
	bonusMax   = 1200              // greatest change before the pull to zero
	noPieceTo  = uint16(1<<16 - 1) // piece-to index of a null move
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

// indexes returns where quiet and reply keep m, a legal move of p.
func indexes(p *chess.Position, m chess.Move) (from, piece int) {
	to := int(m.To())
	if m.IsDrop() {
		t := int(m.DropType())
		return dropBase + t*64 + to, t*64 + to
	}
	sq := m.From()
	return int(sq) | to<<6, int(p.PieceAt(sq).Type())*64 + to
}

// past is the part of a history that matters in one position.
type past struct {
	quiet *[butterfly]int16
	reply *[pieceTo]int16 // nil after a null move and at the root
}

// after returns what is known of the moves of p after the move with piece-to
// index prev.
func (h *history) after(p *chess.Position, prev uint16) past {
	us := p.SideToMove()
	if prev == noPieceTo {
		return past{quiet: &h.quiet[us]}
	}
	return past{quiet: &h.quiet[us], reply: &h.reply[us][prev]}
}

// score returns what is known of the quiet move m of p, within ±3·historyMax.
func (h past) score(p *chess.Position, m chess.Move) int32 {
	from, piece := indexes(p, m)
	v := int32(h.quiet[from])
	if h.reply != nil {
		v += 2 * int32(h.reply[piece])
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
	past := h.after(p, prev)
	from, piece := indexes(p, m)
	gravitate(&past.quiet[from], bonus)
	if past.reply != nil {
		gravitate(&past.reply[piece], bonus)
	}
}

// gravitate adds bonus to v and pulls v to zero the harder the larger it is, so
// that it never leaves ±historyMax and old lessons fade.
func gravitate(v *int16, bonus int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/historyMax)
}
