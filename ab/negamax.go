package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// negamax searches the position at ply to the given depth within the window
// (alpha, beta) and returns its score from the side to move's point of view:
// exact inside the window, a bound outside. cut says that the score is expected to
// reach beta.
func (w *worker) negamax(ply, depth, alpha, beta int, cut bool) int {
	f := &w.stack[ply]
	f.pvLen = 0
	f.shared = 0 // an earlier search of the node, to another depth, is no longer of interest
	f.inCheck = f.pos.InCheck()
	if w.drawn(ply) {
		w.visit()
		return 0
	}
	if w.tune.Foresee && ply > 0 && alpha < 0 && w.mayRepeat(ply) {
		if alpha = 0; alpha >= beta {
			w.visit()
			return alpha
		}
	}
	if f.inCheck && w.tune.CheckExtension && depth >= w.tune.CheckDepth && w.mayExtend(ply) && w.extendsCheck(&w.stack[ply-1]) {
		depth++
	}
	if depth <= 0 {
		return w.quiesce(ply, 0, alpha, beta)
	}
	if !w.visit() {
		return 0
	}
	w.seldepth = max(w.seldepth, ply)
	if ply >= search.MaxPly-1 {
		return w.evaluate(ply)
	}
	// Nothing here can beat a mate already found nearer to the root.
	alpha, beta = max(alpha, ply-mateScore), min(beta, mateScore-ply-1)
	if alpha >= beta {
		return alpha
	}

	window := beta-alpha > 1
	known, hit := w.table.probe(tableKey(&f.pos))
	first := chess.NoMove
	f.onPV = window || hit && known.pv
	if hit {
		known.score = fromTable(known.score, ply)
		if known.move != chess.NoMove && f.pos.IsLegal(known.move) {
			first = known.move
		}
		if !window && known.depth >= depth && cuts(known.score, known.bound, alpha, beta) {
			if w.tune.TableReward && first != chess.NoMove && known.score >= beta && !isNoisy(&f.pos, first) {
				w.reward(ply, first, nil, depth)
			}
			return known.score
		}
	}
	if w.tune.MateProbe && !f.inCheck && !hit && w.matesByDrop(f) {
		return mateScore - ply - 1
	}
	w.assess(ply, known, hit)
	if w.tune.EvalReward && !f.inCheck {
		w.rewardChange(ply)
	}
	improving := w.improving(ply)
	if !window && !f.inCheck {
		if v, ok := w.cutEarly(ply, depth, alpha, beta, improving, cut, known, hit); ok || w.halted {
			return v
		}
	}
	if first == chess.NoMove && depth >= 4 && w.tune.InternalReduction {
		depth--
	}
	extension := 0
	if first != chess.NoMove && w.maySingular(ply, depth, known) {
		var v int
		var ok bool
		if extension, v, ok = w.singular(ply, depth, beta, first, known, improving, cut); ok || w.halted {
			return v
		}
	}
	f.picker.reset(first)
	w.share(ply, depth, alpha, beta)
	return w.searchMoves(ply, depth, alpha, beta, extension, improving, cut)
}

// mayExtend reports whether the position at ply is near enough to the root to search
// deeper there: lines must end.
func (w *worker) mayExtend(ply int) bool { return 100*ply < w.tune.ExtendReach*w.rootDepth }

// extendsCheck reports whether the check that the move of the parent gave is worth
// an extension.
func (w *worker) extendsCheck(parent *frame) bool {
	return !w.tune.SafeExtension || w.tune.values.exchangeAtLeast(&parent.pos, parent.move, 0)
}

// cuts reports whether a score found in the table settles the window.
func cuts(score int, bound search.Bound, alpha, beta int) bool {
	switch bound {
	case search.Lower:
		return score >= beta
	case search.Upper:
		return score <= alpha
	}
	return true
}

// assess evaluates the position at ply, from the table if it is there: the static
// evaluation, what experience makes of it, and what the table's score says. In check
// all are noEval.
func (w *worker) assess(ply int, known entry, hit bool) {
	f := &w.stack[ply]
	if f.inCheck {
		f.raw, f.eval, f.guess = noEval, noEval, noEval
		return
	}
	correction := w.correction(ply) // first, as memory takes its time
	if f.raw = known.eval; !hit || f.raw == noEval {
		f.raw = w.evaluate(ply)
	}
	f.eval = max(1-mateBound, min(f.raw+correction, mateBound-1))
	f.guess = f.eval
	if hit && w.tune.TableEval && known.score < mateBound && known.score > -mateBound {
		if known.bound == search.Exact || known.bound == search.Lower && known.score > f.eval || known.bound == search.Upper && known.score < f.eval {
			f.guess = known.score
		}
	}
}

// improving reports whether the side to move stands better than before its last
// move, or the one before where that was made in check.
func (w *worker) improving(ply int) bool {
	eval := w.stack[ply].eval
	if eval == noEval {
		return false
	}
	if ply >= 2 && w.stack[ply-2].eval != noEval {
		return eval > w.stack[ply-2].eval
	}
	return ply >= 4 && w.stack[ply-4].eval != noEval && eval > w.stack[ply-4].eval
}

