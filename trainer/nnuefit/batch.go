package nnuefit

import (
	"math/bits"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// shardCount is the fixed number of parts the work on a batch is cut into. Sums
// are formed inside a shard and then over the shards in order, so the result has
// the same bits whatever the number of workers.
const shardCount = 16

// rowBlock is how many transformer rows one parallel task handles.
const rowBlock = 64

// input is what the numeric core sees of a batch. The functions are called from
// several goroutines at once.
type input struct {
	n        int // positions
	examples int // what losses are means over: positions, or groups of them
	// features appends the active features of position i, seen by the side to
	// move (side 0) or its opponent (side 1), to dst.
	features func(i, side int, dst []int32) []int32
	anchor   func(i, side int) int // what these features have in common
	bucket   func(i int) int       // stack and PSQT column of position i
	// loss returns what position i adds to the loss, given the net's output, and
	// the derivative with respect to that. Evaluation does not call it.
	loss func(i int, output float64) (loss, derivative float64)
	// outputs, if not nil, gets all outputs before loss is called for any.
	outputs func(all []float32)
}

// An item is one perspective of one position. The transformer works through the
// items anchor by anchor, so that the rows it needs stay in the cache; the
// layers work through the positions stack by stack. Items are numbered in the
// order of the layers, in which their sums lie: item 2p is the position at place
// p seen by the side to move, item 2p+1 by the opponent.
type batch struct {
	items  []int32 // in the transformer's order: by anchor
	bucket []uint8 // [positions]
	chunks []chunk // in the layers' order

	// Every transformer row that occurs has a slot, or where rows are few every
	// row; slots ascend with the feature.
	feats  []int32   // [slots] feature
	slotOf []int32   // [features], valid for those that have slots
	weight []float32 // [slots][stride] as used in this batch: caught-up real row + virtual row

	// sums has per item the accumulator and the PSQT sums, and after the
	// backward pass the derivatives with respect to them.
	sums []float32 // [items][stride]

	listed [shardCount]listing
	shards [shardCount]shard
}

// listing is the features of a part of the positions, as they are asked for.
type listing struct {
	lo, hi int      // positions
	feats  []int32  // of item 2·lo, 2·lo+1 …
	start  []int32  // the features of item 2·lo+j are feats[start[j]:start[j+1]]
	anchor []int32  // [items]
	mark   []uint64 // bit set of the features that occur
}

// shard is a part of the transformer's work: some items in order.
type shard struct {
	lo, hi int       // items[lo:hi]
	slots  []int32   // of items[lo], items[lo+1] …
	start  []int32   // those of items[lo+j] are slots[start[j]:start[j+1]]
	mine   []int32   // the slots that occur, ascending; where rows are few all slots
	place  []int32   // [slots] index in mine; −1 if it is not there
	grad   []float32 // [mine][stride]
	bias   []float32 // [width] gradient

	// The transposed index of a few items: used[i] is an index in mine, used by
	// the items uses[usesAt[i]:usesAt[i+1]].
	used, uses, usesAt []int32
	next               []int32 // [slots] where to put the next use; zero between blocks
	begun              []bool  // [mine] the row's gradient has been written
}

// grow returns x with length n, reallocated when too small; contents are lost.
func grow[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/8)
	}
	return x[:n]
}

// prepare lists the batch's features and computes the weights used for it.
func (c *core) prepare(in *input) {
	c.list(in)
	c.assignSlots()
	c.orderItems(2 * in.n)
	c.cutShards(2 * in.n)
	c.cutChunks(in.n)
	c.gatherWeights()
	c.layerWeights()
}

// list collects every position's features.
func (c *core) list(in *input) {
	b := &c.batch
	b.bucket = grow(b.bucket, in.n)
	parallel.Do(c.workers, shardCount, func(_, k int) {
		l := &b.listed[k]
		l.lo, l.hi = in.n*k/shardCount, in.n*(k+1)/shardCount
		l.feats, l.start, l.anchor = l.feats[:0], append(l.start[:0], 0), l.anchor[:0]
		for i := l.lo; i < l.hi; i++ {
			b.bucket[i] = uint8(in.bucket(i))
			for side := range 2 {
				l.feats = in.features(i, side, l.feats)
				l.start = append(l.start, int32(len(l.feats)))
				l.anchor = append(l.anchor, int32(in.anchor(i, side)))
			}
		}
		if !c.allSlots {
			clear(l.mark)
			for _, f := range l.feats {
				l.mark[f>>6] |= 1 << (f & 63)
			}
		}
	})
}

// fewFeatures is up to how many features all have slots, numbered as they are.
const fewFeatures = 2048

