package mcts

import (
	"context"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// setRoot makes the last position of line, which has legal moves, the root: the
// node that stands for it since the last search, if there is one, else a new one
// alone in the graph. The line before it counts for repetitions.
func (t *tree) setRoot(line *chess.Line) {
	pos := search.Current(line)
	v := pos.Variant()
	t.rules = rules{fifty: v.FiftyMoveRule, material: v.InsufficientMaterial}
	root := noNode
	if t.opts.Reuse {
		root = t.follow(line, &pos)
	}
	t.keys = append(t.keys[:0], line.Keys()...)
	t.rootKey, t.start = len(t.keys)-1, pos
	if root == noNode || root != t.root {
		t.allowed = t.allowed[:0] // they were another position's
	}
	if root != noNode {
		t.root = t.collect(root, 0)
		t.forgetRepetitions()
		t.root = t.shrink(t.root)
		return
	}
	t.clear()
	pos.Legal(&t.moves)
	t.root = t.add(t.nodeKey(&pos), t.moves.N)
	t.list(t.node(t.root))
}

// forget forgets all nodes.
func (t *tree) forget() {
	t.clear()
	t.root, t.keys, t.rootKey = noNode, t.keys[:0], -1
}

// follow returns the node of pos, the last position of line, noNode if the graph
// has none that is of use. What is known before a position comes back for the
// first time does not hold afterwards: reaching it again would be a draw.
func (t *tree) follow(line *chess.Line, pos *chess.Position) nodeID {
	keys, before := line.Keys(), t.rootKey+1
	if t.root == noNode || pos.Variant() != t.start.Variant() {
		return noNode
	}
	if len(keys) < before || !slices.Equal(keys[:before], t.keys[:before]) {
		before = 1 // another history, as of GUIs that send nothing but the position
	}
	for i := before; i < len(keys); i++ {
		if slices.Contains(keys[:i], keys[i]) {
			return noNode
		}
	}
	id := t.lookup(t.nodeKey(pos))
	if id != noNode && t.node(id).count == 0 { // the line goes on where the game is over
		return noNode
	}
	return id
}

// prepare gives the root its evaluation, all its kids, and the priors and the
// moves that this search uses. The error is the evaluator's.
func (t *tree) prepare(ctx context.Context, e Evaluator, only []chess.Move, plan *plan) (evaluated bool, err error) {
	n := t.node(t.root)
	n.proof = unproven // perhaps by draws that need not be claimed, or forgotten kids
	if n.state != ready {
		t.freeKids(n) // of a search that ended before this; they stand in another order
		n.own, n.visits = 0, 0
		t.path, t.keys = t.path[:0], t.keys[:t.rootKey+1]
		t.ask(t.root, &t.start)
		evaluated, err = true, t.evaluate(ctx, e)
		if err != nil {
			return evaluated, err
		}
	}
	t.show(t.root, int(n.count))
	// Moves that the last search was not allowed would never catch up with the others.
	if changed := t.restrict(n, only); changed || plan.fresh {
		for i := range t.kidsOf(n) {
			t.kidsOf(n)[i].visits = 0
		}
	}
	t.priors = t.priors[:0]
	for _, c := range t.choicesOf(n) {
		t.priors = append(t.priors, c.prior.float())
	}
	t.fpu = t.opts.FPU
	if plan.noise > 0 {
		addNoise(t.priors, plan.noise, t.opts.NoiseTotal/float64(len(t.priors)), t.opts.Rand)
		t.fpu = 0
	}
	t.depth = 0
	t.refresh(n)
	t.probeRoot(n)
	return evaluated, nil
}

// restrict notes which of the root's moves are among only; all are if none is. It
// reports whether the last search was of the same root and other moves.
func (t *tree) restrict(n *node, only []chess.Move) (changed bool) {
	choices := t.choicesOf(n)
	among := func(c choice) bool { return slices.Contains(only, c.move) }
	all, searched := !slices.ContainsFunc(choices, among), len(t.allowed) > 0
	t.allowed = slices.Grow(t.allowed[:0], len(choices))[:len(choices)]
	for i, c := range choices {
		may := all || among(c)
		changed = changed || searched && t.allowed[i] != may
		t.allowed[i] = may
	}
	return changed
}

// probeRoot looks for a mate at the root and enters it in the graph.
func (t *tree) probeRoot(n *node) {
	if n.proof != unproven {
		return
	}
	t.start.Legal(&t.moves)
	m, plies := t.probe(&t.start, &t.moves, t.opts.MateProbe)
	if plies == 0 {
		return
	}
	choices := t.choicesOf(n)
	i := slices.IndexFunc(choices, func(c choice) bool { return c.move == m })
	k := &t.kidsOf(n)[i]
	if !t.allowed[i] || k.node == repetition || !t.hasRoom() {
		return
	}
	if k.node == noNode {
		pos := t.start
		search.Advance(&pos, m)
		key := t.nodeKey(&pos)
		if k.node = t.lookup(key); k.node == noNode {
			pos.Legal(&t.moves)
			k.node = t.add(key, t.moves.N)
			t.list(t.node(k.node))
		}
	}
	child := t.node(k.node)
	child.prove(lost, plies-1)
	child.own, child.visits = max(child.own, 1), max(child.visits, 1)
	k.visits = max(k.visits, 1)
	t.refresh(n)
}

// chooseRoot returns the index of the root's move to try next, -1 if all that may
// be played are proven and trying them tells nothing. As many of the likeliest as
// lines are asked for are all tried.
func (t *tree) chooseRoot(lines int) int {
	if lines == 1 {
		lines = 0 // the formula finds it
	}
	n := t.node(t.root)
	kids := t.kidsOf(n)
	tried, explored := uint32(0), float32(0)
	for i := range kids {
		if v := kids[i].visits + kids[i].flying; v > 0 {
			tried += v
			explored += t.priors[i]
		}
	}
	f := t.opts.formulaOf(n, tried, float64(explored), t.fpu)
	best, bestScore := -1, float32(math.Inf(-1))
	for i := range kids {
		k := &kids[i]
		if !t.allowed[i] {
			continue
		}
		if lines > 0 {
			if lines--; k.visits+k.flying == 0 && k.node == noNode {
				return i
			}
		}
		mean := f.unseen
		if k.node != noNode {
			child := t.node(k.node)
			if child.proof == won || child.proof == lost {
				continue
			}
			if k.visits > 0 {
				mean = -child.mean
			}
		}
		if s := f.score(mean, t.priors[i], k.visits+k.flying); s > bestScore {
			best, bestScore = i, s
		}
	}
	return best
}

// solved reports whether the best of the root's moves that may be played is
// proven, and the proof and the distance in plies of the root by them. Among
// proven draws and open moves nothing is solved.
func (t *tree) solved() (proof, int) {
	shortest, longest, open, even := -1, -1, false, false
	for i, k := range t.kidsOf(t.node(t.root)) {
		if !t.allowed[i] {
			continue
		}
		if k.node == noNode {
			open = true
			continue
		}
		child := t.node(k.node)
		switch d := int(child.distance) + 1; child.proof {
		case lost:
			if shortest < 0 || d < shortest {
				shortest = d
			}
		case won:
			longest = max(longest, d)
		case drawn:
			even = true
		default:
			open = true
		}
	}
	switch {
	case shortest >= 0:
		return won, shortest
	case open:
		return unproven, 0
	case even:
		return drawn, 0
	}
	return lost, longest
}
