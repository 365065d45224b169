package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// cutEarly tries to settle the position at ply within an empty window without
// searching its moves, and returns the score to answer with.
func (w *worker) cutEarly(ply, depth, alpha, beta int, improving, cut bool, known entry, hit bool) (int, bool) {
	t, f := w.tune, &w.stack[ply]
	if beta >= mateBound || beta <= -mateBound {
		return 0, false
	}
	if t.Razoring && depth <= 3 && f.guess+t.RazorBase+t.RazorStep*depth*depth <= alpha {
		w.keepEval(ply, hit) // quiescence looks it up
		raw, eval, guess := f.raw, f.eval, f.guess
		if v := w.quiesce(ply, 0, alpha, beta); v <= alpha || w.halted {
			return v, true
		}
		f.raw, f.eval, f.guess = raw, eval, guess
	}
	if t.ReverseFutility && depth <= t.ReverseDepth {
		steps := depth
		if improving {
			steps--
		}
		if f.guess-t.Reverse*steps >= beta {
			w.keepEval(ply, hit)
			return f.guess, true
		}
	}
	if v, ok := w.passes(ply, depth, beta, cut); ok || w.halted {
		if ok {
			w.keepEval(ply, hit)
		}
		return v, ok
	}
	if t.ProbCut && depth >= 4 && beta+t.ProbMargin < mateBound {
		bound := beta + t.ProbMargin
		if !hit || known.depth < depth-3 || known.score >= bound {
			return w.probCut(ply, depth, bound, cut)
		}
	}
	return 0, false
}

// keepEval stores the evaluation of the position at ply, with a bound that says
// nothing, unless the table had an entry: what comes next may end the search of the
// position without an entry of its own.
func (w *worker) keepEval(ply int, hit bool) {
	if f := &w.stack[ply]; w.tune.KeepEval && !hit {
		w.table.store(tableKey(&f.pos), entry{score: -infinite, eval: f.raw, depth: minDepth, bound: search.Lower})
	}
}

// passes tries whether the position at ply fails high even if the opponent gets a
// free move.
func (w *worker) passes(ply, depth, beta int, cut bool) (int, bool) {
	t, f := w.tune, &w.stack[ply]
	if !t.NullMove || depth < 2 || f.guess < beta || ply < w.noNull || ply > 0 && w.stack[ply-1].move == chess.NoMove || !mayPass(&f.pos) {
		return 0, false
	}
	reduced := depth - t.NullBase - depth/t.NullDivisor - min((f.guess-beta)/t.NullMargin, 3)
	w.make(ply, chess.NoMove)
	v := -w.negamax(ply+1, reduced, -beta, -beta+1, !cut)
	w.unmake()
	if w.halted || v < beta {
		return 0, false
	}
	if v >= mateBound {
		v = beta // a mate that needs two moves in a row proves nothing
	}
	if t.NullVerify && depth >= t.VerifyDepth && w.noNull == 0 {
		w.noNull = ply + 3*max(reduced, 1)/4
		f.picker.reset(chess.NoMove)
		again := w.searchMoves(ply, max(reduced, 1), beta-1, beta, 0, false, false)
		w.noNull = 0
		return v, again >= beta
	}
	return v, true
}

// mayPass reports whether the side to move has anything but king and pawns, so
// that zugzwang is unlikely.
func mayPass(p *chess.Position) bool {
	us := p.SideToMove()
	return !p.Hand(us).Empty() || p.ByColor(us)&^p.ByType(chess.King)&^p.ByType(chess.Pawn) != 0
}

// probCut tries whether a capture in the position at ply holds a bound above beta
// at four plies less.
func (w *worker) probCut(ply, depth, bound int, cut bool) (int, bool) {
	f := &w.stack[ply]
	w.generateNoisy(ply, chess.NoMove, false)
	for {
		m, order := w.nextMove(ply)
		if m == chess.NoMove || order < bandLosing/2 {
			return 0, false
		}
		if !w.tune.values.exchangeAtLeast(&f.pos, m, bound-f.eval) {
			continue
		}
		w.make(ply, m)
		child := &w.stack[ply+1]
		child.inCheck = child.pos.InCheck()
		v := -w.quiesce(ply+1, 0, -bound, -bound+1)
		if v >= bound && !w.halted {
			v = -w.negamax(ply+1, depth-4, -bound, -bound+1, !cut)
		}
		w.unmake()
		if w.halted {
			return 0, false
		}
		if v >= bound {
			w.remember(ply, depth-3, v, bound-1, bound, m)
			return v, true
		}
	}
}

// maySingular reports whether the table's entry of the position at ply is good
// enough to ask whether its move is the only good one.
func (w *worker) maySingular(ply, depth int, known entry) bool {
	return w.tune.Singular && ply > 0 && w.mayExtend(ply) && depth >= w.tune.SingularDepth && known.depth >= depth-3 &&
		known.bound != search.Upper && known.score < mateBound && known.score > -mateBound
}