// assignSlots gives the features of the batch, or all there are, their slots.
func (c *core) assignSlots() {
	b := &c.batch
	if c.allSlots {
		if len(b.feats) == 0 {
			for f := range c.features {
				b.slotOf[f], b.feats = int32(f), append(b.feats, int32(f))
			}
		}
		return
	}
	b.feats = b.feats[:0]
	for word := range b.listed[0].mark {
		var union uint64
		for k := range b.listed {
			union |= b.listed[k].mark[word]
		}
		for ; union != 0; union &= union - 1 {
			f := word<<6 + bits.TrailingZeros64(union)
			b.slotOf[f] = int32(len(b.feats))
			b.feats = append(b.feats, int32(f))
		}
	}
}

// orderItems sorts the items by anchor. They are numbered in the order of the
// positions here and in cutShards.
func (c *core) orderItems(n int) {
	b := &c.batch
	next := make([]int32, c.anchors+1)
	for k := range b.listed {
		for _, a := range b.listed[k].anchor {
			next[a+1]++
		}
	}
	for a := range c.anchors {
		next[a+1] += next[a]
	}
	b.items = grow(b.items, n)
	for k := range b.listed {
		l := &b.listed[k]
		for j, a := range l.anchor {
			b.items[next[a]] = int32(2*l.lo + j)
			next[a]++
		}
	}
}

// cutShards cuts the items into shards and lists their slots. Without anchors these
// are the parts that features were listed in, and few features are slots already.
func (c *core) cutShards(n int) {
	b := &c.batch
	parallel.Do(c.workers, shardCount, func(_, k int) {
		s, l := &b.shards[k], &b.listed[k]
		if c.anchors == 1 {
			s.lo, s.hi = 2*l.lo, 2*l.hi
			s.slots, s.start = l.feats, l.start
		} else {
			s.lo, s.hi = n*k/shardCount, n*(k+1)/shardCount
			s.slots, s.start = s.slots[:0], append(s.start[:0], 0)
			for _, item := range b.items[s.lo:s.hi] {
				s.slots = append(s.slots, b.features(int(item))...)
				s.start = append(s.start, int32(len(s.slots)))
			}
		}
		if !c.allSlots {
			for i, f := range s.slots {
				s.slots[i] = b.slotOf[f]
			}
		}
	})
}

// features returns the features of an item.
func (b *batch) features(item int) []int32 {
	n := len(b.bucket)
	k := item / 2 * shardCount / n // or one before: positions are cut at rounded places
	for item >= 2*b.listed[k].hi {
		k++
	}
	l := &b.listed[k]
	j := item - 2*l.lo
	return l.feats[l.start[j]:l.start[j+1]]
}

// gatherWeights computes the transformer's weights used in this batch.
func (c *core) gatherWeights() {
	b := &c.batch
	row, stride := c.row(), c.stride()
	b.weight = grow(b.weight, len(b.feats)*stride)
	parallel.Blocks(c.workers, len(b.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			f := int(b.feats[slot])
			dst := b.weight[slot*stride:][:row:row]
			c.rows.peek(dst, f, &c.idle, c.optimiser.step)
			if c.virtual > 0 {
				kernel.FloatAdd(dst, c.virtualRows.row(int(c.toVirtual[f])).w)
			}
			c.quantiseRow(dst)
		}
	})
}

// listSlots finds the slots that occur in a shard.
func (c *core) listSlots(s *shard) {
	n := len(c.batch.feats)
	s.place, s.next = grow(s.place, n), grow(s.next, n)
	s.mine = s.mine[:0]
	if c.allSlots {
		for slot := range s.place {
			s.place[slot] = int32(slot)
			s.mine = append(s.mine, int32(slot))
		}
	} else {
		clear(s.place)
		for _, slot := range s.slots {
			s.place[slot] = 1
		}
		for slot, occurs := range s.place {
			if occurs == 0 {
				s.place[slot] = -1
				continue
			}
			s.place[slot] = int32(len(s.mine))
			s.mine = append(s.mine, int32(slot))
		}
	}
	s.begun = grow(s.begun, len(s.mine))
	clear(s.next)
	clear(s.begun)
}

// chunk is a few positions of one stack, which the layers take at a time.
type chunk struct {
	bucket    int
	first     int     // place of the first, in the layers' order
	positions []int32 // place by place
}

// chunkSize is the most positions of a chunk: their activations stay in the
// second-level cache.
const chunkSize = 64

// cutChunks sorts the positions by stack, cuts them into chunks and numbers the
// items in that order.
func (c *core) cutChunks(n int) {
	b := &c.batch
	var next [257]int
	for _, k := range b.bucket {
		next[int(k)+1]++
	}
	for k := range c.stacks {
		next[k+1] += next[k]
	}
	order, place := make([]int32, n), make([]int32, n)
	for i, k := range b.bucket {
		order[next[k]] = int32(i)
		place[i] = int32(next[k])
		next[k]++
	}
	b.chunks = b.chunks[:0]
	first := 0
	for k := range c.stacks { // next[k] is now the end of stack k
		for positions := range slices.Chunk(order[first:next[k]], chunkSize) {
			b.chunks = append(b.chunks, chunk{k, first, positions})
			first += len(positions)
		}
	}
	for r, item := range b.items {
		b.items[r] = 2*place[item/2] + item&1
	}
}
