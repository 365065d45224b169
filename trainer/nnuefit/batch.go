package nnuefit

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// shardCount is the fixed number of parts a batch is cut into. Sums over
// positions are formed inside a shard and then over the shards in order, so the
// result has the same bits whatever the number of workers.
const shardCount = 16

// rowBlock is how many transformer rows one parallel task handles.
const rowBlock = 64

// input is what the numeric core sees of a batch. The functions are called from
// several goroutines at once.
type input struct {
	n int // positions
	// features appends the active features of position i, seen by the side to
	// move (side 0) or its opponent (side 1), to dst.
	features func(i, side int, dst []int32) []int32
	bucket   func(i int) int     // stack and PSQT column of position i
	target   func(i int) float64 // wanted win probability; not asked for in evaluation
}

// shard is one part of a batch with the buffers to work on it.
//
// An item is one perspective of one position: item 2i is position i seen by the
// side to move, item 2i+1 by the opponent.
type shard struct {
	lo, hi int      // positions of the batch
	feats  []int32  // active features of the shard's items, later their slots
	start  []int32  // start[j]..start[j+1] are the features of item 2·lo+j
	mark   []uint64 // bit set of the features that occur
	fill   []int32  // [slots] number of occurrences, then next free place in the transposed index
	grad   []float32
	loss   float64
	finite bool
	scratch
}

// gathered is the transformer's side of a batch: every row that occurs has a
// slot, slots ascend with the feature, and uses lists per slot the items in
// which it is active, in order: the transposed index.
type gathered struct {
	slotOf []int32   // [features], valid for the features that occur
	feats  []int32   // [slots] feature
	eff    []float32 // [slots][row] weights used in this batch: caught-up real row + virtual row
	grad   []float32 // [slots][row]

	usesAt []int32 // [slots+1]
	uses   []int32 // items
	// Virtual row r receives the gradients of the slots byVirtual[virtualAt[r]:virtualAt[r+1]].
	virtualAt []int32
	byVirtual []int32

	delta  []float32 // [items][width] derivative with respect to the accumulators
	psqt   []float32 // [items] derivative with respect to the item's PSQT sum
	bucket []uint8   // [positions]
}

// grow returns x with length n, reallocated when too small; contents are lost.
func grow[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/8)
	}
	return x[:n]
}

// collect cuts the batch into shards and lists every position's features.
func (c *core) collect(in *input) {
	c.gathered.bucket = grow(c.gathered.bucket, in.n)
	parallel(c.workers, shardCount, func(k int) {
		s := &c.shards[k]
		s.lo, s.hi = in.n*k/shardCount, in.n*(k+1)/shardCount
		s.feats, s.start = s.feats[:0], append(s.start[:0], 0)
		clear(s.mark)
		for i := s.lo; i < s.hi; i++ {
			c.gathered.bucket[i] = uint8(in.bucket(i))
			for side := range 2 {
				s.feats = in.features(i, side, s.feats)
				s.start = append(s.start, int32(len(s.feats)))
			}
		}
		for _, f := range s.feats {
			s.mark[f>>6] |= 1 << (f & 63)
		}
	})
}

// assignSlots gives every feature of the batch a slot and computes the weights
// used for it.
func (c *core) assignSlots() {
	g := &c.gathered
	g.feats = g.feats[:0]
	for word := range c.shards[0].mark {
		var union uint64
		for k := range c.shards {
			union |= c.shards[k].mark[word]
		}
		for ; union != 0; union &= union - 1 {
			f := word<<6 + bits.TrailingZeros64(union)
			g.slotOf[f] = int32(len(g.feats))
			g.feats = append(g.feats, int32(f))
		}
	}
	row := c.row()
	g.eff = grow(g.eff, len(g.feats)*row)
	blocks(c.workers, len(g.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			f := int(g.feats[slot])
			dst := g.eff[slot*row : (slot+1)*row]
			c.rows.peek(dst, f, &c.idle, c.adam.step)
			kernel.FloatAdd(dst, c.virtualRow(int(c.toVirtual[f])).w)
		}
	})
}

// transpose builds the lists of uses per slot from the shards' counts, and the
// lists of slots per virtual row.
func (c *core) transpose(items int) {
	g := &c.gathered
	slots := len(g.feats)
	g.usesAt = grow(g.usesAt, slots+1)
	at := int32(0)
	for slot := range slots {
		g.usesAt[slot] = at
		for k := range c.shards {
			n := c.shards[k].fill[slot]
			c.shards[k].fill[slot] = at
			at += n
		}
	}
	g.usesAt[slots] = at
	g.uses = grow(g.uses, int(at))
	parallel(c.workers, shardCount, func(k int) {
		s := &c.shards[k]
		for j := range 2 * (s.hi - s.lo) {
			for _, slot := range s.feats[s.start[j]:s.start[j+1]] {
				g.uses[s.fill[slot]] = int32(2*s.lo + j)
				s.fill[slot]++
			}
		}
	})

	g.virtualAt = grow(g.virtualAt, c.virtual+1)
	clear(g.virtualAt)
	for _, f := range g.feats {
		g.virtualAt[c.toVirtual[f]+1]++
	}
	for r := range c.virtual {
		g.virtualAt[r+1] += g.virtualAt[r]
	}
	g.byVirtual = grow(g.byVirtual, slots)
	next := append([]int32(nil), g.virtualAt...)
	for slot, f := range g.feats {
		r := c.toVirtual[f]
		g.byVirtual[next[r]] = int32(slot)
		next[r]++
	}
}
