package nnue

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/invariants"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/search"
)

const (
	// firstPlies is the depth an Accumulator has room for at first; it grows.
	firstPlies = 160
	// largestCentipawns bounds what Evaluate returns.
	largestCentipawns = 20000
)

// Accumulator evaluates the positions of a search by keeping the transformer's
// sums up to date along the moves made. A search calls Reset with its root,
// Push before each move it makes, Pop when it takes it back, and Evaluate where
// it needs a value. Push only notes what the move changes; Evaluate brings the
// sums up to date from the nearest ancestor that has them. Where a move of the
// own king changes all features of a perspective, its sums start from a cache,
// per king square, of the last position collected there. A null move changes
// no sums and takes none.
//
// The results equal Network.Evaluate exactly. No method allocates except Push
// beyond the greatest depth so far. An Accumulator serves one goroutine; many
// may share the Network, of which it copies nothing.
type Accumulator struct {
	net    *Network
	layers []layers
	linear features.Linear // the feature set, or nil if it is not linear
	table  *features.Table // the same, or nil if it has none

	anchored bool // a move of the own king changes all features
	keeps    bool // positions are kept along the path

	plies     []ply
	positions []chess.Position // by ply, if kept: where a move was made there
	top       int              // index of the current position's ply

	cache [2][]entry // by perspective and anchor

	// Scratch of one evaluation.
	added, removed []int32
	transformed    []uint8
	sums           []int32
}

// ply is one position on the path from the root, and the same with the other
// side to move where null moves lead to it.
type ply struct {
	change features.Change // from the ply before
	nulls  int32           // null moves made here and not taken back
	ready  [2]bool         // by perspective: its row is up to date
	rows   [2]kernel.Row   // by perspective
}

// entry is a position with its sums.
type entry struct {
	row kernel.Row
	pos chess.Position
}

// NewAccumulator returns an evaluator for a network, which must not change
// from now on.
func NewAccumulator(n *Network) *Accumulator {
	room := features.Room(n.set)
	a := &Accumulator{
		net: n, layers: n.pack(),
		anchored: n.set.Anchors() > 1,
		added:    make([]int32, 0, room),
		removed:  make([]int32, 0, room),
	}
	if a.linear, _ = n.set.(features.Linear); a.linear != nil {
		a.table = features.NewTable(a.linear)
	}
	a.keeps = a.linear == nil || invariants.Enabled
	first := a.layers[0].first // all stacks have equal sizes
	a.transformed = make([]uint8, first.PaddedInputs())
	a.sums = make([]int32, first.PaddedOutputs())
	for c := range a.cache {
		a.cache[c] = make([]entry, n.set.Anchors())
		for i, row := range n.rows.Blank(n.set.Anchors()) {
			copy(row.Lanes(), n.FTBias) // nothing is active in the zero position
			a.cache[c][i].row = row
		}
	}
	a.grow(firstPlies)
	return a
}

// grow makes room for a number of plies.
func (a *Accumulator) grow(plies int) {
	more := plies - len(a.plies)
	rows := a.net.rows.Blank(2 * more)
	for i := range more {
		a.plies = append(a.plies, ply{rows: [2]kernel.Row(rows[2*i:])})
	}
	if a.keeps {
		a.positions = append(a.positions, make([]chess.Position, more)...)
	}
}

// Reset makes p the root. It must be of the network's variant.
func (a *Accumulator) Reset(p *chess.Position) {
	a.top = 0
	a.plies[0].begin(features.Change{})
	a.update(p, chess.White)
	a.update(p, chess.Black)
}

// begin makes t the ply that a change leads to.
func (t *ply) begin(c features.Change) { t.change, t.nulls, t.ready = c, 0, [2]bool{} }

// Push notes the legal move m about to be made in p, the current position;
// chess.NoMove is a null move.
func (a *Accumulator) Push(p *chess.Position, m chess.Move) {
	if m == chess.NoMove {
		a.plies[a.top].nulls++
		return
	}
	if a.keeps {
		a.positions[a.top] = *p
	}
	a.top++
	if a.top == len(a.plies) {
		a.grow(2 * a.top)
	}
	a.plies[a.top].begin(features.Changed(p, m))
}

// Pop returns to the position before the last Push.
func (a *Accumulator) Pop() {
	if t := &a.plies[a.top]; t.nulls > 0 {
		t.nulls--
		return
	}
	if a.top == 0 {
		panic("nnue: Pop without Push")
	}
	a.top--
}

