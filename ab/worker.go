package ab

import (
	"slices"
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/memory"
	"github.com/crazyhouse-rl/selfplay/search"
)

// frame is one ply of the line a worker looks at.
type frame struct {
	pos      chess.Position
	picker   picker
	killers  [2]chess.Move
	move     chess.Move // being searched, NoMove for passing the turn
	excluded chess.Move // the table's move where a singular extension is tried
	fence    int        // index in worker.keys that repetitions are not sought before
	raw      int        // static evaluation, noEval in check
	eval     int        // the same as experience corrects it
	guess    int        // the same as the table's score corrects it
	inCheck  bool
	onPV     bool           // was ever searched with an open window
	doubles  int            // extensions by two in the line that led here
	tried    [64]chess.Move // moves searched here, for history
	pv       [search.MaxPly + 1]chess.Move
	pvLen    int

	later       []deferred // moves put off
	shared      int        // depth of the search that other threads may help with, else 0
	alpha, beta int        // its window
}

// worker is one thread of a search with everything it does not share.
type worker struct {
	shared      *control
	team        *team // nil without other threads
	table       *table
	tuning      *tuning
	tune        *stage // of the iteration
	eval        Evaluator
	history     history
	corrections corrections

	stack [search.MaxPly + 2]frame
	// trail holds the piece-to indexes of the moves that led to each ply, behind
	// those of the last moves of the game: that of the move that led to ply is at
	// ply+trailBefore-1.
	trail [search.MaxPly + 2 + trailBefore]uint16
	moves []rootMove

	// keys are those of every position from the start of the game to the one
	// looked at; seen counts them by their low bits, so that most positions
	// can be told new at a glance.
	keys []uint64
	seen [1 << 12]uint16
	root int // index in keys of the root

	noNull    int    // null moves are not tried before this ply
	quota     uint64 // nodes it may still visit before asking control for more
	visited   uint64
	fresh     bool // the last move made is not counted yet
	halted    bool // no more nodes, or told to stop
	seldepth  int
	rootDepth int
	completed int // last finished iteration
	choice    choice
	draws     drawRules

	// With other threads:
	task    uint64 // number of the team's task it works on, 0 before the first
	settled int    // ply of the node that another thread was found to have settled, else 0
	verdict int    // score of that node
}

// choice is the best root move over the iterations of a search.
type choice struct {
	move   chess.Move
	stable int // iterations since it was another
	score  int // of the last iteration
	fall   int // by how much that was worse than the one before
}

// trailBefore is how many moves of the game before the root are known to history.
const trailBefore = 4

// drawRules are the draws a search has to see besides repetition, by the
// variant's properties.
type drawRules struct {
	fifty, material bool
	// irreversible says that no position comes back once the halfmove clock
	// has been reset. Where captures come back as drops it may.
	irreversible bool
}

func newWorker(t *table, e Evaluator) *worker {
	w := &worker{table: t, eval: e}
	memory.LargePages(unsafe.Pointer(w), unsafe.Sizeof(*w))
	return w
}

// iterate begins the iteration of a depth.
func (w *worker) iterate(depth int) {
	w.rootDepth, w.tune = depth, w.tuning.at(depth, w.shared.nodes)
}

// begin prepares the worker for a search of line's last position.
func (w *worker) begin(line *chess.Line, c *control, t *tuning) {
	w.shared, w.tuning = c, t
	w.iterate(0)
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
	w.noNull, w.task, w.settled = 0, 0, 0
	f := &w.stack[0]
	f.pos = *line.Pos()
	f.fence, f.doubles, f.excluded, f.shared = 0, 0, chess.NoMove, 0
	f.inCheck = f.pos.InCheck()
	w.lead(line)
	w.eval.Reset(&f.pos)
}

// lead fills the trail with the last moves of the line before the root.
func (w *worker) lead(line *chess.Line) {
	moves := line.Moves()
	for i := range trailBefore {
		w.trail[i] = noPieceTo
		if n := len(moves) - trailBefore + i; n >= 0 {
			_, piece := w.indexes(line.At(n), moves[n])
			w.trail[i] = uint16(piece)
		}
	}
}

// forget drops what was learned in earlier games.
func (w *worker) forget() {
	w.history.clear()
	w.corrections.clear()
}

// visit counts a node, if the position looked at was reached by a move and is not
// being searched again, and reports whether the search goes on. A search that does not
// returns up the line at once; what it returns means nothing.
func (w *worker) visit() bool {
	if w.halted {
		return false
	}
	if w.fresh && w.quota == 0 {
		if w.useless() {
			w.halted = true
			return false
		}
		if w.quota = w.shared.grant(); w.quota == 0 {
			w.halted = true
			return false
		}
	}
	if w.shared.Stopped() {
		w.halted = true
		return false
	}
	if w.fresh {
		w.fresh = false
		w.quota--
		w.visited++
	}
	return true
}

// make extends the line at ply by the legal move m, or by passing the turn for
// chess.NoMove.
func (w *worker) make(ply int, m chess.Move) {
	f, child := &w.stack[ply], &w.stack[ply+1]
	f.move = m
	child.pos = f.pos
	child.excluded = chess.NoMove
	child.doubles = f.doubles
	child.shared = 0
	w.fresh = m != chess.NoMove
	if m == chess.NoMove {
		child.pos.MakeNull()
		w.trail[ply+trailBefore] = noPieceTo
		child.fence = len(w.keys)
	} else {
		_, piece := w.indexes(&f.pos, m)
		w.trail[ply+trailBefore] = uint16(piece)
		child.pos.Make(m)
		child.fence = f.fence
	}
	key := child.pos.Key()
	w.table.prefetch(tableKey(&child.pos))
	w.eval.Push(&f.pos, m)
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

// mayRepeat reports whether the side to move at ply can repeat an earlier position
// with its next move, by a move of a piece: one since the root, or one that has come
// back already. In check it may not find all.
func (w *worker) mayRepeat(ply int) bool {
	f := &w.stack[ply]
	last := len(w.keys) - 1
	first := max(f.fence, last-f.pos.HalfmoveClock())
	for i := last - 3; i >= first; i -= 2 {
		if f.pos.MayReturn(w.keys[i]) && (i >= w.root || slices.Contains(w.keys[f.fence:i], w.keys[i])) {
			return true
		}
	}
	return false
}

// evaluate returns the evaluator's value of the position at ply, kept clear of
// the mate scores.
func (w *worker) evaluate(ply int) int {
	p := &w.stack[ply].pos
	v := w.eval.Evaluate(p)
	if t := w.tune; t.MaterialScale > 0 {
		v += v * t.MaterialScale * (t.values.onBoard(p) - fullBoard) / (100 * fullBoard)
	}
	return max(1-mateBound, min(v, mateBound-1))
}

// extendPV makes m and the child's principal variation that of the frame at
// ply.
func (w *worker) extendPV(ply int, m chess.Move) {
	f, child := &w.stack[ply], &w.stack[ply+1]
	f.pv[0] = m
	f.pvLen = 1 + copy(f.pv[1:], child.pv[:child.pvLen])
}
