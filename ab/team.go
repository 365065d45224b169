package ab

import (
	"sync"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Several threads divide the tree by simplified ABDADA, of Kerrigan
// (http://www.tckerrigan.com/Chess/Parallel_Search/Simplified_ABDADA/), after Weill:
// all of them search the same root to the same depth within the same window, but a
// thread puts off moves that another one is searching. Where it comes back to them
// the table knows the answer, or there is something left to help with. Three
// additions make the threads waste less: all begin an iteration together and the
// first to finish it ends it for all; a thread leaves a node that another has
// settled; and in principal variations the best score found so far is shared.

// shareDepth is the least depth at which threads divide the moves of a node.
const shareDepth = 4

// team is what the threads of one engine share besides the table.
type team struct {
	busy busyMoves

	begun  atomic.Uint64 // number of the task that all are to work on
	solved atomic.Uint64 // number of the task that was finished last

	mu    sync.Mutex // guards what follows
	wake  sync.Cond  // a task has begun or there will be no more
	task  task
	value int  // of task, once it is solved
	ended bool // the search is over
}

// task is one call of worker.searchRoot.
type task struct {
	number                   uint64
	depth, from, alpha, beta int
	moves                    []rootMove // once it is solved, as that left them
}

func newTeam() *team {
	t := &team{}
	t.wake.L = &t.mu
	return t
}

// open begins a search.
func (t *team) open() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.task.number = false, 0
}

// close sends the helpers home.
func (t *team) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.begun.Add(1) // what was begun is of no use any more
	t.wake.Broadcast()
}

// begin gives all threads a task and returns its number.
func (t *team) begin(next task, moves []rootMove) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	next.number = t.begun.Load() + 1
	next.moves = append(t.task.moves[:0], moves...)
	t.task = next
	t.begun.Store(next.number)
	t.wake.Broadcast()
	return next.number
}

// next waits for a task after the one numbered last, gives w its root moves and
// returns it without them; false when the search is over.
func (t *team) next(w *worker, last uint64) (task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.ended && (t.task.number <= last || t.solved.Load() == t.task.number) {
		t.wake.Wait()
	}
	if t.ended {
		return task{}, false
	}
	w.moves = append(w.moves[:0], t.task.moves...)
	next := t.task
	next.moves = nil
	return next, true
}

// solve notes the outcome of a task, unless another thread was faster.
func (t *team) solve(number uint64, value int, moves []rootMove) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun.Load() == number && t.solved.Load() != number {
		copy(t.task.moves, moves)
		t.value = value
		t.solved.Store(number)
	}
}

// answer copies the outcome of a task into moves and returns its value; false if
// nobody has solved it.
func (t *team) answer(number uint64, moves []rootMove) (int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.solved.Load() != number {
		return 0, false
	}
	copy(moves, t.task.moves)
	return t.value, true
}

// help works on the main worker's tasks until the search is over.
func (w *worker) help() {
	for {
		next, ok := w.team.next(w, w.task)
		if !ok {
			return
		}
		w.task, w.halted, w.seldepth = next.number, false, 0
		w.iterate(next.depth)
		if v := w.searchRoot(next.depth, next.from, next.alpha, next.beta); !w.halted {
			w.team.solve(next.number, v, w.moves)
		}
	}
}

// searchTogether is searchRoot by all threads. What it finds is what the first of
// them finds.
func (w *worker) searchTogether(depth, from, alpha, beta int) int {
	if !w.shares(depth) {
		return w.searchRoot(depth, from, alpha, beta)
	}
	w.task = w.team.begin(task{depth: depth, from: from, alpha: alpha, beta: beta}, w.moves)
	v := w.searchRoot(depth, from, alpha, beta)
	if w.halted {
		if answer, ok := w.team.answer(w.task, w.moves); ok {
			w.halted = false
			v = answer
		}
	}
	return v
}

// useless reports whether what the worker searches is of no use any more: the task
// is done, or another thread has settled a node of the line, which is noted.
func (w *worker) useless() bool {
	t := w.team
	if t == nil {
		return false
	}
	w.settled = 0
	if w.task != 0 && (t.solved.Load() == w.task || t.begun.Load() != w.task) {
		return true
	}
	last := len(w.keys) - 1 - w.root
	for ply := 1; ply < last; ply++ {
		f := &w.stack[ply]
		if f.shared == 0 || f.beta-f.alpha != 1 {
			continue
		}
		known, hit := w.table.probe(tableKey(&f.pos))
		if !hit || known.depth < f.shared {
			continue
		}
		if v := fromTable(known.score, ply); cuts(v, known.bound, f.alpha, f.beta) {
			w.settled, w.verdict = ply, v
			return true
		}
	}
	return false
}

