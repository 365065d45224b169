package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// Bands of the ordering scores. Captures that win or keep material come after
// the table's move, then killers, quiet moves by history, and losing captures.
const (
	bandCapture = 1 << 20
	bandKiller  = 1 << 17
	bandLosing  = -1 << 20
)

const sharpLoss = 150 // a capture that gives check may lose in exchanges with sharp_captures

// picker hands out the moves of a position in the order they should be
// searched, generating as late and sorting as little as it can.
type picker struct {
	list      chess.MoveList
	ranks     [len(chess.MoveList{}.Moves)]rank // of the moves in list, sorted up to next
	first     chess.Move                        // the table's move, handed out before generating
	next      int
	generated bool // captures and promotions, and the others unless quiets are to come
	quiets    bool // the other moves are to be generated once no good capture is left
	sharp     bool // and of these only those that give check
}

// rank is a move with its ordering score and where it stands in the list, in
// one word, so that the best of many is found without a branch:
//
//	bits 32-63  score, signed
//	bits 16-31  the complement of the place: among equals the first is best
//	bits  0-15  move
type rank int64

func newRank(score int32, place int, m chess.Move) rank {
	return rank(score)<<32 | rank(^uint16(place))<<16 | rank(m)
}

func (r rank) score() int32     { return int32(r >> 32) }
func (r rank) place() int       { return int(^uint16(r >> 16)) }
func (r rank) move() chess.Move { return chess.Move(uint16(r)) }

func (k *picker) reset(first chess.Move) {
	k.first, k.next, k.generated, k.quiets, k.sharp, k.list.N = first, 0, false, false, false, 0
}

// raise puts the move first, if it is in the list, before all others.
func (k *picker) raise(first chess.Move) {
	for i, r := range k.ranks[:k.list.N] {
		if r.move() == first && first != chess.NoMove {
			k.ranks[i] = newRank(bandCapture<<1, i, first)
		}
	}
}

// keepSharp hands out no more quiet moves but, with checks, for those that give check. Good captures
// have been handed out; squares are those of CheckSquares in p.
func (k *picker) keepSharp(p *chess.Position, squares *[6]chess.Bitboard, checks bool) {
	n := k.next
	for _, r := range k.ranks[k.next:k.list.N] {
		if m := r.move(); r.score() < bandLosing/2 || checks && checksDirectly(p, m, squares) {
			k.ranks[n] = newRank(r.score(), n, m)
			n++
		}
	}
	k.list.N = n
}

// best moves the highest-scored remaining move to the front and returns its
// index, or -1 if none is left.
func (k *picker) best() int {
	if k.next >= k.list.N {
		return -1
	}
	left := k.ranks[k.next:k.list.N]
	front := left[0]
	// Four maxima at a time, or each comparison would wait for the last.
	a, b, c, d := front, front, front, front
	for ; len(left) >= 4; left = left[4:] {
		a, b, c, d = max(a, left[0]), max(b, left[1]), max(c, left[2]), max(d, left[3])
	}
	for _, r := range left {
		a = max(a, r)
	}
	top := max(a, b, c, d)
	at := top.place()
	k.ranks[at&(len(k.ranks)-1)] = newRank(front.score(), at, front.move())
	k.ranks[k.next] = newRank(top.score(), k.next, top.move())
	return k.next
}

// checksDirectly reports whether the piece that m moves or drops attacks the
// opposing king afterwards; squares are those of CheckSquares. Discovered
// checks and those by castling, promotion or en passant discovery are missed,
// which costs ordering little.
func checksDirectly(p *chess.Position, m chess.Move, squares *[6]chess.Bitboard) bool {
	switch {
	case m.IsDrop():
		return squares[m.DropType()].Has(m.To())
	case m.IsPromotion():
		return squares[m.PromotionType()].Has(m.To())
	case m.IsCastle():
		return false
	}
	return squares[p.PieceAt(m.From()).Type()].Has(m.To())
}

// isNoisy reports whether m changes material at once: a capture or a promotion
// to queen.
func isNoisy(p *chess.Position, m chess.Move) bool {
	return p.IsCapture(m) || m.IsPromotion() && m.PromotionType() == chess.Queen
}