// Evaluate returns the network's value of p, the current position, in
// centipawns from the side to move's point of view, within ±20000.
func (a *Accumulator) Evaluate(p *chess.Position) int {
	cp := a.Raw(p) * search.CentipawnsPerPawn / search.RawPerPawn
	return min(max(cp, -largestCentipawns), largestCentipawns)
}

// Raw returns the network's value of p, the current position: Eval.Raw.
func (a *Accumulator) Raw(p *chess.Position) int {
	a.update(p, chess.White)
	a.update(p, chess.Black)
	arch := &a.net.arch
	raw := a.forward(&a.plies[a.top].rows, p.SideToMove(), arch.Buckets.choose(p, arch.Stacks))
	if invariants.Enabled {
		a.checkRaw(p, raw)
	}
	return raw
}

// forward returns the raw value for the sums of both perspectives, with us to
// move.
func (a *Accumulator) forward(rows *[2]kernel.Row, us chess.Color, bucket int) int {
	arch := &a.net.arch
	own, other := rows[us], rows[us.Other()]
	l, inputs := &a.layers[bucket], a.transformed[:arch.Inputs()]
	var value int
	switch arch.Activation {
	case SCReLU:
		kernel.TransformSquare(inputs, own.Lanes(), other.Lanes())
		value = l.eval(a)
	case Pairwise:
		kernel.TransformPairs(inputs, own.Lanes(), other.Lanes())
		value = l.eval(a)
	default:
		value = int(l.tail.EvalAccumulators(l.first, own.Lanes(), other.Lanes(), a.transformed, a.sums))
	}
	if arch.PSQT != 0 {
		value += int(own.Sums()[bucket]-other.Sums()[bucket]) / 2
	}
	return value / arch.OutputScale
}

// eval returns the output for the inputs in a.
func (l *layers) eval(a *Accumulator) int {
	l.first.Mul(a.sums, a.transformed)
	return int(l.tail.Eval(a.sums))
}

// update brings the current ply's sums for a perspective up to date.
func (a *Accumulator) update(p *chess.Position, c chess.Color) {
	i := a.top
	for !a.plies[i].ready[c] {
		if i == 0 || a.anchored && a.plies[i].change.Refresh(c) {
			a.refresh(p, c)
			return
		}
		i--
	}
	// Ply by ply, though all changes could be summed at once: the plies between
	// have other children, which will be asked for next.
	for i++; i <= a.top; i++ {
		a.step(i, p, c)
	}
}

// step computes the sums of ply i from those of the ply before; p is the
// current position. The own king has not moved between ply i and p if the set
// has anchors.
func (a *Accumulator) step(i int, p *chess.Position, c chess.Color) {
	before, t := &a.plies[i-1], &a.plies[i]
	var parent *chess.Position
	child := p
	if a.keeps {
		parent, child = &a.positions[i-1], a.at(i, p)
	}
	added, removed := a.changes(&t.change, parent, child, c)
	a.net.rows.Apply(t.rows[c], before.rows[c], added, removed)
	t.ready[c] = true
	if invariants.Enabled {
		a.checkRow(t.rows[c], child, c)
	}
}

// changes returns what is switched on and off for a perspective between two positions
// one move apart, in scratch slices. A linear set looks at p alone, which may be any
// position with the own king of that perspective in its place.
func (a *Accumulator) changes(change *features.Change, parent, p *chess.Position, c chess.Color) (added, removed []int32) {
	if a.table != nil {
		return a.table.Append(change, c, p.King(c), a.added[:0], a.removed[:0])
	}
	if a.linear != nil {
		return a.linear.Append(change, c, p.King(c), a.added[:0], a.removed[:0])
	}
	return features.Step(a.net.set, change, parent, p, c, a.added[:0], a.removed[:0])
}

// at returns the position of ply i; p is the current one.
func (a *Accumulator) at(i int, p *chess.Position) *chess.Position {
	if i == a.top {
		return p
	}
	return &a.positions[i]
}

// refresh computes the current ply's sums from the cache.
func (a *Accumulator) refresh(p *chess.Position, c chess.Color) {
	e := &a.cache[c][a.net.set.Anchor(p, c)]
	added, removed := a.net.set.Difference(&e.pos, p, c, a.added[:0], a.removed[:0])
	a.net.rows.Apply(e.row, e.row, added, removed)
	a.added, a.removed = added, removed // grown where there are more pieces than in a game
	e.pos = *p
	t := &a.plies[a.top]
	t.rows[c].Copy(e.row)
	t.ready[c] = true
	if invariants.Enabled {
		a.checkRow(t.rows[c], p, c)
	}
}
