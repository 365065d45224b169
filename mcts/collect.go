package mcts

import "math/bits"

// collector is what a collection needs; it counts as part of the nodes' memory.
type collector struct {
	marks []uint64 // a bit for every node that stays
	ranks []uint32 // nodes that stay before each word of marks
	stack []nodeID
}

// collect removes all nodes that are not reached from root, and forgets what lies
// behind nodes visited less than least times. Nodes, choices and kids slide
// together, so that the memory behind them is free. It returns root's new id. No
// playout may be waiting for an evaluation.
func (g *graph) collect(root nodeID, least uint32) nodeID {
	g.mark(root, least)
	g.rank()
	g.slideKids()
	g.slideNodes()
	clear(g.table)
	g.fillTable()
	return g.moved(root)
}

func (g *graph) mark(root nodeID, least uint32) {
	g.marks = append(g.marks[:0], make([]uint64, (g.used+63)/64)...)
	g.marks[0] = 1<<noNode | 1<<repetition
	g.stack = append(g.stack[:0], root)
	g.marks[root/64] |= 1 << (root % 64)
	for len(g.stack) > 0 {
		id := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		n := g.node(id)
		if id != root && n.visits < least && n.shown > 0 {
			n.own, n.value = n.visits, n.mean
			g.freeKids(n)
		}
		for _, k := range g.kidsOf(n) {
			if !g.marked(k.node) {
				g.marks[k.node/64] |= 1 << (k.node % 64)
				g.stack = append(g.stack, k.node)
			}
		}
	}
}

func (g *graph) marked(id nodeID) bool { return g.marks[id/64]>>(id%64)&1 != 0 }

func (g *graph) rank() {
	g.ranks = g.ranks[:0]
	n := 0
	for _, word := range g.marks {
		g.ranks = append(g.ranks, uint32(n))
		n += bits.OnesCount64(word)
	}
}

// moved returns the id that a node which stays will have.
func (g *graph) moved(id nodeID) nodeID {
	return g.ranks[id/64] + nodeID(bits.OnesCount64(g.marks[id/64]&(1<<(id%64)-1)))
}

// slideKids moves the kids of the nodes that stay together, and writes the new
// ids in them. A run never moves to a later place, since the runs before it have
// not become longer.
func (g *graph) slideKids() {
	end, to := g.kidN, uint32(0)
	g.free = [kidClasses]uint32{}
	for at := uint32(0); at < end; {
		head := *g.header(at + 1)
		if head.node != noNode && g.marked(head.node) {
			n := g.node(head.node)
			place := fit(to, head.visits, kidBits)
			if gap := place - to; gap > 0 {
				*g.header(to + 1) = kid{visits: gap}
			}
			run := g.kidRun(at+1, n.shown)
			for i := range run {
				run[i].node = g.moved(run[i].node)
			}
			copy(g.kidRun(place+1, n.shown), run)
			*g.header(place + 1) = kid{node: g.moved(head.node), visits: head.visits}
			n.kids = place + 1
			to = place + head.visits
		}
		at += head.visits
	}
	g.kidN = to
}

// slideNodes moves the nodes that stay and their choices together. Nodes and
// choices were made in the same order.
func (g *graph) slideNodes() {
	end, to := g.used, firstNode
	g.choiceN = 0
	for id := firstNode; id < end; id++ {
		if !g.marked(id) {
			continue
		}
		n := *g.node(id)
		place := fit(g.choiceN, uint32(n.count), choiceBits)
		g.choiceN = place + uint32(n.count)
		from := g.choicesOf(&n)
		n.choices = place
		copy(g.choicesOf(&n), from)
		*g.node(to) = n
		to++
	}
	g.used = to
}

// shrink forgets what was visited least until at most half of the limit is in
// use, and returns root's new id. It may fail to reach that.
func (g *graph) shrink(root nodeID) nodeID {
	top := g.node(root).visits
	for least := uint32(2); g.inUse() > g.limit/2; least *= 2 {
		root = g.collect(root, least)
		if least > top {
			break
		}
	}
	return root
}

// forgetRepetitions takes the moves that repeat a position out of all nodes, for
// they do so by the way from a root that is another now. What they counted stays
// as part of the nodes' own value.
func (g *graph) forgetRepetitions() {
	for id := firstNode; id < g.used; id++ {
		n := g.node(id)
		for i := range g.kidsOf(n) {
			k := &g.kidsOf(n)[i]
			if k.node != repetition {
				continue
			}
			n.value *= float32(n.own) / float32(n.own+k.visits)
			n.own += k.visits
			*k = kid{}
		}
	}
}
