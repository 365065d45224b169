package mcts

import (
	"context"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/search"
)

// tree is a graph with a root and what playouts from it need.
type tree struct {
	*graph
	opts *Options

	root    nodeID
	start   chess.Position // of the root
	keys    []uint64       // of the positions from the start of the game on
	rootKey int            // index of the root's in keys
	rules   rules

	allowed []bool    // by the root's moves: may be played
	priors  []float32 // of the root's moves, with noise
	fpu     float64   // at the root

	path     []step
	*batch       // of the thread whose turn it is
	depth    int // greatest length of a playout of this search
	moves    chess.MoveList
	mating   [3]chess.MoveList // of the mate probe
	tempered []float32         // priors
}

// rules are the draws of a variant besides stalemate and repetition.
type rules struct{ fifty, material bool }

// step is a move of a playout.
type step struct {
	node nodeID
	kid  int
}

// waiting is a playout whose last position is to be evaluated.
type waiting struct {
	node nodeID
	path []step
	pos  chess.Position
	list chess.MoveList
}

func newTree(opts *Options) *tree {
	t := &tree{graph: newGraph(opts.MemoryMB << 20), opts: opts}
	t.batch = newBatch(opts.Batch)
	t.forget()
	return t
}

// batch is what one thread has evaluated at once.
type batch struct {
	waiting []waiting     // playouts that wait for the evaluation
	leaves  []search.Leaf // of waiting
}

func newBatch(size int) *batch {
	return &batch{waiting: make([]waiting, 0, size), leaves: make([]search.Leaf, size)}
}

// outcome is how a playout ended.
type outcome uint8

const (
	done     outcome = iota // counted
	asks                    // waits for an evaluation
	collided                // met a position that waits already, and was taken back
)

// playout walks from the root to a position that is new, proven or better known
// than the way to it. first is the index of the root's move to begin with.
func (t *tree) playout(first int) outcome {
	t.path = t.path[:0]
	t.keys = t.keys[:t.rootKey+1]
	pos := t.start
	at, i := t.root, first
	for {
		n := t.node(at)
		if i == int(n.shown) {
			t.show(at, i+1)
		}
		k := &t.kidsOf(n)[i]
		search.Advance(&pos, t.choicesOf(n)[i].move)
		t.keys = append(t.keys, pos.Key())
		t.path = append(t.path, step{at, i})
		k.flying++
		t.depth = max(t.depth, len(t.path))
		if k.node == noNode {
			return t.extend(k, &pos)
		}
		child := t.node(k.node)
		switch {
		case k.node == repetition || child.proof != unproven:
			t.count(t.path)
			return done
		case child.state != ready:
			return t.ask(k.node, &pos)
		case k.visits+k.flying-1 < child.visits || len(t.path) >= search.MaxPly-1:
			t.count(t.path)
			return done
		}
		at = k.node
		i = t.choose(child)
	}
}

// extend puts the node of pos, to which the path leads, behind k.
func (t *tree) extend(k *kid, pos *chess.Position) outcome {
	if t.repeats() {
		k.node = repetition
		t.count(t.path)
		return done
	}
	key := t.nodeKey(pos)
	if k.node = t.lookup(key); k.node == noNode {
		pos.Legal(&t.moves)
		k.node = t.add(key, t.moves.N)
		t.settle(t.node(k.node), pos)
	}
	n := t.node(k.node)
	if n.state == ready || n.proof != unproven {
		t.count(t.path)
		return done
	}
	return t.ask(k.node, pos)
}

// settle fills in what the rules and the mate probe know of the new node n of pos,
// whose legal moves are in t.moves.
func (t *tree) settle(n *node, pos *chess.Position) {
	t.list(n)
	switch {
	case t.moves.N == 0 && pos.InCheck():
		n.prove(lost, 0)
	case t.moves.N == 0, t.rules.fifty && pos.HalfmoveClock() >= 100, t.rules.material && pos.InsufficientMaterial():
		n.prove(drawn, 0)
	default:
		if _, plies := t.probe(pos, &t.moves, t.opts.MateProbe); plies > 0 {
			n.prove(won, plies)
		}
	}
	if n.proof != unproven {
		n.visits, n.own, n.value = 1, 1, n.mean
	}
}

