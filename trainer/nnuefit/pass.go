package nnuefit

import "github.com/crazyhouse-rl/selfplay/kernel"

// scratch holds one position's activations and their derivatives.
type scratch struct {
	acc, x, dx           []float32 // [2·width] accumulators own then other, clamped, derivative
	a1, h1, d1           []float32 // [l2] sums of layer 1, clamped, derivative
	a2, h2, d2           []float32 // [l3]
	active, on1, on2     []int32   // inputs above zero of layer 1, layer 2, output
	bufX, bufOn1, bufOn2 []int32
	dOut                 [1]float32
}

func newScratch(s *shape) scratch {
	in := s.inputs()
	return scratch{
		acc: make([]float32, in), x: make([]float32, in), dx: make([]float32, in),
		a1: make([]float32, s.l2), h1: make([]float32, s.l2), d1: make([]float32, s.l2),
		a2: make([]float32, s.l3), h2: make([]float32, s.l3), d2: make([]float32, s.l3),
		bufX: make([]int32, in), bufOn1: make([]int32, s.l2), bufOn2: make([]int32, s.l3),
	}
}

// remap turns the shard's features into slots and, for training, counts them.
func (c *core) remap(s *shard, count bool) {
	slotOf := c.gathered.slotOf
	for j, f := range s.feats {
		s.feats[j] = slotOf[f]
	}
	if count {
		s.fill = grow(s.fill, len(c.gathered.feats))
		clear(s.fill)
		for _, slot := range s.feats {
			s.fill[slot]++
		}
	}
}

// forward returns the net's output for position i, in units of 600 raw units,
// from the view of the side to move.
func (c *core) forward(s *shard, i int) float32 {
	g := &c.gathered
	w, row, b := c.width, c.row(), int(g.bucket[i])
	var sum [2]float32
	for side := range 2 {
		j := 2*(i-s.lo) + side
		slots := s.feats[s.start[j]:s.start[j+1]]
		acc := s.acc[side*w : (side+1)*w]
		copy(acc, c.layout.bias(c.dense.w))
		kernel.FloatGatherSum(acc, g.eff, row, slots)
		for _, slot := range slots {
			sum[side] += g.eff[int(slot)*row+w+b]
		}
	}
	s.active = kernel.FloatClampActive(s.x, s.acc, s.bufX)

	st := c.layout.stack(c.dense.w, b)
	copy(s.a1, st.b1)
	kernel.FloatAffine(s.a1, c.stackW1(b), s.x, s.active)
	s.on1 = kernel.FloatClampActive(s.h1, s.a1, s.bufOn1)
	copy(s.a2, st.b2)
	kernel.FloatAffine(s.a2, st.w2, s.h1, s.on1)
	s.on2 = kernel.FloatClampActive(s.h2, s.a2, s.bufOn2)
	out := st.b3[0]
	for _, k := range s.on2 {
		out += s.h2[k] * st.w3[k]
	}
	return out + (sum[0]-sum[1])/2
}

// backward takes the loss's derivative with respect to the output of the
// position that forward was just called for. It adds to the shard's dense
// gradient and leaves the items' derivatives for the transformer.
func (c *core) backward(s *shard, i int, d float32) {
	g := &c.gathered
	w, b := c.width, int(g.bucket[i])
	st, gr := c.layout.stack(c.dense.w, b), c.layout.stack(s.grad, b)

	s.dOut[0] = d
	gr.b3[0] += d
	kernel.FloatAffineBack(gr.w3, s.d2, st.w3, s.h2, s.dOut[:], s.on2)
	kernel.FloatAdd(gr.b2, s.d2)
	kernel.FloatAffineBack(gr.w2, s.d1, st.w2, s.h1, s.d2, s.on1)
	kernel.FloatAdd(gr.b1, s.d1)
	kernel.FloatAffineBack(gr.w1, s.dx, c.stackW1(b), s.x, s.d1, s.active)

	bias := c.layout.bias(s.grad)
	kernel.FloatAdd(bias, s.dx[:w])
	kernel.FloatAdd(bias, s.dx[w:])
	copy(g.delta[2*i*w:2*(i+1)*w], s.dx)
	g.psqt[2*i], g.psqt[2*i+1] = d/2, -d/2
}
