package mcts

import (
	"math"
	"math/bits"
	"slices"
)

// proof is what is certain about a node, from its side to move's point of view.
type proof uint8

const (
	unproven proof = iota
	won
	lost
	drawn
)

// nodeState says how far a node is.
type nodeState uint8

const (
	blank   nodeState = iota // its evaluation was asked for and failed, or was never needed
	pending                  // its evaluation is on the way
	ready
)

// node is a position. Values are those of its side to move.
type node struct {
	key    uint64  // of the position, its ply and what else tells nodes apart
	value  float32 // the evaluator's; or the mean of what was forgotten
	mean   float32 // of value and the nodes behind the kids; exact if proven
	square float32 // the same of the squares, for the spread
	visits uint32  // own and those of the kids
	own    uint32  // weight of value: 1, or more if visits were forgotten
	// choices and kids say where the legal moves and what became of the first
	// few of them stand. Those with kids and the one behind them are the
	// likeliest, in this order; the others stand as they were generated.
	choices, kids uint32
	count         uint16 // legal moves; 0 if there are none
	shown         uint16 // kids
	room          uint16 // kids there is room for, 0 or a power of two
	distance      uint16 // plies to the end of the game if won or lost
	state         nodeState
	proof         proof
}

// kid is what became of a legal move: how often it was tried, and the node
// behind it.
type kid struct {
	node   nodeID
	visits uint32
	flying uint32 // playouts through it that wait for an evaluation
}

// nodeID is the index of a node.
type nodeID = uint32

const (
	noNode nodeID = iota
	// repetition stands behind moves that repeat a position. It is drawn, but
	// by the way that leads there, and so without a proof.
	repetition
	firstNode
)

// Sizes of the chunks in which memory is taken. A chunk holds the choices, or the
// kids, of any node.
const (
	nodeBits   = 9
	choiceBits = 13
	kidBits    = 11

	nodeBytes   = 48<<nodeBits + (1<<nodeBits)/5 // and the marks of a collection
	choiceBytes = 4 << choiceBits
	kidBytes    = 12 << kidBits

	maxMoves   = 512 // of a node, as chess.MoveList
	leastRoom  = 2   // kids
	kidClasses = 10  // 1, 2, 4, … 512
)

// graph is the memory of a search: nodes, their legal moves, their kids, and a
// table that finds nodes by key. It never takes more than its limit.
type graph struct {
	limit int // bytes
	bytes int // taken

	nodes   []*[1 << nodeBits]node
	choices []*[1 << choiceBits]choice
	kids    []*[1 << kidBits]kid
	used    nodeID // nodes in use, the two that are none included
	choiceN uint32 // where free choices begin
	kidN    uint32 // where free kids begin
	// free are the first of the freed runs of kids of every class; the next
	// one stands in the first kid's node. Before each run stands a header: a
	// kid with the node it belongs to, noNode if none, and the run's length in
	// place of visits, itself included.
	free [kidClasses]uint32

	table []nodeID // by key, linear probing; noNode is an empty place

	collector
}

func newGraph(limitBytes int) *graph {
	g := &graph{limit: limitBytes}
	g.clear()
	return g
}

// clear forgets all nodes and keeps the memory.
func (g *graph) clear() {
	g.used, g.choiceN, g.kidN = firstNode, 0, 0
	g.free = [kidClasses]uint32{}
	clear(g.table)
}

// reset forgets all nodes and gives the memory back.
func (g *graph) reset() { *g = *newGraph(g.limit) }

func (g *graph) node(id nodeID) *node {
	return &g.nodes[id>>nodeBits][id&(1<<nodeBits-1)]
}

// choicesOf returns the legal moves of n, in the order that node describes.
func (g *graph) choicesOf(n *node) []choice {
	if n.count == 0 {
		return nil
	}
	at := n.choices & (1<<choiceBits - 1)
	return g.choices[n.choices>>choiceBits][at : at+uint32(n.count)]
}

// kidsOf returns the kids of n, which belong to its first legal moves.
func (g *graph) kidsOf(n *node) []kid {
	if n.shown == 0 {
		return nil
	}
	return g.kidRun(n.kids, n.shown)
}

func (g *graph) kidRun(at uint32, count uint16) []kid {
	low := at & (1<<kidBits - 1)
	return g.kids[at>>kidBits][low : low+uint32(count)]
}

// trim gives back the chunks that nothing stands in: other positions ask for other
// shares of nodes, choices and kids.
func (g *graph) trim() {
	g.nodes = trimmed(g.nodes, g.used, nodeBits)
	g.choices = trimmed(g.choices, g.choiceN, choiceBits)
	g.kids = trimmed(g.kids, g.kidN, kidBits)
	g.bytes = len(g.nodes)*nodeBytes + len(g.choices)*choiceBytes + len(g.kids)*kidBytes + 4*len(g.table)
}

// trimmed returns the chunks that the first n elements stand in.
func trimmed[T any](chunks []T, n uint32, chunkBits int) []T {
	keep := (int(n) + 1<<chunkBits - 1) >> chunkBits
	return slices.Delete(chunks, min(keep, len(chunks)), len(chunks))
}