// list fills in the choices of the new node n, which are those of t.moves.
func (t *tree) list(n *node) {
	choices := t.choicesOf(n)
	for i := range choices {
		choices[i] = choice{move: t.moves.Moves[i]}
	}
}

// repeats reports whether the last of the keys has stood on the board once since
// the root or twice before.
func (t *tree) repeats() bool {
	last := len(t.keys) - 1
	earlier := 0
	for i := last - 4; i >= 0; i -= 2 {
		if t.keys[i] == t.keys[last] {
			if earlier++; i >= t.rootKey || earlier == 2 {
				return true
			}
		}
	}
	return false
}

// nodeKey returns the key of the node of p: that of the position with the ply,
// and with the halfmove clock where a rule asks for it.
func (t *tree) nodeKey(p *chess.Position) uint64 {
	extra := uint64(p.Ply())
	if t.rules.fifty {
		extra |= uint64(p.HalfmoveClock()) << 32
	}
	return splitmix.Mix(p.Key() ^ splitmix.Mix(extra+1))
}

// ask lets the playout wait for the evaluation of the node of pos.
func (t *tree) ask(id nodeID, pos *chess.Position) outcome {
	n := t.node(id)
	if n.state == pending {
		t.takeBack(t.path)
		return collided
	}
	n.state = pending
	t.waiting = t.waiting[:len(t.waiting)+1]
	w := &t.waiting[len(t.waiting)-1]
	w.node, w.pos, w.list.N = id, *pos, 0
	w.path = append(w.path[:0], t.path...)
	for _, c := range t.choicesOf(n) {
		w.list.Add(c.move)
	}
	l := &t.leaves[len(t.waiting)-1]
	l.Pos, l.Moves, l.Repetitions = &w.pos, w.list.Slice(), chess.Repetitions(t.keys)
	return asks
}

// evaluate has the waiting playouts' positions evaluated and counts the playouts.
// On an error it takes them back.
func (t *tree) evaluate(ctx context.Context, e Evaluator) error {
	if len(t.waiting) == 0 {
		return nil
	}
	err := e.Evaluate(ctx, t.leaves[:len(t.waiting)])
	t.take(err)
	return err
}

// take counts the waiting playouts, whose positions have been evaluated, or takes
// them back if that ended with an error.
func (t *tree) take(err error) {
	for i := range t.waiting {
		w := &t.waiting[i]
		n := t.node(w.node)
		if err != nil {
			n.state = blank
			t.takeBack(w.path)
			continue
		}
		t.fill(n, &t.leaves[i])
		t.count(w.path)
	}
	t.waiting = t.waiting[:0]
}

// fill makes n ready with the evaluation of its position.
func (t *tree) fill(n *node, l *search.Leaf) {
	n.state, n.own = ready, 1
	n.value = l.Value
	if n.proof == unproven {
		n.mean, n.square = l.Value, l.Value*l.Value
	}
	n.visits = max(n.visits, 1)
	priors := l.Priors
	if t.opts.PolicyTemperature != 1 {
		priors = t.temper(priors)
	}
	choices := t.choicesOf(n)
	for i, p := range priors {
		choices[i] = choice{l.Moves[i], newPrior(p)}
	}
	order(choices, 0, int(n.shown))
}

// temper returns priors to the power 1/PolicyTemperature, normalised.
func (t *tree) temper(priors []float32) []float32 {
	t.tempered = t.tempered[:0]
	sum := 0.0
	for _, p := range priors {
		v := math.Pow(float64(p), 1/t.opts.PolicyTemperature)
		t.tempered = append(t.tempered, float32(v))
		sum += v
	}
	for i := range t.tempered {
		t.tempered[i] /= float32(sum)
	}
	return t.tempered
}

// count ends a playout: every move of its path has been tried once more.
func (t *tree) count(path []step) {
	for i := len(path) - 1; i >= 0; i-- {
		n := t.node(path[i].node)
		k := &t.kidsOf(n)[path[i].kid]
		k.flying--
		k.visits++
		t.refresh(n)
	}
}

// takeBack ends a playout that does not count.
func (t *tree) takeBack(path []step) {
	for _, s := range path {
		t.kidsOf(t.node(s.node))[s.kid].flying--
	}
}
