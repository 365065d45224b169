package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// transform computes every item's accumulator and PSQT sums.
func (c *core) transform(items int) {
	b := &c.batch
	stride := c.stride()
	start := make([]float32, stride)
	copy(start, c.layout.bias(c.used))
	b.sums = grow(b.sums, items*stride)
	parallel.Do(c.workers, shardCount, func(_, k int) {
		s := &b.shards[k]
		for r := s.lo; r < s.hi; r++ {
			sum := b.sums[int(b.items[r])*stride:][:stride:stride]
			kernel.FloatGatherSum(sum, start, b.weight, stride, s.slotsOf(r))
		}
	})
}

// slotsOf are the slots of items[r].
func (s *shard) slotsOf(r int) []int32 { return s.slots[s.start[r-s.lo]:s.start[r-s.lo+1]] }

// backFloats is how many derivatives the transformer goes back through at a time:
// they stay in the second-level cache while they are added up row by row.
const backFloats = 1 << 17

// transformBack sums the derivatives of the items, which lie where their sums
// were, into gradients: in every shard one per row and one of the bias.
func (c *core) transformBack() {
	b := &c.batch
	stride := c.stride()
	most := max(1, backFloats/stride) // items at a time
	zeros := make([]float32, stride)
	parallel.Do(c.workers, shardCount, func(_, k int) {
		s := &b.shards[k]
		c.listSlots(s)
		s.grad = grow(s.grad, len(s.mine)*stride)
		clear(s.bias)
		n := s.hi - s.lo
		blocks := (n + most - 1) / most
		for i := range blocks {
			lo, hi := s.lo+n*i/blocks, s.lo+n*(i+1)/blocks
			b.transpose(s, lo, hi)
			// This comes first as it brings the derivatives to the cache in order.
			kernel.FloatGatherSum(s.bias, s.bias, b.sums, stride, b.items[lo:hi])
			for i, place := range s.used {
				sum := s.grad[int(place)*stride:][:stride:stride]
				before := sum
				if !s.begun[place] {
					s.begun[place] = true
					before = zeros
				}
				kernel.FloatGatherSum(sum, before, b.sums, stride, s.uses[s.usesAt[i]:s.usesAt[i+1]])
			}
		}
	})
}

// transpose lists for the items[lo:hi] of a shard which rows they use, and for
// each row the items that use it, in order.
func (b *batch) transpose(s *shard, lo, hi int) {
	next := s.next
	slots := s.slots[s.start[lo-s.lo]:s.start[hi-s.lo]]
	for _, slot := range slots {
		next[slot]++
	}
	s.used, s.usesAt = s.used[:0], s.usesAt[:0]
	at := int32(0)
	for place, slot := range s.mine {
		if n := next[slot]; n > 0 {
			s.used, s.usesAt = append(s.used, int32(place)), append(s.usesAt, at)
			next[slot] = at
			at += n
		}
	}
	s.usesAt = append(s.usesAt, at)
	s.uses = grow(s.uses, len(slots))
	uses := s.uses
	for r, item := range b.items[lo:hi] {
		for _, slot := range s.slotsOf(lo + r) {
			at := next[slot]
			uses[at] = item
			next[slot] = at + 1
		}
	}
	for _, place := range s.used {
		next[s.mine[place]] = 0
	}
}

// sumRows adds up the shards' gradients and hands those of the slots and of the
// virtual rows over to the optimiser.
func (c *core) sumRows() {
	b := &c.batch
	parallel.Blocks(c.workers, len(b.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			var sum []float32
			for k := range b.shards {
				part := b.shards[k].row(slot, c.stride())
				if sum == nil {
					sum = part
				} else if part != nil {
					kernel.FloatAdd(sum, part)
				}
			}
		}
	})
	c.sumVirtual()
	bias := c.layout.bias(c.gradD)
	clear(bias)
	for k := range b.shards {
		kernel.FloatAdd(bias, b.shards[k].bias)
	}
}

// row is the shard's gradient of a slot, nil if the slot does not occur in it.
func (s *shard) row(slot, stride int) []float32 {
	place := int(s.place[slot])
	if place < 0 || !s.begun[place] {
		return nil
	}
	return s.grad[place*stride:][:stride:stride]
}

// gradient is the gradient of a slot summed over the batch, nil if the slot does
// not occur. It lies in the first shard in which it does.
func (c *core) gradient(slot int) []float32 {
	for k := range c.batch.shards {
		if sum := c.batch.shards[k].row(slot, c.stride()); sum != nil {
			return sum
		}
	}
	return nil
}

// sumVirtual adds up the gradients of the rows that share a virtual row.
func (c *core) sumVirtual() {
	if c.virtual == 0 {
		return
	}
	b, stride := &c.batch, c.stride()
	// Slots by virtual row: those of row v are order[next[v−1]:next[v]] at the
	// end, which is after the loop that fills them in.
	next := make([]int32, c.virtual+1)
	for _, f := range b.feats {
		next[c.toVirtual[f]+1]++
	}
	for v := range c.virtual {
		next[v+1] += next[v]
	}
	order := make([]int32, len(b.feats))
	for slot, f := range b.feats {
		v := c.toVirtual[f]
		order[next[v]] = int32(slot)
		next[v]++
	}
	parallel.Blocks(c.workers, c.virtual, rowBlock, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			sum := c.gradV[v*stride : (v+1)*stride]
			clear(sum)
			first := int32(0)
			if v > 0 {
				first = next[v-1]
			}
			for _, slot := range order[first:next[v]] {
				if g := c.gradient(int(slot)); g != nil {
					kernel.FloatAdd(sum, g)
				}
			}
		}
	})
}
