package ab

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// rootMove is a move of the root with what is known of it.
type rootMove struct {
	move  chess.Move
	score int          // in this iteration, -infinite if not searched or no better than the best
	last  int          // in the iteration before, likewise
	bound search.Bound // of score
	value int          // what its last search returned, an upper bound if no better than the best; infinite before the first
	pv    [search.MaxPly + 1]chess.Move
	pvLen int
	depth int // greatest distance reached below it
}

func (r *rootMove) line() []chess.Move { return r.pv[:r.pvLen] }

// setRoot lists the root moves in the order of the first iteration: the table's move,
// then as everywhere else. They are the legal ones, restricted to those in only if any of
// them is legal.
func (w *worker) setRoot(only []chess.Move) {
	f := &w.stack[0]
	restricted := slices.ContainsFunc(only, f.pos.IsLegal)
	known, _ := w.table.probe(tableKey(&f.pos))
	w.moves = w.moves[:0]
	f.picker.reset(chess.NoMove)
	for m, _ := w.nextMove(0); m != chess.NoMove; m, _ = w.nextMove(0) {
		if restricted && !slices.Contains(only, m) {
			continue
		}
		r := rootMove{move: m, score: -infinite, last: -infinite, value: infinite, pvLen: 1}
		r.pv[0] = m
		w.moves = append(w.moves, r)
		if m == known.move {
			w.bringForward(0, len(w.moves)-1)
		}
	}
}

// bringForward moves the root move at index i to the index to < i, the moves
// between each one down.
func (w *worker) bringForward(to, i int) {
	r := w.moves[i]
	copy(w.moves[to+1:i+1], w.moves[to:i])
	w.moves[to] = r
}

// deepen runs the iterations, from depth 1 up, until the search ends.
func (w *worker) deepen(e *Engine) {
	lines := min(w.shared.lines, len(w.moves))
	w.choice = choice{score: w.moves[0].score}
	for depth := 1; depth <= w.shared.depth; depth++ {
		w.iterate(depth)
		for i := range w.moves {
			w.moves[i].last, w.moves[i].score = w.moves[i].score, -infinite
		}
		for from := range lines {
			w.seldepth = 0
			if w.aspire(depth, from); w.halted {
				w.settle(from, lines)
				return
			}
		}
		w.sortRoot(0, lines)
		w.completed = depth
		w.note(&w.moves[0])
		e.report(w, lines)
		if w.shared.enough(w) {
			return
		}
	}
}

// note remembers what the last iteration found, for the time that the next one may
// take.
func (w *worker) note(best *rootMove) {
	if best.move == w.choice.move {
		w.choice.stable++
	} else {
		w.choice.move, w.choice.stable = best.move, 0
	}
	w.choice.fall = w.choice.score - best.score
	w.choice.score = best.score
}

// doubt returns the share of the usual time for a move that this one deserves: less
// the longer the best move has been the same, more if its score has just fallen. What
// is left of the time would hardly do for another iteration.
func (w *worker) doubt() float64 {
	const iteration = 0.65
	stable := max(0.55, 1.35-0.16*float64(w.choice.stable))
	fall := max(-60, min(w.choice.fall, 240))
	return iteration * stable * (1 + float64(fall)/240)
}

// aspire searches the root moves from index from on, first within a small window
// around the last score, then within wider ones until the score lies inside.
func (w *worker) aspire(depth, from int) {
	alpha, beta, delta := -infinite, infinite, w.tune.Aspiration
	if last := w.moves[from].last; depth >= 4 && last > -mateBound && last < mateBound {
		alpha, beta = last-delta, last+delta
	}
	for {
		v := w.searchTogether(depth, from, alpha, beta)
		if w.halted {
			return
		}
		switch {
		case v <= alpha && alpha > -infinite:
			beta = (alpha + beta) / 2
			alpha = max(v-delta, -infinite)
		case v >= beta && beta < infinite:
			beta = min(v+delta, infinite)
		default:
			return
		}
		if delta *= 2; delta > 2000 {
			alpha, beta = -infinite, infinite
		}
	}
}

