package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// quietPlies bounds quiescence: where captures give check and drops parry it,
// lines need not end by themselves.
const quietPlies = 16

// quiesce resolves captures and promotions, evasions of check and, for the
// first plies where the variant has drops, drops that give check, then trusts
// the evaluation. depth counts down from 0.
func (w *worker) quiesce(ply, depth, alpha, beta int) int {
	if !w.visit() {
		return 0
	}
	f := &w.stack[ply]
	f.pvLen = 0
	w.seldepth = max(w.seldepth, ply)
	if ply >= search.MaxPly-1 || depth <= -quietPlies || !w.tune.Quiescence {
		return w.evaluate(ply)
	}
	draft := max(depth, minDepth) // deeper down, all plies look at the same moves
	window := beta-alpha > 1
	known, hit := w.table.probe(tableKey(&f.pos))
	if hit {
		known.score = fromTable(known.score, ply)
		if !window && known.depth >= draft && cuts(known.score, known.bound, alpha, beta) {
			return known.score
		}
	}
	floor, best := alpha, ply-mateScore
	f.onPV = window || hit && known.pv
	w.assess(ply, known, hit)
	first := chess.NoMove
	if hit && w.tune.QuiesceTable {
		first = known.move
	}
	if !f.inCheck {
		best = f.guess
		if best >= beta {
			if !hit {
				w.remember(ply, minDepth, best, floor, beta, chess.NoMove)
			}
			return best
		}
		alpha = max(alpha, best)
	}
	if f.inCheck {
		f.picker.reset(chess.NoMove)
		f.pos.Legal(&f.picker.list)
		f.picker.generated = true
		if f.picker.list.N == 0 {
			return best
		}
		w.scoreMoves(ply, 0)
		f.picker.raise(first)
	} else {
		w.generateNoisy(ply, first, depth > -w.tune.DropPlies)
	}
	best, bestMove := w.quiesceMoves(ply, depth, alpha, beta, best)
	if w.halted {
		return 0
	}
	w.remember(ply, draft, best, floor, beta, bestMove)
	return best
}

// quiesceMoves searches the moves in the picker of the frame at ply and returns
// the best score, at least best, with its move.
func (w *worker) quiesceMoves(ply, depth, alpha, beta, best int) (int, chess.Move) {
	f := &w.stack[ply]
	bestMove := chess.NoMove
	quiets, looked := 0, 0
	few := w.tune.FewMoves && !f.inCheck
	var squares [6]chess.Bitboard
	if few {
		squares = f.pos.CheckSquares()
	}
	for {
		m, order := w.nextMove(ply)
		if m == chess.NoMove {
			break
		}
		if looked++; few && looked > w.tune.QuiesceMoves && !checksDirectly(&f.pos, m, &squares) {
			continue
		}
		if f.inCheck {
			if order < bandKiller {
				if quiets++; w.tune.Evasions && quiets > w.tune.QuietEvasions && best > -mateBound {
					break
				}
			}
		} else if skip, stop := w.futile(f, m, order, alpha); stop {
			break
		} else if skip {
			continue
		}
		w.make(ply, m)
		child := &w.stack[ply+1]
		child.inCheck = child.pos.InCheck()
		v := -w.quiesce(ply+1, depth-1, -beta, -alpha)
		w.unmake()
		if w.halted {
			break
		}
		if v > best {
			best, bestMove = v, m
			if v > alpha {
				alpha = v
				w.extendPV(ply, m)
				if v >= beta {
					break
				}
			}
		}
	}
	return best, bestMove
}

// futile decides whether quiescence, not in check, skips the move m, or stops
// and skips every move that is left: captures and drops that lose material, and
// captures that win too little to reach alpha.
func (w *worker) futile(f *frame, m chess.Move, order int32, alpha int) (skip, stop bool) {
	v := w.tune.values
	switch {
	case order < bandLosing/2: // captures found losing, which come last
		return true, true
	case order < bandCapture/2: // drops
		return !v.exchangeAtLeast(&f.pos, m, 0), false
	}
	return w.tune.Delta && !m.IsPromotion() && f.eval+v.captured(&f.pos, m)+w.tune.DeltaMargin <= alpha, false
}