// resume notes that a halted search has come up to ply, and returns what that
// returns. If another thread has settled the node at ply, the search goes on with the
// score of that.
func (w *worker) resume(ply int) int {
	if w.settled != ply {
		return 0
	}
	w.halted, w.settled = false, 0
	return w.verdict
}

// shares reports whether threads divide the moves of a node searched to a depth.
func (w *worker) shares(depth int) bool { return w.team != nil && depth >= shareDepth }

// share says that from now on what other threads find of the node at ply matters.
func (w *worker) share(ply, depth, alpha, beta int) {
	if w.shares(depth) {
		f := &w.stack[ply]
		f.shared, f.alpha, f.beta = depth, alpha, beta
	}
}

// raised returns what other threads have found to be the least score of the node at
// ply, in a principal variation, and the move that reaches it; alpha if that is no
// less.
func (w *worker) raised(ply, alpha int) (int, chess.Move) {
	f := &w.stack[ply]
	if f.shared == 0 || f.beta-f.alpha == 1 {
		return alpha, chess.NoMove
	}
	known, hit := w.table.probe(tableKey(&f.pos))
	if !hit || known.depth < f.shared || known.bound == search.Upper || known.move == chess.NoMove || !f.pos.IsLegal(known.move) {
		return alpha, chess.NoMove
	}
	return max(alpha, fromTable(known.score, ply)), known.move
}

// announce tells other threads that the move m, in a principal variation, reaches
// score at least.
func (w *worker) announce(ply, score int, m chess.Move) {
	if f := &w.stack[ply]; f.shared != 0 && f.beta-f.alpha > 1 {
		w.table.store(tableKey(&f.pos), entry{move: m, score: toTable(score, ply), eval: f.raw, depth: f.shared, bound: search.Lower, pv: true})
	}
}

// deferred is a move put off since another thread is searching it.
type deferred struct {
	move      chess.Move
	reduction int
}

// nextLater returns a move put off with its reduction, false if there is none.
func (f *frame) nextLater() (chess.Move, int, bool) {
	if len(f.later) == 0 {
		return chess.NoMove, 0, false
	}
	d := f.later[0]
	f.later = f.later[1:]
	return d.move, d.reduction, true
}

// claim says that the move m of the position at ply is being searched to a depth,
// unless it is taken by another thread. It returns what release takes.
func (w *worker) claim(ply int, m chess.Move, depth int) (claim uint64, taken bool) {
	h := busyHash(tableKey(&w.stack[ply].pos), m, depth)
	mine, taken := w.team.busy.claim(h)
	if !mine {
		h = 0
	}
	return h, taken
}

// release takes back what was claimed, if anything.
func (w *worker) release(claim uint64) {
	if claim != 0 {
		w.team.busy.release(claim)
	}
}

// busyMoves are moves that are being searched, by hashes. It is exact but where
// too many fall into one set, which are then not remembered.
type busyMoves [1 << 10][4]atomic.Uint64

// busyHash stands for a move in a position searched to a depth. It is not 0.
func busyHash(key uint64, m chess.Move, depth int) uint64 {
	return (key^uint64(m)*odd[0]^uint64(depth)*odd[1])*odd[2] | 1
}

// claim notes that h is being searched. taken says that another thread searches it
// already, mine that it has been noted and is to be released.
func (b *busyMoves) claim(h uint64) (mine, taken bool) {
	set := &b[h>>32%uint64(len(b))]
	for i := range set {
		if set[i].Load() == h {
			return false, true
		}
	}
	for i := range set {
		if set[i].CompareAndSwap(0, h) {
			return true, false
		}
	}
	return false, false
}

// release takes back what was claimed.
func (b *busyMoves) release(h uint64) {
	set := &b[h>>32%uint64(len(b))]
	for i := range set {
		if set[i].CompareAndSwap(h, 0) {
			return
		}
	}
}