// searchMoves searches the moves of the position at ply, which picker hands out,
// the first of them deeper by extension, and stores the outcome in the table. With
// an excluded move it searches the others and stores nothing.
func (w *worker) searchMoves(ply, depth, alpha, beta, extension int, improving, cut bool) int {
	f := &w.stack[ply]
	if w.tune.KeepKillers {
		w.stack[ply+2].killers = [2]chess.Move{}
	} else {
		w.stack[ply+1].killers = [2]chess.Move{}
	}
	squares := f.pos.CheckSquares()
	past := w.past(ply)
	window, floor := beta-alpha > 1, alpha
	best, bestMove := -infinite, chess.NoMove
	searched, quiets, tried := 0, 0, 0 // the first two count moves put off too
	shares := w.shares(depth)
	f.later = f.later[:0]
	futile := (!window || w.tune.PrunePV && ply > 0) && w.futileAt(f, depth, alpha)
	for {
		f.picker.sharp = futile && best > -mateBound
		m, order := w.nextMove(ply)
		r, late := 0, false
		if m == chess.NoMove {
			if m, r, late = f.nextLater(); !late {
				break
			}
		}
		if m == f.excluded {
			continue
		}
		noisy := isNoisy(&f.pos, m)
		checks := checksDirectly(&f.pos, m, &squares)
		if searched > 0 && !late {
			r = w.lateReduction(f, &past, m, depth, searched, order, window, improving, checks, noisy, cut)
		}
		if best > -mateBound && (!window || w.tune.PrunePV && ply > 0) && (!f.inCheck || w.tune.PruneEvasions) && !late {
			if w.tooLate(depth, quiets, noisy, checks, improving) {
				f.picker.keepSharp(&f.pos, &squares, !w.tune.CountChecks)
				continue
			}
			if w.hopeless(f, &past, m, depth, r, alpha, noisy, checks) {
				quiets++
				continue
			}
		}
		var claim uint64
		if shares && searched > 0 && !late {
			var taken bool
			if claim, taken = w.claim(ply, m, depth); taken {
				f.later = append(f.later, deferred{m, r})
				searched++
				if !noisy {
					quiets++
				}
				continue
			}
		}
		w.make(ply, m)
		var v int
		if searched == 0 {
			if extension >= 2 {
				w.stack[ply+1].doubles++
			}
			v = -w.negamax(ply+1, depth-1+extension, -beta, -alpha, !window && !cut)
		} else {
			v = w.scout(ply, depth-1, r, alpha, beta, best, cut)
		}
		w.unmake()
		w.release(claim)
		if w.halted {
			return w.resume(ply)
		}
		if !late {
			searched++
		}
		if least, by := w.raised(ply, alpha); least > alpha && least >= v {
			best, bestMove, alpha = least, by, least
			f.pv[0], f.pvLen = by, 1
			if least >= beta {
				break
			}
		}
		if v > best {
			best = v
			if v > alpha {
				bestMove, alpha = m, v
				if window {
					w.extendPV(ply, m)
					w.announce(ply, v, m)
				}
				if v >= beta {
					w.reward(ply, m, f.tried[:tried], depth)
					break
				}
			}
		}
		if !noisy && !late {
			quiets++
		}
		if tried < len(f.tried) {
			f.tried[tried] = m
			tried++
		}
	}
	if f.excluded != chess.NoMove {
		if searched == 0 { // there is no other move
			return floor
		}
		return best
	}
	if searched == 0 {
		if f.inCheck {
			return ply - mateScore
		}
		return 0
	}
	if best <= floor && w.tune.FailLowReward {
		w.rewardPrevious(ply, depth)
	}
	if !f.inCheck && (bestMove == chess.NoMove || !isNoisy(&f.pos, bestMove)) &&
		(best < beta || best > f.eval) && (best > floor || best < f.eval) {
		w.learn(ply, depth, best, f.eval)
	}
	w.remember(ply, depth, best, floor, beta, bestMove)
	return best
}

// scout searches the position at ply+1 to a depth less r plies with an empty window
// above alpha, again without reduction if that fails high, and again with the whole
// window if the score lies inside. best is the best score so far.
func (w *worker) scout(ply, depth, r, alpha, beta, best int, cut bool) int {
	v := -w.negamax(ply+1, depth-r, -alpha-1, -alpha, r > 0 || !cut)
	if v > alpha && !w.halted {
		if least, _ := w.raised(ply, alpha); least >= beta {
			return least
		} else if least > alpha {
			return w.scout(ply, depth, r, least, beta, best, cut)
		}
	}
	if v > alpha && r > 0 && !w.halted {
		if w.tune.Deeper {
			if v > best+w.tune.Aspiration {
				depth++
			} else if v < best+8 {
				depth--
			}
		}
		v = -w.negamax(ply+1, depth, -alpha-1, -alpha, !cut)
	}
	if v > alpha && v < beta && !w.halted {
		v = -w.negamax(ply+1, depth, -beta, -alpha, false)
	}
	return v
}

// remember stores the outcome of a search of the position at ply.
func (w *worker) remember(ply, depth, score, alpha, beta int, m chess.Move) {
	f := &w.stack[ply]
	w.table.store(tableKey(&f.pos), entry{
		move: m, score: toTable(score, ply), eval: f.raw, depth: depth, bound: boundOf(score, alpha, beta), pv: f.onPV,
	})
}

// boundOf says what a score means that a search with the window (alpha, beta)
// returned.
func boundOf(score, alpha, beta int) search.Bound {
	switch {
	case score >= beta:
		return search.Lower
	case score <= alpha:
		return search.Upper
	}
	return search.Exact
}
