package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// frame is one ply of the line a worker looks at.
type frame struct {
	pos      chess.Position
	picker   picker
	killers  [2]chess.Move
	previous uint16 // piece-to index of the move that led here, noPieceTo if none
	fence    int    // index in worker.keys that repetitions are not sought before
	eval     int    // static evaluation, noEval in check
	inCheck  bool
	tried    [64]chess.Move // quiet moves searched here, for history
	pv       [search.MaxPly + 1]chess.Move
	pvLen    int
}

// worker is one thread of a search with everything it does not share.
type worker struct {
	shared  *control
	table   *table
	tune    *tuning
	pruning pruning
	eval    Evaluator
	history history

	stack [search.MaxPly + 2]frame
	moves []rootMove

	// keys are those of every position from the start of the game to the one
	// looked at; seen counts them by their low bits, so that most positions
	// can be told new at a glance.
	keys []uint64
	seen [1 << 12]uint16
	root int // index in keys of the root

	quota     uint64 // nodes it may still visit before asking control for more
	visited   uint64
	halted    bool // no more nodes, or told to stop
	seldepth  int
	rootDepth int
	completed int // last finished iteration
	draws     drawRules
	main      bool
}

// drawRules are the draws a search has to see besides repetition, by the
// variant's properties.
type drawRules struct {
	fifty, material bool
	// irreversible says that no position comes back once the halfmove clock
	// has been reset. Where captures come back as drops it may.
	irreversible bool
}

// begin prepares the worker for a search of line's last position.
func (w *worker) begin(line *chess.Line, c *control, t *tuning) {
	w.shared, w.tune = c, t
	v := line.Pos().Variant()
	w.draws = drawRules{fifty: v.FiftyMoveRule, material: v.InsufficientMaterial, irreversible: !v.CapturesToHand}
	w.keys = append(w.keys[:0], line.Keys()...)
	w.seen = [len(w.seen)]uint16{}
	for _, key := range w.keys {
		w.seen[key%uint64(len(w.seen))]++
	}
	w.root = len(w.keys) - 1
	w.quota, w.visited, w.halted, w.seldepth, w.completed = 0, 0, false, 0, 0
	for i := range w.stack {
		w.stack[i].killers = [2]chess.Move{}
	}
	f := &w.stack[0]
	f.pos = *line.Pos()
	f.fence, f.previous = 0, noPieceTo
	f.inCheck = f.pos.InCheck()
	w.eval.Reset(&f.pos)
}

// visit counts a node and reports whether the search goes on. A search that
// does not returns up the line at once; what it returns means nothing.
func (w *worker) visit() bool {
	if w.halted {
		return false
	}
	if w.quota == 0 {
		if w.quota = w.shared.grant(); w.quota == 0 {
			w.halted = true
			return false
		}
	}
	if w.shared.Stopped() {
		w.halted = true
		return false
	}
	w.quota--
	w.visited++
	return true
}

// make extends the line at ply by the legal move m, or by passing the turn for
// chess.NoMove.
func (w *worker) make(ply int, m chess.Move) {
	f, child := &w.stack[ply], &w.stack[ply+1]
	w.eval.Push(&f.pos, m)
	child.pos = f.pos
	if m == chess.NoMove {
		child.pos.MakeNull()
		child.previous = noPieceTo
		child.fence = len(w.keys)
	} else {
		_, piece := indexes(&f.pos, m)
		child.previous = uint16(piece)
		child.pos.Make(m)
		child.fence = f.fence
	}
	key := child.pos.Key()
	w.keys = append(w.keys, key)
	w.seen[key%uint64(len(w.seen))]++
}

// unmake takes the last move back.
func (w *worker) unmake() {
	last := len(w.keys) - 1
	w.seen[w.keys[last]%uint64(len(w.seen))]--
	w.keys = w.keys[:last]
	w.eval.Pop()
}

// drawn reports whether the position at ply > 0 is a draw by rule, or might as
// well be: one that has come back since the root scores as a draw, for if it
// could come back once it can again.
func (w *worker) drawn(ply int) bool {
	f := &w.stack[ply]
	if w.draws.fifty && f.pos.HalfmoveClock() >= 100 {
		return !f.inCheck || f.pos.HasLegalMove()
	}
	if w.draws.material && f.pos.InsufficientMaterial() {
		return true
	}
	return w.repeated(f)
}

// repeated reports whether the last key stands among the earlier ones, once
// since the root or twice in all.
func (w *worker) repeated(f *frame) bool {
	last := len(w.keys) - 1
	key := w.keys[last]
	if w.seen[key%uint64(len(w.seen))] < 2 {
		return false
	}
	fence := f.fence
	if w.draws.irreversible {
		fence = max(fence, last-f.pos.HalfmoveClock())
	}
	earlier := 0
	for i := last - 4; i >= fence; i -= 2 {
		if w.keys[i] != key {
			continue
		}
		if earlier++; i >= w.root || earlier == 2 {
			return true
		}
	}
	return false
}

// evaluate returns the evaluator's value of the position at ply, kept clear of
// the mate scores.
func (w *worker) evaluate(ply int) int {
	v := w.eval.Evaluate(&w.stack[ply].pos)
	return max(1-mateBound, min(v, mateBound-1))
}

// extendPV makes m and the child's principal variation that of the frame at
// ply.
func (w *worker) extendPV(ply int, m chess.Move) {
	f, child := &w.stack[ply], &w.stack[ply+1]
	f.pv[0] = m
	f.pvLen = 1 + copy(f.pv[1:], child.pv[:child.pvLen])
}
