package nnue

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

const (
	// firstPlies is the depth an Accumulator has room for at first; it grows.
	firstPlies = 160
	// maxDifference is the most features that can differ between two positions
	// of a variant: every square and every step of both hands.
	maxDifference = 64 + 160
	// largestCentipawns bounds what Evaluate returns.
	largestCentipawns = 20000
	// rawPerPawn is how many raw units Fairy-Stockfish shows as one pawn.
	rawPerPawn = 208
)

// Accumulator evaluates the positions of a search by keeping the transformer's
// sums up to date along the moves made. A search calls Reset with its root,
// Push before each move it makes, Pop when it takes it back, and Evaluate where
// it needs a value. Push only notes what the move changes; Evaluate brings the
// sums up to date from the nearest ancestor that has them. After a move of a
// king its perspective starts from a cache, per king square, of the last
// position collected there.
//
// The results equal Network.Evaluate exactly. No method allocates except Push
// beyond the greatest depth so far. An Accumulator serves one goroutine; many
// may share the Network.
type Accumulator struct {
	net    *Network
	layers []layers
	width  int // lanes of an accumulator
	stacks int // columns of the piece-square sums

	plies []ply
	top   int     // index of the current position's ply
	sums  []int16 // [ply][perspective][width]
	psqt  []int32 // [ply][perspective][stacks]

	snapshots [2][64]chess.Position // [perspective][square of its king]
	cacheSums []int16               // [perspective][square][width], the sums of snapshots
	cachePSQT []int32               // [perspective][square][stacks]

	// Scratch of one evaluation.
	added, removed []int32
	active         []kernel.Active
	sum1, sum2     []int32
}

// ply is one position on the path from the root.
type ply struct {
	change features.Change // from the ply before
	ready  [2]bool         // by perspective: sums are up to date
}

// NewAccumulator returns an evaluator for a network, which must not change
// from now on.
func NewAccumulator(n *Network) *Accumulator {
	a := n.arch
	acc := &Accumulator{
		net: n, layers: n.pack(), width: a.Width, stacks: a.Stacks,
		cacheSums: make([]int16, 0, 2*64*a.Width),
		cachePSQT: make([]int32, 2*64*a.Stacks),
		added:     make([]int32, 0, maxDifference),
		removed:   make([]int32, 0, maxDifference),
		active:    make([]kernel.Active, max(2*a.Width, a.L2)),
		sum1:      make([]int32, a.L2),
		sum2:      make([]int32, a.L3),
	}
	for range 2 * 64 { // an empty board has the biases alone
		acc.cacheSums = append(acc.cacheSums, n.FTBias...)
	}
	acc.grow(firstPlies)
	return acc
}

// grow makes room for a number of plies.
func (a *Accumulator) grow(plies int) {
	a.plies = append(a.plies, make([]ply, plies-len(a.plies))...)
	a.sums = append(a.sums, make([]int16, plies*2*a.width-len(a.sums))...)
	a.psqt = append(a.psqt, make([]int32, plies*2*a.stacks-len(a.psqt))...)
}

// Reset makes p the root. It must be of the network's variant.
func (a *Accumulator) Reset(p *chess.Position) {
	a.top = 0
	a.plies[0] = ply{}
	a.update(p, chess.White)
	a.update(p, chess.Black)
}

// Push notes the legal move m about to be made in p, the current position;
// chess.NoMove is a null move.
func (a *Accumulator) Push(p *chess.Position, m chess.Move) {
	a.top++
	if a.top == len(a.plies) {
		a.grow(2 * a.top)
	}
	a.plies[a.top] = ply{change: features.Changed(p, m)}
}

// Pop returns to the position before the last Push.
func (a *Accumulator) Pop() {
	if a.top == 0 {
		panic("nnue: Pop without Push")
	}
	a.top--
}

// Evaluate returns the network's value of p, the current position, in
// centipawns from the side to move's point of view, within ±20000.
func (a *Accumulator) Evaluate(p *chess.Position) int {
	cp := a.Raw(p) * 100 / rawPerPawn
	return min(max(cp, -largestCentipawns), largestCentipawns)
}

// Raw returns the network's value of p, the current position: Eval.Raw.
func (a *Accumulator) Raw(p *chess.Position) int {
	a.update(p, chess.White)
	a.update(p, chess.Black)
	us := p.SideToMove()
	them := us.Other()
	sums, psqt := a.at(a.top, us)
	sumsThem, psqtThem := a.at(a.top, them)
	bucket := a.net.arch.Bucket(p)
	material := int(psqt[bucket]-psqtThem[bucket]) / 2
	return (material + a.forward(&a.layers[bucket], sums, sumsThem)) / outputScale
}

// forward runs a stack on both accumulators, the side to move's first.
func (a *Accumulator) forward(l *layers, us, them []int16) int {
	n := kernel.AppendActive16(a.active, us, 0)
	n += kernel.AppendActive16(a.active[n:], them, a.width)
	l.l1.Mul(a.sum1, l.stack.L1Bias, a.active[:n])
	n = kernel.AppendActive32(a.active, a.sum1)
	l.l2.Mul(a.sum2, l.stack.L2Bias, a.active[:n])
	return int(l.stack.OutBias + kernel.Dot(a.sum2, l.out))
}

// at returns the sums of a ply from a perspective.
func (a *Accumulator) at(ply int, c chess.Color) (sums []int16, psqt []int32) {
	i := 2*ply + int(c)
	return a.sums[i*a.width:][:a.width], a.psqt[i*a.stacks:][:a.stacks]
}

// update brings the current ply's sums for a perspective up to date.
func (a *Accumulator) update(p *chess.Position, c chess.Color) {
	i := a.top
	for !a.plies[i].ready[c] {
		if i == 0 || a.plies[i].change.Refresh(c) {
			a.refresh(p, c)
			return
		}
		i--
	}
	king := p.King(c) // has not moved since ply i
	for i++; i <= a.top; i++ {
		a.step(i, c, king)
	}
}

// step computes the sums of ply i from those of the ply before.
func (a *Accumulator) step(i int, c chess.Color, king chess.Square) {
	added, removed := a.net.set.Append(&a.plies[i].change, c, king, a.added[:0], a.removed[:0])
	src, srcPSQT := a.at(i-1, c)
	dst, dstPSQT := a.at(i, c)
	kernel.ApplyRows(dst, src, a.net.FTWeights, added, removed)
	kernel.ApplyRows(dstPSQT, srcPSQT, a.net.PSQT, added, removed)
	a.plies[i].ready[c] = true
}

// refresh computes the current ply's sums from the cache.
func (a *Accumulator) refresh(p *chess.Position, c chess.Color) {
	king := p.King(c)
	added, removed := a.net.set.Difference(&a.snapshots[c][king], p, c, a.added[:0], a.removed[:0])
	a.snapshots[c][king] = *p
	i := 64*int(c) + int(king)
	sums, psqt := a.cacheSums[i*a.width:][:a.width], a.cachePSQT[i*a.stacks:][:a.stacks]
	kernel.ApplyRows(sums, sums, a.net.FTWeights, added, removed)
	kernel.ApplyRows(psqt, psqt, a.net.PSQT, added, removed)
	dst, dstPSQT := a.at(a.top, c)
	copy(dst, sums)
	copy(dstPSQT, psqt)
	a.plies[a.top].ready[c] = true
}