// singular searches the position at ply without the move first, whose score the
// table knows, and returns by how much to search that move deeper; or a score that
// cuts off, as other moves reach beta too.
func (w *worker) singular(ply, depth, beta int, first chess.Move, known entry, improving, cut bool) (extension, v int, ok bool) {
	t, f := w.tune, &w.stack[ply]
	bound := known.score - t.SingularMargin*depth/16
	f.excluded = first
	f.picker.reset(chess.NoMove)
	v = w.searchMoves(ply, (depth-1)/2, bound-1, bound, 0, improving, cut)
	f.excluded = chess.NoMove
	switch {
	case w.halted:
		return 0, 0, false
	case v < bound:
		if t.DoubleExtension && v < bound-t.DoubleMargin && f.doubles < 4 {
			return 2, 0, false
		}
		return 1, 0, false
	case t.MultiCut && bound >= beta:
		return 0, bound, true
	case t.NegativeExtension && known.score >= beta:
		return -1, 0, false
	}
	return 0, 0, false
}

// tooLate reports whether a move is left out because enough quiet moves were searched
// before it. Only quiet moves that give no check are left out so. Captures that lose
// material come after the quiet moves and are searched: a sacrifice often decides.
func (w *worker) tooLate(depth, quiets int, noisy, checks, improving bool) bool {
	t := w.tune
	limit := t.CountBase + t.CountSquare*depth*depth/100
	if !improving {
		limit = (limit + 1) / 2
	}
	return t.MoveCount && !noisy && (!checks || t.CountChecks) && depth <= t.CountDepth && quiets >= limit
}

// hopeless decides before a move is made whether to skip it. A move has been searched
// already and does not lose to mate.
func (w *worker) hopeless(f *frame, past *past, m chess.Move, depth, r, alpha int, noisy, checks bool) bool {
	t := w.tune
	if noisy {
		return t.Exchange && depth <= t.NoisyDepth && !t.values.exchangeAtLeast(&f.pos, m, -t.NoisyLoss*depth)
	}
	left := depth
	if t.ReducedDepth {
		left = max(depth-r, 1)
	}
	if !checks {
		if t.HistoryPruning && left <= 4 {
			if from, piece := w.indexes(&f.pos, m); int(past.score(from, piece)) < -t.HistoryFloor*left {
				return true
			}
		}
		if w.futileAt(f, left, alpha) {
			return true
		}
	}
	return t.Exchange && left <= t.QuietDepth && !t.values.exchangeAtLeast(&f.pos, m, -t.QuietLoss*left*left)
}

// futileAt reports whether quiet moves that give no check are left out at the given depth,
// as they are not expected to reach alpha.
func (w *worker) futileAt(f *frame, depth, alpha int) bool {
	t := w.tune
	return t.Futility && !f.inCheck && depth <= t.FutileDepth && f.eval+t.FutileBase+t.FutileStep*depth <= alpha
}

// lateReduction returns by how many plies to reduce the move m, searched after n
// others.
func (w *worker) lateReduction(f *frame, past *past, m chess.Move, depth, n int, order int32, window, improving, checks, noisy, cut bool) int {
	t := w.tune
	if !t.Reductions || depth < t.ReduceDepth || f.inCheck && !t.ReduceEvasions {
		return 0
	}
	if noisy && !(order < bandCapture/2 && t.ReduceNoisy || order >= bandCapture/2 && t.ReduceWinning) {
		return 0
	}
	r := t.reduction(depth, n)
	if window {
		r -= t.ReduceWindow
	}
	if !improving {
		r += t.ReduceFalling
	}
	if cut && t.ReduceCut {
		r += t.ReduceExpected
	}
	if f.onPV && !window && t.ReducePV {
		r -= t.ReduceSeen
	}
	switch {
	case noisy:
		r -= t.ReduceCapture
	case checks || m == f.killers[0] || m == f.killers[1]:
		r -= t.ReduceCheck
	}
	if order < bandKiller && !noisy {
		if t.Escape { // attacks order moves and do not reduce them
			order = past.score(w.indexes(&f.pos, m))
			if checks {
				order += int32(t.CheckBonus)
			}
		}
		r -= int(order) * t.ReduceHistory / historyMax
	}
	return max(0, min(r/1024, depth-2))
}

// matesByDrop reports whether a drop mates at once.
func (w *worker) matesByDrop(f *frame) bool {
	if f.pos.Hand(f.pos.SideToMove()).Empty() {
		return false
	}
	l := &f.picker.list
	l.N = 0
	f.pos.LegalDropChecks(l)
	for _, m := range l.Slice() {
		child := f.pos
		child.Make(m)
		if !child.HasLegalMove() {
			return true
		}
	}
	return false
}

// rewardPrevious rewards the move that led to ply, a quiet one, as no answer to it
// was found.
func (w *worker) rewardPrevious(ply, depth int) {
	parent := &w.stack[ply-1]
	if m := parent.move; m != chess.NoMove && !isNoisy(&parent.pos, m) {
		from, piece := w.indexes(&parent.pos, m)
		h := w.past(ply - 1)
		h.reward(from, piece, w.bonus(depth)/2)
	}
}

// rewardChange rewards the quiet move that led to ply by what it did to the static
// evaluation, and blames it.
func (w *worker) rewardChange(ply int) {
	parent := &w.stack[ply-1]
	if m := parent.move; m != chess.NoMove && parent.eval != noEval && !isNoisy(&parent.pos, m) {
		gain := -(w.stack[ply].eval + parent.eval)
		from, _ := w.indexes(&parent.pos, m)
		gravitate(&w.history.quiet[parent.pos.SideToMove()][from], int32(max(-600, min(4*gain, 600))))
	}
}
