package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// Bands of the ordering scores. Captures that win or keep material come after
// the table's move, then killers, quiet moves by history, and losing captures.
const (
	bandCapture = 1 << 20
	bandKiller  = 1 << 18
	bandLosing  = -1 << 20
	checkBonus  = historyMax // quiet moves that give direct check
)

// picker hands out the moves of a position in the order they should be
// searched, generating as late and sorting as little as it can.
type picker struct {
	list      chess.MoveList
	ranks     [len(chess.MoveList{}.Moves)]rank // of the moves in list, sorted up to next
	first     chess.Move                        // the table's move, handed out before generating
	next      int
	generated bool
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
	k.first, k.next, k.generated, k.list.N = first, 0, false, 0
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

// checkSquares returns, by kind of piece, the squares from which a piece of the
// side to move would attack the opposing king.
func checkSquares(p *chess.Position) [6]chess.Bitboard {
	them := p.SideToMove().Other()
	king, occ := p.King(them), p.Occupied()
	diagonal, straight := chess.BishopAttacks(king, occ), chess.RookAttacks(king, occ)
	return [6]chess.Bitboard{
		chess.Pawn:   chess.PawnAttacks(them, king),
		chess.Knight: chess.KnightAttacks(king),
		chess.Bishop: diagonal,
		chess.Rook:   straight,
		chess.Queen:  diagonal | straight,
	}
}

// checksDirectly reports whether the piece that m moves or drops attacks the
// opposing king afterwards; squares are those of checkSquares. Discovered
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
// equals, by the cheapest piece that does it.
func noisyScore(v *values, p *chess.Position, m chess.Move) int32 {
	s := 16 * v.captured(p, m)
	if m.IsPromotion() {
		s += 16 * (v.board[m.PromotionType()] - v.board[chess.Pawn])
	}
	return int32(s - v.board[p.PieceAt(m.From()).Type()])
}

// nextMove returns the next move of the position of f in the main search and
// its ordering score, or chess.NoMove when there is none left.
func (w *worker) nextMove(f *frame) (chess.Move, int32) {
	k := &f.picker
	if !k.generated {
		if k.next == 0 && k.first != chess.NoMove {
			k.next = 1
			return k.first, bandCapture << 1
		}
		k.next, k.generated = 0, true
		f.pos.Legal(&k.list)
		w.scoreMoves(f)
	}
	for {
		i := k.best()
		if i < 0 {
			return chess.NoMove, 0
		}
		m, s := k.ranks[i].move(), k.ranks[i].score()
		if s >= bandCapture/2 && !w.tune.values.exchangeAtLeast(&f.pos, m, 0) {
			k.ranks[i] = newRank(s-bandCapture+bandLosing, i, m)
			continue
		}
		k.next++
		if m != k.first {
			return m, s
		}
	}
}

// scoreMoves gives every generated move of f its ordering score.
func (w *worker) scoreMoves(f *frame) {
	p, k := &f.pos, &f.picker
	squares := checkSquares(p)
	past := w.history.after(p, f.previous)
	ranks := k.ranks[:k.list.N]
	for i, m := range k.list.Slice() {
		var score int32
		switch {
		case !m.IsDrop() && isNoisy(p, m):
			score = bandCapture + noisyScore(w.tune.values, p, m)
		case m == f.killers[0]:
			score = bandKiller + 1
		case m == f.killers[1]:
			score = bandKiller
		default:
			score = past.score(p, m)
			if checksDirectly(p, m, &squares) {
				score += checkBonus
			}
		}
		ranks[i] = newRank(score, i, m)
	}
}

// generateNoisy fills the picker of f for quiescence: captures and promotions,
// and with drops also the drops that give check.
func (w *worker) generateNoisy(f *frame, drops bool) {
	p, k := &f.pos, &f.picker
	k.generated = true
	p.LegalCaptures(&k.list)
	captures := k.list.N
	if drops && !p.Hand(p.SideToMove()).Empty() {
		p.LegalDropChecks(&k.list)
	}
	past := w.history.after(p, f.previous)
	for i, m := range k.list.Slice() {
		var score int32
		if i < captures {
			score = bandCapture + noisyScore(w.tune.values, p, m)
		} else {
			score = past.score(p, m)
		}
		k.ranks[i] = newRank(score, i, m)
	}
}
