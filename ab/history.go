package ab

import "github.com/crazyhouse-rl/selfplay/chess"

const (
	dropBase   = 64 * 64           // first index of drops in a butterfly table
	butterfly  = dropBase + 5*64   // from-to pairs, then piece-square of drops
	pieceTo    = (6 + 5) * 64      // piece kind, on the board or dropped, and target square
	historyMax = 8192              // bound of every history value
	noPieceTo  = uint16(1<<16 - 1) // piece-to index of a null move
)

// history remembers which moves refuted lines before, so that they are tried early
// elsewhere. Values lie within ±historyMax.
type history struct {
	// quiet is indexed by side and butterfly index of the move.
	quiet [2][butterfly]int16
	// reply is indexed by side to move, then piece-to indexes of the move
	// answered and of the answer.
	reply [2][pieceTo]row
	// follow is the same for one's own moves before, two and four plies ago.
	follow [2][pieceTo]row
	// capture is indexed by side, piece-to index of the capture, and the kind
	// captured.
	capture [2][6 * 64][6]int16
}

// row has the values of the moves after one move.
type row struct {
	used   bool // any value is not 0
	values [pieceTo]int16
}

// clear forgets everything. A game of short searches uses few of the rows.
func (h *history) clear() {
	h.quiet, h.capture = [len(h.quiet)][butterfly]int16{}, [len(h.capture)][6 * 64][6]int16{}
	for side := range h.reply {
		for _, rows := range []*[pieceTo]row{&h.reply[side], &h.follow[side]} {
			for i := range rows {
				if rows[i].used {
					rows[i] = row{}
				}
			}
		}
	}
}

// indexes returns where quiet and reply keep m, a legal move of p.
func (w *worker) indexes(p *chess.Position, m chess.Move) (from, piece int) {
	to := int(m.To())
	if m.IsDrop() {
		t := int(m.DropType())
		from = dropBase + t*64 + to
		if w.tune.DropHistory {
			t += 6
		}
		return from, t*64 + to
	}
	sq := m.From()
	return int(sq) | to<<6, int(p.PieceAt(sq).Type())*64 + to
}

// past is the part of a history that matters in one position.
type past struct {
	quiet *[butterfly]int16
	// after are the rows of the moves one, two and four plies ago; nil where
	// there was none or the rule is off.
	after [3]*row
}

// past returns what is known of the moves of the position at ply.
func (w *worker) past(ply int) past {
	us := w.stack[ply].pos.SideToMove()
	h := past{quiet: &w.history.quiet[us]}
	if prev := w.trail[ply+trailBefore-1]; prev != noPieceTo {
		h.after[0] = &w.history.reply[us][prev]
	}
	if prev := w.trail[ply+trailBefore-2]; prev != noPieceTo && w.tune.ReplyTwo {
		h.after[1] = &w.history.follow[us][prev]
	}
	if prev := w.trail[ply+trailBefore-4]; prev != noPieceTo && w.tune.ReplyFour {
		h.after[2] = &w.history.follow[us][prev]
	}
	return h
}

// score returns what is known of the quiet move with these indexes, within
// ±6·historyMax.
func (h *past) score(from, piece int) int32 {
	v := int32(h.quiet[from])
	if h.after[0] != nil {
		v += 2 * int32(h.after[0].values[piece])
	}
	if h.after[1] != nil {
		v += int32(h.after[1].values[piece])
	}
	if h.after[2] != nil {
		v += int32(h.after[2].values[piece]) / 2
	}
	return v
}

// reward changes what is known of the quiet move with these indexes.
func (h *past) reward(from, piece int, bonus int32) {
	gravitate(&h.quiet[from], bonus)
	for _, row := range h.after {
		if row != nil {
			row.used = true
			gravitate(&row.values[piece], bonus)
		}
	}
}

// bonus returns by how much a move that cut off at the given depth is rewarded.
func (w *worker) bonus(depth int) int32 {
	t := w.tune
	return int32(min(t.BonusSquare*depth*depth+t.BonusStep*depth, t.BonusMax))
}

// reward notes that m cut off at the given depth in the position at ply where the
// moves in tried, searched before it, did not.
func (w *worker) reward(ply int, m chess.Move, tried []chess.Move, depth int) {
	f := &w.stack[ply]
	bonus := w.bonus(depth)
	h := w.past(ply)
	if !isNoisy(&f.pos, m) {
		if f.killers[0] != m {
			f.killers = [2]chess.Move{m, f.killers[0]}
		}
		from, piece := w.indexes(&f.pos, m)
		h.reward(from, piece, bonus)
		for _, other := range tried {
			if !isNoisy(&f.pos, other) {
				from, piece := w.indexes(&f.pos, other)
				h.reward(from, piece, -bonus)
			}
		}
	} else if w.tune.CaptureHistory {
		gravitate(w.captureHistory(&f.pos, m), bonus)
	}
	if w.tune.CaptureHistory {
		for _, other := range tried {
			if isNoisy(&f.pos, other) {
				gravitate(w.captureHistory(&f.pos, other), -bonus)
			}
		}
	}
}

// captureHistory returns what is known of the capture or promotion m of p.
func (w *worker) captureHistory(p *chess.Position, m chess.Move) *int16 {
	victim := p.CapturedType(m)
	if victim == chess.NoPieceType {
		victim = chess.King // a promotion that captures nothing
	}
	return &w.history.capture[p.SideToMove()][int(p.PieceAt(m.From()).Type())*64+int(m.To())][victim]
}

// gravitate adds bonus to v and pulls v to zero the harder the larger it is, so
// that it never leaves ±historyMax and old lessons fade. bonus lies within
// ±historyMax.
func gravitate(v *int16, bonus int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/historyMax)
}