// hasRoom reports whether a playout can add what it may: a node with any number
// of moves, and any number of kids in one node.
func (g *graph) hasRoom() bool {
	const most = math.MaxUint32 - 1<<choiceBits // offsets have 32 bits
	if g.choiceN > most || g.kidN > most || g.used > most {
		return false
	}
	need := 0
	if g.used>>nodeBits >= uint32(len(g.nodes)) {
		need += nodeBytes
	}
	if (g.choiceN+2*maxMoves)>>choiceBits >= uint32(len(g.choices)) {
		need += choiceBytes
	}
	if (g.kidN+2*maxMoves)>>kidBits >= uint32(len(g.kids)) {
		need += kidBytes
	}
	if g.tableFull() {
		need += 4 * g.nextTable()
	}
	return g.bytes+need <= g.limit
}

// add makes a node with the given key and number of legal moves and enters it in
// the table. There must be room. Its choices have to be filled in.
func (g *graph) add(key uint64, count int) nodeID {
	id := g.used
	if id>>nodeBits == uint32(len(g.nodes)) {
		g.nodes = append(g.nodes, new([1 << nodeBits]node))
		g.bytes += nodeBytes
	}
	g.used++
	*g.node(id) = node{key: key, choices: g.addChoices(uint32(count)), count: uint16(count)}
	if g.tableFull() {
		g.bytes += 4 * (g.nextTable() - len(g.table))
		g.table = make([]nodeID, g.nextTable())
		g.fillTable()
	} else {
		g.enter(id)
	}
	return id
}

func (g *graph) addChoices(count uint32) uint32 {
	at := fit(g.choiceN, count, choiceBits)
	g.choiceN = at + count
	for (g.choiceN-1)>>choiceBits >= uint32(len(g.choices)) && count > 0 {
		g.choices = append(g.choices, new([1 << choiceBits]choice))
		g.bytes += choiceBytes
	}
	return at
}

// fit returns where a run of count may begin, from at on, so that it lies in one
// chunk.
func fit(at, count uint32, chunkBits int) uint32 {
	if count > 0 && at>>chunkBits != (at+count-1)>>chunkBits {
		return (at>>chunkBits + 1) << chunkBits
	}
	return at
}

// show makes the first shown moves of the node kids.
func (g *graph) show(id nodeID, shown int) {
	n := g.node(id)
	if shown > int(n.room) {
		class := bits.Len(uint(max(shown, leastRoom) - 1))
		at := g.addKids(id, class)
		copy(g.kidRun(at, n.shown), g.kidsOf(n))
		old := n.shown
		g.freeKids(n)
		n.kids, n.room, n.shown = at, 1<<class, old
	}
	clear(g.kidRun(n.kids, uint16(shown))[n.shown:])
	order(g.choicesOf(n), int(n.shown)+1, shown)
	n.shown = uint16(shown)
}

// addKids returns where there is room for 1<<class kids of a node.
func (g *graph) addKids(owner nodeID, class int) uint32 {
	if at := g.free[class]; at != 0 {
		g.free[class] = g.kidRun(at, 1)[0].node
		g.header(at).node = owner
		return at
	}
	length := uint32(1)<<class + 1
	at := fit(g.kidN, length, kidBits)
	for (at+length-1)>>kidBits >= uint32(len(g.kids)) {
		g.kids = append(g.kids, new([1 << kidBits]kid))
		g.bytes += kidBytes
	}
	if gap := at - g.kidN; gap > 0 {
		*g.header(g.kidN + 1) = kid{visits: gap}
	}
	g.kidN = at + length
	*g.header(at + 1) = kid{node: owner, visits: length}
	return at + 1
}

// header returns the header of the run of kids that begins at at.
func (g *graph) header(at uint32) *kid {
	return &g.kids[(at-1)>>kidBits][(at-1)&(1<<kidBits-1)]
}

// freeKids takes the kids of n away.
func (g *graph) freeKids(n *node) {
	if n.room == 0 {
		return
	}
	class := bits.Len16(n.room) - 1
	g.header(n.kids).node = noNode
	g.kidRun(n.kids, 1)[0].node = g.free[class]
	g.free[class] = n.kids
	n.kids, n.room, n.shown = 0, 0, 0
}

// leastTable is the size of the table of an empty graph.
const leastTable = 256

// tableFull reports whether another node asks for a larger table.
func (g *graph) tableFull() bool { return 2*(int(g.used)+1) > len(g.table) }

func (g *graph) nextTable() int { return max(leastTable, 2*len(g.table)) }

// lookup returns the node with the key, noNode if there is none.
func (g *graph) lookup(key uint64) nodeID {
	if len(g.table) == 0 {
		return noNode
	}
	mask := uint64(len(g.table) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		id := g.table[i]
		if id == noNode || g.node(id).key == key {
			return id
		}
	}
}

func (g *graph) enter(id nodeID) {
	mask := uint64(len(g.table) - 1)
	i := g.node(id).key & mask
	for g.table[i] != noNode {
		i = (i + 1) & mask
	}
	g.table[i] = id
}

// fillTable enters all nodes in the table, which is empty.
func (g *graph) fillTable() {
	for id := firstNode; id < g.used; id++ {
		g.enter(id)
	}
}

// hashfull returns the share of the limit that is in use, per mille.
func (g *graph) hashfull() int {
	return min(1000, g.inUse()*1000/g.limit)
}

// inUse returns the bytes that nodes stand in.
func (g *graph) inUse() int {
	return int(g.used)*(nodeBytes>>nodeBits) + int(g.choiceN)*4 + int(g.kidN)*12 + len(g.table)*4
}
