package nnuefit

import (
	"math"
	"time"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// head is the work on the layers of a part of the chunks: its dense gradient
// and the activations of one chunk.
type head struct {
	grad    []float32 // as layout says, but for the transformer's bias; valid where touched
	touched []bool    // [stacks] stacks with a gradient
	loss    float64
	finite  bool

	x, dx      []float32 // [chunk][inputs+gap] transformer's outputs; derivative
	a1, h1, d1 []float32 // [chunk][l2] sums of layer 1, clipped; derivative
	a2, h2, d2 []float32 // [chunk][l3]
	out, dOut  []float32 // [chunk]
}

// inputGap keeps the rows of a chunk's inputs, often a large power of two long,
// from sharing few sets of the caches.
const inputGap = 16

func newHead(l *layout) head {
	in := (l.inputs() + inputGap) * chunkSize
	floats := func(n int) []float32 { return make([]float32, n) }
	return head{
		grad: floats(l.size), touched: make([]bool, l.stacks),
		x: floats(in), dx: floats(in),
		a1: floats(chunkSize * l.l2), h1: floats(chunkSize * l.l2), d1: floats(chunkSize * l.l2),
		a2: floats(chunkSize * l.l3), h2: floats(chunkSize * l.l3), d2: floats(chunkSize * l.l3),
		out: floats(chunkSize), dOut: floats(chunkSize),
	}
}

// layerWeights computes the layers' weights used in this batch.
func (c *core) layerWeights() {
	c.denseWeights()
	if c.l2 == 0 {
		return
	}
	copy(c.w1, c.layout.stacksW1(c.dense.w))
	for b := range c.stacks {
		w := c.stackW1(b)
		kernel.FloatAdd(w, c.layout.sharedW1(c.dense.w))
		c.quantise(w, c.scales.hidden)
		transpose(c.stackW1T(b), w, c.l2)
		transpose(c.stackW2T(b), c.layout.stack(c.used, b).w2, c.l3)
	}
}

// transpose writes to dst the columns of src, whose rows have n elements, as
// rows.
func transpose(dst, src []float32, n int) {
	for j := range n {
		for at := j; at < len(src); at += n {
			dst[0] = src[at]
			dst = dst[1:]
		}
	}
}

// stackW1 is layer 1 of stack b as used in this batch, [inputs][l2].
func (c *core) stackW1(b int) []float32 {
	n := c.inputs() * c.l2
	return c.w1[b*n : (b+1)*n]
}

// stackW1T is its transpose, [l2][inputs].
func (c *core) stackW1T(b int) []float32 {
	n := c.inputs() * c.l2
	return c.w1T[b*n : (b+1)*n]
}

// stackW2T is the transpose of layer 2 of stack b as used in this batch, [l3][l2].
func (c *core) stackW2T(b int) []float32 {
	n := c.l2 * c.l3
	return c.w2T[b*n : (b+1)*n]
}

// eachHead calls f for every chunk, on several goroutines; the chunks of one
// head come in order.
func (c *core) eachHead(begin func(*head), f func(*head, *chunk)) {
	chunks := c.batch.chunks
	parallel(c.workers, shardCount, func(k int) {
		h := &c.heads[k]
		begin(h)
		for i := len(chunks) * k / shardCount; i < len(chunks)*(k+1)/shardCount; i++ {
			f(h, &chunks[i])
		}
	})
}

// matrix is data as rows of n elements.
func matrix(data []float32, rows, n int) kernel.FloatMatrix {
	return kernel.NewFloatMatrix(data, rows, n)
}

// wide is the inputs of n positions, or their derivatives.
func (c *core) wide(data []float32, n int) kernel.FloatMatrix {
	return kernel.FloatMatrix{Data: data, Rows: n, Cols: c.inputs(), RowStride: c.inputs() + inputGap, ColStride: 1}
}

// forward computes the outputs of a chunk, in units of 1.0, seen by the side to
// move.
func (c *core) forward(h *head, ch *chunk) {
	n, stride, b := len(ch.positions), c.stride(), ch.bucket
	st := c.layout.stack(c.used, b)
	clip := kernel.FloatClip
	if c.square {
		clip = kernel.FloatSquareClip
	}
	for q, i := range ch.positions {
		own := c.batch.sums[2*int(i)*stride:][: 2*stride : 2*stride]
		other := own[stride:]
		x := h.x[q*(c.inputs()+inputGap):][:c.inputs()]
		clip(x[:c.width], own[:c.width])
		clip(x[c.width:], other[:c.width])
		if c.square {
			c.floor(x, c.scales.transformer)
		}
		h.out[q] = st.b3[0]
		if c.psqt > 0 {
			h.out[q] += (own[c.width+b] - other[c.width+b]) / 2
		}
	}
	last := c.wide(h.x, n)
	if c.l2 > 0 {
		spread(h.a1[:n*c.l2], st.b1)
		kernel.FloatGemm(matrix(h.a1, n, c.l2), last, matrix(c.stackW1(b), c.inputs(), c.l2))
		kernel.FloatClip(h.h1[:n*c.l2], h.a1[:n*c.l2])
		c.floor(h.h1[:n*c.l2], c.scales.hidden)
		last = matrix(h.h1, n, c.l2)
	}
	if c.l3 > 0 {
		spread(h.a2[:n*c.l3], st.b2)
		kernel.FloatGemm(matrix(h.a2, n, c.l3), last, matrix(st.w2, c.l2, c.l3))
		kernel.FloatClip(h.h2[:n*c.l3], h.a2[:n*c.l3])
		c.floor(h.h2[:n*c.l3], c.scales.hidden)
		last = matrix(h.h2, n, c.l3)
	}
	kernel.FloatGemm(matrix(h.out, n, 1), last, matrix(st.w3, c.last(), 1))
}

// spread fills dst with copies of row.
func spread(dst, row []float32) {
	for len(dst) > 0 {
		dst = dst[copy(dst, row):]
	}
}

// backward takes the loss's derivatives with respect to the outputs of the chunk
// that forward was just called for, in h.dOut. It adds to the head's gradient and
// replaces the items' sums by the derivatives with respect to them.
func (c *core) backward(h *head, ch *chunk) {
	n, stride, b := len(ch.positions), c.stride(), ch.bucket
	st, gr := c.layout.stack(c.used, b), c.layout.stack(h.grad, b)
	if !h.touched[b] {
		h.touched[b] = true
		gr.each(func(part []float32) { clear(part) })
	}
	dOut := matrix(h.dOut, n, 1)
	for _, d := range h.dOut[:n] {
		gr.b3[0] += d
	}
	x, dx := c.wide(h.x, n), c.wide(h.dx, n)
	clear(h.dx[:n*dx.RowStride])

	// product adds to gw the gradient of a layer's weights and to dIn the
	// derivative with respect to its inputs; wT is the weights' transpose.
	product := func(gw, dIn, in, d, wT kernel.FloatMatrix) {
		kernel.FloatGemm(gw, in.T(), d)
		kernel.FloatGemm(dIn, d, wT)
	}
	// through goes back through a layer's clipping and adds to its biases'
	// gradient.
	through := func(d, sums, gb []float32, size int) kernel.FloatMatrix {
		d = d[:n*size]
		kernel.FloatClipBack(d, sums[:n*size], d)
		for at := 0; at < len(d); at += size {
			kernel.FloatAdd(gb, d[at:at+size])
		}
		return matrix(d, n, size)
	}
	w3T := matrix(st.w3, 1, c.last())
	gw3 := matrix(gr.w3, c.last(), 1)
	switch {
	case c.l2 == 0:
		product(gw3, dx, x, dOut, w3T)
	case c.l3 == 0:
		clear(h.d1)
		product(gw3, matrix(h.d1, n, c.l2), matrix(h.h1, n, c.l2), dOut, w3T)
	default:
		clear(h.d2)
		product(gw3, matrix(h.d2, n, c.l3), matrix(h.h2, n, c.l3), dOut, w3T)
		clear(h.d1)
		product(matrix(gr.w2, c.l2, c.l3), matrix(h.d1, n, c.l2), matrix(h.h1, n, c.l2),
			through(h.d2, h.a2, gr.b2, c.l3), matrix(c.stackW2T(b), c.l3, c.l2))
	}
	if c.l2 > 0 {
		product(matrix(gr.w1, c.inputs(), c.l2), dx, x,
			through(h.d1, h.a1, gr.b1, c.l2), matrix(c.stackW1T(b), c.l2, c.inputs()))
	}

	clipBack := kernel.FloatClipBack
	if c.square {
		clipBack = kernel.FloatSquareClipBack
	}
	for q, i := range ch.positions {
		d := h.dx[q*dx.RowStride:][:c.inputs()]
		for side := range 2 {
			sum := c.batch.sums[(2*int(i)+side)*stride:][:stride:stride]
			clipBack(sum[:c.width], sum[:c.width], d[side*c.width:(side+1)*c.width])
			clear(sum[c.width:])
			if c.psqt > 0 {
				sum[c.width+b] = h.dOut[q] * (0.5 - float32(side))
			}
		}
	}
}

// differentiate runs forward and backward over all positions and returns the
// mean loss of an example. What it leaves behind are the gradients.
func (c *core) differentiate(in *input) (float64, error) {
	timed := func(d *time.Duration, f func()) {
		begin := time.Now()
		f()
		*d = time.Since(begin)
	}
	timed(&c.times.Transform, func() { c.transform(2 * in.n) })
	timed(&c.times.Layers, func() {
		if in.outputs != nil {
			in.outputs(c.passForward(in.n))
		}
		c.passLayers(in)
	})
	var loss float64
	finite := true
	for k := range c.heads {
		loss += c.heads[k].loss
		finite = finite && c.heads[k].finite
	}
	loss /= float64(in.examples)
	if !finite {
		return loss, ErrDiverged
	}
	timed(&c.times.Back, c.transformBack)
	timed(&c.times.Sums, func() {
		c.sumRows()
		c.sumLayers()
	})
	return loss, nil
}

// passForward returns the outputs of n positions, whose sums transform left.
func (c *core) passForward(n int) []float32 {
	out := make([]float32, n)
	c.eachHead(func(*head) {}, func(h *head, ch *chunk) {
		c.forward(h, ch)
		for q, i := range ch.positions {
			out[i] = h.out[q]
		}
	})
	return out
}

// passLayers goes forward and back through the layers.
func (c *core) passLayers(in *input) {
	c.eachHead(func(h *head) {
		clear(h.touched)
		h.loss, h.finite = 0, true
	}, func(h *head, ch *chunk) {
		c.forward(h, ch)
		for q, i := range ch.positions {
			out := float64(h.out[q])
			loss, d := in.loss(int(i), out)
			h.loss += loss
			h.finite = h.finite && !math.IsNaN(loss) && !math.IsInf(loss, 0) && !math.IsInf(out, 0)
			h.dOut[q] = float32(d)
		}
		c.backward(h, ch)
	})
}

// sumLayers adds up the heads' gradients, stack by stack, and those of the part
// of layer 1 that the stacks share.
func (c *core) sumLayers() {
	parallel(c.workers, c.stacks, func(b int) {
		sum := c.layout.stack(c.gradD, b)
		sum.each(func(part []float32) { clear(part) })
		for k := range c.heads {
			h := &c.heads[k]
			if !h.touched[b] {
				continue
			}
			from := c.layout.stack(h.grad, b)
			for _, part := range [...][2][]float32{
				{sum.b1, from.b1}, {sum.b2, from.b2}, {sum.b3, from.b3}, {sum.w1, from.w1}, {sum.w2, from.w2}, {sum.w3, from.w3},
			} {
				kernel.FloatAdd(part[0], part[1])
			}
		}
	})
	shared := c.layout.sharedW1(c.gradD)
	clear(shared)
	for b := range c.stacks {
		kernel.FloatAdd(shared, c.layout.stack(c.gradD, b).w1)
	}
}