// noisyScore orders captures and promotions by what they win and, among
// equals, by the cheapest piece that does it, or by history.
func (w *worker) noisyScore(p *chess.Position, m chess.Move) int32 {
	v := w.tune.values
	s := 16 * v.captured(p, m)
	if m.IsPromotion() {
		s += 16 * (v.board[m.PromotionType()] - v.board[chess.Pawn])
	}
	if w.tune.CaptureHistory {
		return int32(s) + int32(*w.captureHistory(p, m))/4
	}
	return int32(s - v.board[p.PieceAt(m.From()).Type()])
}

// nextMove returns the next move of the position at ply in the main search and
// its ordering score, or chess.NoMove when there is none left.
func (w *worker) nextMove(ply int) (chess.Move, int32) {
	f := &w.stack[ply]
	k := &f.picker
	if !k.generated {
		if k.next == 0 && k.first != chess.NoMove {
			k.next = 1
			return k.first, bandCapture << 1
		}
		k.next, k.generated = 0, true
		if f.inCheck {
			f.pos.Legal(&k.list)
		} else {
			f.pos.LegalCaptures(&k.list)
			k.quiets = true
		}
		w.scoreMoves(ply, 0)
	}
	for {
		i := k.best()
		if k.quiets && (i < 0 || k.ranks[i].score() < bandCapture/2) {
			k.quiets = false
			n := k.list.N
			if k.sharp {
				f.pos.LegalQuietChecks(&k.list)
			} else {
				f.pos.LegalQuiets(&k.list)
			}
			w.scoreMoves(ply, n)
			continue
		}
		if i < 0 {
			return chess.NoMove, 0
		}
		m, s := k.ranks[i].move(), k.ranks[i].score()
		if s >= bandCapture/2 && !w.tune.values.exchangeAtLeast(&f.pos, m, w.mayLose(&f.pos, m)) {
			k.ranks[i] = newRank(s-bandCapture+bandLosing, i, m)
			continue
		}
		k.next++
		if m != k.first {
			return m, s
		}
	}
}

// mayLose returns the least exchange value with which the capture m counts as good.
func (w *worker) mayLose(p *chess.Position, m chess.Move) int {
	if w.tune.SharpCaptures {
		squares := p.CheckSquares()
		if checksDirectly(p, m, &squares) {
			return -sharpLoss
		}
	}
	return 0
}

// scoreMoves gives the generated moves of the position at ply, from index n on, their
// ordering scores.
func (w *worker) scoreMoves(ply, n int) {
	f := &w.stack[ply]
	p, k := &f.pos, &f.picker
	squares := p.CheckSquares()
	past := w.past(ply)
	checkBonus := int32(w.tune.CheckBonus)
	safe := w.tune.Escape && (f.inCheck || !k.quiets)
	var a attacks
	if safe {
		a.find(p, &w.tune.Selection)
	}
	for i := n; i < k.list.N; i++ {
		m := k.list.Moves[i]
		var score int32
		switch {
		case !m.IsDrop() && isNoisy(p, m):
			score = bandCapture + w.noisyScore(p, m)
		case m == f.killers[0]:
			score = bandKiller + 1
		case m == f.killers[1]:
			score = bandKiller
		default:
			score = past.score(w.indexes(p, m))
			if checksDirectly(p, m, &squares) {
				score += checkBonus
			}
			if safe {
				score += a.safety(p, m, &w.tune.Selection)
			}
		}
		k.ranks[i] = newRank(score, i, m)
	}
}

// generateNoisy fills the picker of the position at ply for quiescence: first, unless
// it is chess.NoMove, captures and promotions, and with drops also the drops that
// give check.
func (w *worker) generateNoisy(ply int, first chess.Move, drops bool) {
	f := &w.stack[ply]
	p, k := &f.pos, &f.picker
	k.reset(chess.NoMove)
	k.generated = true
	p.LegalCaptures(&k.list)
	captures := k.list.N
	if drops && !p.Hand(p.SideToMove()).Empty() {
		p.LegalDropChecks(&k.list)
	}
	past := w.past(ply)
	for i, m := range k.list.Slice() {
		var score int32
		switch {
		case i < captures:
			score = bandCapture + w.noisyScore(p, m)
			if m == first {
				score += bandCapture
			}
		default:
			score = past.score(w.indexes(p, m))
			if m == first {
				score += bandKiller
			}
		}
		k.ranks[i] = newRank(score, i, m)
	}
}
