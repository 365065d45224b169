package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// negamax searches the position at ply to the given depth within the window
// (alpha, beta) and returns its score from the side to move's point of view:
// exact inside the window, a bound outside. passing says that the last move was
// a null move.
func (w *worker) negamax(ply, depth, alpha, beta int, passing bool) int {
	f := &w.stack[ply]
	f.pvLen = 0
	f.inCheck = f.pos.InCheck()
	if w.drawn(ply) {
		w.visit()
		return 0
	}
	if f.inCheck && w.pruning.checkExtension && ply < 2*w.rootDepth {
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
	known, hit := w.table.probe(f.pos.Key())
	var first chess.Move
	if hit {
		known.score = fromTable(known.score, ply)
		if !window && known.depth >= depth && cuts(known.score, known.bound, alpha, beta) {
			return known.score
		}
		if known.move != chess.NoMove && f.pos.IsLegal(known.move) {
			first = known.move
		}
	}
	f.eval = w.staticEval(ply, known, hit)
	improving := !f.inCheck && ply >= 2 && w.stack[ply-2].eval != noEval && f.eval > w.stack[ply-2].eval

	if !window && !f.inCheck {
		if v, ok := w.cutEarly(ply, depth, beta, improving, passing); ok || w.halted {
			return v
		}
	}
	if first == chess.NoMove && depth >= 4 && w.pruning.internalReduce {
		depth--
	}
	f.picker.reset(first)
	return w.searchMoves(ply, depth, alpha, beta, improving)
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

// staticEval returns the evaluation of the position at ply, from the table if
// it is there, noEval in check.
func (w *worker) staticEval(ply int, known entry, hit bool) int {
	switch {
	case w.stack[ply].inCheck:
		return noEval
	case hit && known.eval != noEval:
		return known.eval
	}
	return w.evaluate(ply)
}

// cutEarly tries to prove that the position at ply fails high without searching
// its moves, and returns the score to answer with.
func (w *worker) cutEarly(ply, depth, beta int, improving, passing bool) (int, bool) {
	f := &w.stack[ply]
	if beta >= mateBound || beta <= -mateBound {
		return 0, false
	}
	if w.pruning.reverseFutile && depth <= 7 {
		steps := depth
		if improving {
			steps--
		}
		if f.eval-w.tune.reverse*steps >= beta {
			return f.eval, true
		}
	}
	if !w.pruning.nullMove || passing || depth < 2 || f.eval < beta || !mayPass(&f.pos) {
		return 0, false
	}
	reduced := depth - 3 - depth/4 - min((f.eval-beta)/200, 3)
	w.make(ply, chess.NoMove)
	v := -w.negamax(ply+1, reduced, -beta, -beta+1, true)
	w.unmake()
	if w.halted || v < beta {
		return 0, false
	}
	if v >= mateBound {
		v = beta // a mate that needs two moves in a row proves nothing
	}
	return v, true
}

// mayPass reports whether the side to move has anything but king and pawns, so
// that zugzwang is unlikely.
func mayPass(p *chess.Position) bool {
	us := p.SideToMove()
	return !p.Hand(us).Empty() || p.ByColor(us)&^p.ByType(chess.King)&^p.ByType(chess.Pawn) != 0
}

// searchMoves searches the moves of the position at ply, which picker hands
// out, and stores the outcome in the table.
func (w *worker) searchMoves(ply, depth, alpha, beta int, improving bool) int {
	f := &w.stack[ply]
	w.stack[ply+1].killers = [2]chess.Move{}
	squares := checkSquares(&f.pos)
	window, floor := beta-alpha > 1, alpha
	best, bestMove := -infinite, chess.NoMove
	searched, quiets, tried := 0, 0, 0
	for {
		m, order := w.nextMove(f)
		if m == chess.NoMove {
			break
		}
		noisy := isNoisy(&f.pos, m)
		checks := checksDirectly(&f.pos, m, &squares)
		if best > -mateBound && !window && !f.inCheck {
			skip, stop := w.hopeless(f, m, depth, alpha, quiets, noisy, checks, improving)
			if stop {
				break
			}
			if skip {
				quiets++
				continue
			}
		}
		w.make(ply, m)
		var v int
		if searched == 0 {
			v = -w.negamax(ply+1, depth-1, -beta, -alpha, false)
		} else {
			r := 0
			if !noisy {
				r = w.lateReduction(f, m, depth, searched, order, window, improving, checks)
			}
			v = w.scout(ply, depth-1, r, alpha, beta)
		}
		w.unmake()
		if w.halted {
			return 0
		}
		searched++
		if v > best {
			best = v
			if v > alpha {
				bestMove, alpha = m, v
				if window {
					w.extendPV(ply, m)
				}
				if v >= beta {
					if !noisy {
						w.reward(f, m, f.tried[:tried], depth)
					}
					break
				}
			}
		}
		if !noisy {
			quiets++
			if tried < len(f.tried) {
				f.tried[tried] = m
				tried++
			}
		}
	}
	if searched == 0 {
		if f.inCheck {
			return ply - mateScore
		}
		return 0
	}
	w.remember(ply, depth, best, floor, beta, bestMove)
	return best
}

// scout searches the position at ply+1 to a depth less r with an empty window
// above alpha, again without reduction if that fails high, and again with the
// whole window if the score lies inside.
func (w *worker) scout(ply, depth, r, alpha, beta int) int {
	v := -w.negamax(ply+1, depth-r, -alpha-1, -alpha, false)
	if v > alpha && r > 0 && !w.halted {
		v = -w.negamax(ply+1, depth, -alpha-1, -alpha, false)
	}
	if v > alpha && v < beta && !w.halted {
		v = -w.negamax(ply+1, depth, -beta, -alpha, false)
	}
	return v
}

// hopeless decides before a move is made whether to skip it, or to stop and
// skip every move that is left. A move has been searched already and does not
// lose to mate.
func (w *worker) hopeless(f *frame, m chess.Move, depth, alpha, quiets int, noisy, checks, improving bool) (skip, stop bool) {
	t := w.tune
	if noisy {
		return w.pruning.exchange && depth <= 5 && !t.values.exchangeAtLeast(&f.pos, m, -t.noisyLoss*depth), false
	}
	if !checks {
		limit := t.countBase + depth*depth
		if !improving {
			limit = (limit + 1) / 2
		}
		if w.pruning.moveCount && depth <= 7 && quiets >= limit {
			return true, true
		}
		if w.pruning.futility && depth <= 6 && f.eval+t.futileBase+t.futileStep*depth <= alpha {
			return true, false
		}
	}
	return w.pruning.exchange && depth <= 6 && !t.values.exchangeAtLeast(&f.pos, m, -t.quietLoss*depth*depth), false
}

// lateReduction returns by how many plies to reduce the quiet move m, searched
// after n others.
func (w *worker) lateReduction(f *frame, m chess.Move, depth, n int, order int32, window, improving, checks bool) int {
	if !w.pruning.reductions || depth < 3 || f.inCheck {
		return 0
	}
	r := reduction(depth, n)
	if window {
		r--
	}
	if !improving {
		r++
	}
	if checks || m == f.killers[0] || m == f.killers[1] {
		r--
	}
	if order < bandKiller {
		r -= int(order) / historyMax
	}
	return max(0, min(r, depth-2))
}

// reward notes a quiet move that failed high after those in tried did not.
func (w *worker) reward(f *frame, m chess.Move, tried []chess.Move, depth int) {
	if f.killers[0] != m {
		f.killers = [2]chess.Move{m, f.killers[0]}
	}
	w.history.update(&f.pos, f.previous, m, tried, depth)
}

// remember stores the outcome of a search of the position at ply.
func (w *worker) remember(ply, depth, score, alpha, beta int, m chess.Move) {
	f := &w.stack[ply]
	w.table.store(f.pos.Key(), entry{
		move: m, score: toTable(score, ply), eval: f.eval, depth: depth, bound: boundOf(score, alpha, beta),
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
