package nnuefit

import "github.com/crazyhouse-rl/selfplay/kernel"

// transform computes every item's accumulator and PSQT sums.
func (c *core) transform(items int) {
	b := &c.batch
	stride := c.stride()
	bias := c.layout.bias(c.dense.w)
	b.sums = grow(b.sums, items*stride)
	parallel(c.workers, shardCount, func(k int) {
		s := &b.shards[k]
		for r := s.lo; r < s.hi; r++ {
			sum := b.sums[int(b.items[r])*stride:][:stride:stride]
			clear(sum[copy(sum, bias):])
			kernel.FloatGatherSum(sum, b.weight, stride, b.slots[b.start[r]:b.start[r+1]])
		}
	})
}

// transformBack sums the derivatives of the items, which lie where their sums
// were, into gradients: in every shard one per row and one of the bias.
func (c *core) transformBack() {
	b := &c.batch
	stride := c.stride()
	parallel(c.workers, shardCount, func(k int) {
		s := &b.shards[k]
		b.listSlots(s)
		s.grad = grow(s.grad, len(s.mine)*stride)
		clear(s.grad)
		clear(s.bias)
		places := make([]int32, 0, 64)
		for r := s.lo; r < s.hi; r++ {
			d := b.sums[int(b.items[r])*stride:][:stride:stride]
			places = places[:0]
			for _, slot := range b.slots[b.start[r]:b.start[r+1]] {
				places = append(places, s.place[slot])
			}
			kernel.FloatScatterAdd(s.grad, d, stride, places)
			kernel.FloatAdd(s.bias, d[:c.width])
		}
	})
}

// sumRows adds up the shards' gradients and hands those of the slots and of the
// virtual rows over to the optimiser.
func (c *core) sumRows() {
	b := &c.batch
	blocks(c.workers, len(b.feats), rowBlock, func(lo, hi int) {
		for slot := lo; slot < hi; slot++ {
			sum := c.gradient(slot)
			found := false
			for k := range b.shards {
				s := &b.shards[k]
				if s.place[slot] < 0 {
					continue
				}
				if found {
					kernel.FloatAdd(sum, s.row(slot, c.stride()))
				}
				found = true
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

// row is the shard's gradient of a slot that occurs in it.
func (s *shard) row(slot, stride int) []float32 {
	return s.grad[int(s.place[slot])*stride:][:stride:stride]
}

// gradient is the gradient of a slot summed over the batch. It lies in the first
// shard in which the slot occurs.
func (c *core) gradient(slot int) []float32 {
	for k := range c.batch.shards {
		if s := &c.batch.shards[k]; s.place[slot] >= 0 {
			return s.row(slot, c.stride())
		}
	}
	panic("nnuefit: a slot without a use")
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
	blocks(c.workers, c.virtual, rowBlock, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			sum := c.gradV[v*stride : (v+1)*stride]
			clear(sum)
			first := int32(0)
			if v > 0 {
				first = next[v-1]
			}
			for _, slot := range order[first:next[v]] {
				kernel.FloatAdd(sum, c.gradient(int(slot)))
			}
		}
	})
}