// searchRoot searches the root moves from index from on within a window and
// puts the best of them at from.
func (w *worker) searchRoot(depth, from, alpha, beta int) int {
	f := &w.stack[0]
	known, hit := w.table.probe(tableKey(&f.pos))
	f.onPV = true
	w.assess(0, known, hit)
	floor, best := alpha, -infinite
	quiets := 0
	for i := from; i < len(w.moves); i++ {
		m := w.moves[i].move
		noisy := isNoisy(&f.pos, m)
		if i > from && !noisy && (w.waits(i, depth, alpha) || w.futileRoot(&w.moves[i], depth, alpha)) && !f.pos.GivesCheck(m) {
			continue
		}
		w.make(0, m)
		var v int
		if i == from {
			v = -w.negamax(1, depth-1, -beta, -alpha, false)
		} else {
			r := 0
			if !noisy && quiets > 2 && depth >= 3 && w.tune.Reductions && !f.inCheck {
				r = max(0, min((w.tune.reduction(depth, i-from)-w.tune.ReduceWindow)/1024, depth-2))
			}
			v = w.scout(0, depth-1, r, alpha, beta, best, false)
		}
		w.unmake()
		if w.halted {
			return 0
		}
		if !noisy {
			quiets++
		}
		r := &w.moves[i]
		r.value = v
		if i > from && v <= alpha {
			r.score = -infinite
			continue
		}
		best = max(best, v)
		w.extendPV(0, m)
		r.score, r.bound, r.depth = v, boundOf(v, floor, beta), w.seldepth
		r.pvLen = copy(r.pv[:], f.pv[:f.pvLen])
		w.bringForward(from, i)
		if alpha = max(alpha, v); v >= beta {
			break
		}
	}
	if from == 0 && len(w.moves) == f.pos.CountLegal() { // the best of some is not the position's
		w.remember(0, depth, best, floor, beta, w.moves[0].move)
	}
	return best
}

// futileRoot reports whether the last search of a root move found it too far below
// alpha to search it at this depth, if it is quiet and gives no check. Where several
// lines are asked for each move matters.
func (w *worker) futileRoot(r *rootMove, depth, alpha int) bool {
	t := w.tune
	return t.Futility && t.RootStep > 0 && depth >= 2 && w.shared.lines == 1 && alpha > -mateBound && r.value+t.RootStep*depth <= alpha
}

// waits reports whether the root move at index i is put off to a later iteration, if it is
// quiet and gives no check: it stands far behind, and was never searched. A search of few
// nodes would spend half of them on such moves.
func (w *worker) waits(i, depth, alpha int) bool {
	t := w.tune
	return t.RootCount > 0 && w.shared.nodes < uint64(t.RootNodes) && w.moves[i].value == infinite && i >= t.RootCount+t.RootMore*(depth-1) &&
		w.shared.lines == 1 && alpha > -mateBound && depth < w.shared.depth
}

// settle makes an iteration that was cut short while it sought the best move
// for index from presentable: lines it did not come to keep the score of the
// iteration before, though no better than those it finished allow.
func (w *worker) settle(from, to int) {
	for i := from; i < to; i++ {
		if r := &w.moves[i]; r.score == -infinite {
			r.score, r.bound = r.last, search.Exact
		}
	}
	w.sortRoot(0, from)
	w.sortRoot(from, to)
	if from == 0 && w.tune.Spare && w.moves[0].score <= -mateBound {
		w.spare()
	}
	for i := max(from, 1); i < to; i++ {
		if best := w.moves[i-1].score; w.moves[i].score > best {
			w.moves[i].score, w.moves[i].bound = best, search.Upper
		}
	}
}

// spare puts a move that is not known to lose by force in the place of a best one that does,
// if there is one: an iteration that was cut short has not looked at all. What the position is
// worth then is what the last whole iteration has found.
func (w *worker) spare() {
	for i := range w.moves {
		if w.moves[i].value > -mateBound {
			w.bringForward(0, i)
			w.moves[0].score, w.moves[0].bound = -infinite, search.Exact
			if w.completed > 0 {
				w.moves[0].score = w.choice.score
			}
			return
		}
	}
}

// sortRoot orders the root moves with index in [from, to) by score, best first.
func (w *worker) sortRoot(from, to int) {
	slices.SortStableFunc(w.moves[from:to], func(a, b rootMove) int { return b.score - a.score })
}
