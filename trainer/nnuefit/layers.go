package nnuefit

import (
	"math"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// head is the work on the layers of a part of the chunks: its dense gradient
// and the activations of one chunk.
type head struct {
	grad    []float32 // as layout says, but without the transformer's bias and with w1 transposed; valid where touched
	touched []bool    // [stacks] stacks with a gradient
	loss    float64
	finite  bool

	x          []float32 // [chunk][2][stride] transformer's outputs, where not in place
	a1, h1, d1 []float32 // [chunk][l2] sums of layer 1, clipped; derivative
	a2, h2, d2 []float32 // [chunk][l3]
	out, dOut  []float32 // [chunk]
}

func newHead(l *layout) head {
	floats := func(n int) []float32 { return make([]float32, chunkSize*n) }
	h := head{
		grad: make([]float32, l.size), touched: make([]bool, l.stacks),
		a1: floats(l.l2), h1: floats(l.l2), d1: floats(l.l2),
		a2: floats(l.l3), h2: floats(l.l3), d2: floats(l.l3),
		out: floats(1), dOut: floats(1),
	}
	if l.beside() {
		h.x = floats(2 * l.stride())
	}
	return h
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
		transpose(c.stackW1T(b), matrix(w, c.inputs(), c.l2))
		transpose(matrix(c.stackW2T(b), c.l3, c.l2), matrix(c.layout.stack(c.used, b).w2, c.l2, c.l3))
	}
}

// transpose writes src's transpose to dst. Rows of both are contiguous.
func transpose(dst, src kernel.FloatMatrix) {
	for j := range dst.Rows {
		row := dst.Data[j*dst.RowStride:][:dst.Cols]
		for i := range row {
			row[i] = src.Data[i*src.RowStride+j]
		}
	}
}

// stackW1 is layer 1 of stack b as used in this batch, [inputs][l2].
func (c *core) stackW1(b int) []float32 {
	n := c.inputs() * c.l2
	return c.w1[b*n : (b+1)*n]
}

// stackW1T is its transpose, [l2][inputs].
func (c *core) stackW1T(b int) kernel.FloatMatrix {
	stride := c.inputs() + w1TGap
	return kernel.FloatMatrix{Data: c.w1T[b*c.l2*stride:][:c.l2*stride], Rows: c.l2, Cols: c.inputs(), RowStride: stride, ColStride: 1}
}

// w1TGap keeps the rows of layer 1's transpose, often a large power of two long,
// from sharing few sets of the caches.
const w1TGap = 16

// stackW2T is the transpose of layer 2 of stack b as used in this batch, [l3][l2].
func (c *core) stackW2T(b int) []float32 {
	n := c.l2 * c.l3
	return c.w2T[b*n : (b+1)*n]
}

// eachHead calls f for every chunk, on several goroutines; the chunks of one
// head come in order.
func (c *core) eachHead(begin func(*head), f func(*head, *chunk)) {
	chunks := c.batch.chunks
	parallel.Do(c.workers, shardCount, func(_, k int) {
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

// sums are the accumulators and PSQT sums of a chunk, or the derivatives with
// respect to them: [chunk][2][stride].
func (c *core) sums(ch *chunk) []float32 {
	n := 2 * c.stride()
	return c.batch.sums[ch.first*n : (ch.first+len(ch.positions))*n]
}

// perspective is the transformer's outputs for one side in data as sums has them.
func (c *core) perspective(data []float32, side int) kernel.FloatMatrix {
	n := 2 * c.stride()
	return kernel.FloatMatrix{Data: data[side*c.stride():], Rows: len(data) / n, Cols: c.outputs(), RowStride: n, ColStride: 1}
}

// fromSide is the rows of a layer's weights on the inputs from one side.
func (c *core) fromSide(weights kernel.FloatMatrix, side int) kernel.FloatMatrix {
	weights.Data, weights.Rows = weights.Data[side*c.outputs()*weights.RowStride:], c.outputs()
	return weights
}

// inputs returns where the transformer's outputs are for a chunk: in place of the
// sums, or beside them.
func (h *head) inputs(c *core, sums []float32) []float32 {
	if c.beside() {
		return h.x[:len(sums)]
	}
	return sums
}

// forward computes the outputs of a chunk, in units of 1.0, seen by the side to
// move. Called again it does the same.
func (c *core) forward(h *head, ch *chunk) {
	n, stride, b := len(ch.positions), c.stride(), ch.bucket
	st := c.layout.stack(c.used, b)
	sums := c.sums(ch)
	x := h.inputs(c, sums)
	for q := range n {
		own := sums[2*q*stride:][: 2*stride : 2*stride]
		other := own[stride:]
		h.out[q] = st.b3[0]
		if c.psqt > 0 {
			h.out[q] += (own[c.width+b] - other[c.width+b]) / 2
		}
		for at := 2 * q * stride; at < 2*(q+1)*stride; at += stride {
			c.activate(x[at:at+c.width], sums[at:at+c.width])
		}
	}
	if c.l2 == 0 {
		c.addInputs(matrix(h.out, n, 1), x, st.w3)
		return
	}
	spread(h.a1[:n*c.l2], st.b1)
	c.addInputs(matrix(h.a1, n, c.l2), x, c.stackW1(b))
	kernel.FloatClip(h.h1[:n*c.l2], h.a1[:n*c.l2])
	c.floor(h.h1[:n*c.l2], c.scales.hidden)
	last := matrix(h.h1, n, c.l2)
	if c.l3 > 0 {
		spread(h.a2[:n*c.l3], st.b2)
		kernel.FloatGemm(matrix(h.a2, n, c.l3), last, matrix(st.w2, c.l2, c.l3))
		kernel.FloatClip(h.h2[:n*c.l3], h.a2[:n*c.l3])
		c.floor(h.h2[:n*c.l3], c.scales.hidden)
		last = matrix(h.h2, n, c.l3)
	}
	kernel.FloatGemm(matrix(h.out, n, 1), last, matrix(st.w3, c.last(), 1))
}

// activate computes the transformer's outputs of a perspective from its sums; both
// have room for the sums.
func (c *core) activate(x, sums []float32) {
	if c.square {
		kernel.FloatSquareClip(x, sums)
	} else {
		kernel.FloatClip(x, sums)
	}
	if c.pairs {
		kernel.FloatMul(x[:c.outputs()], x[c.outputs():])
	}
	if c.beside() {
		c.floor(x[:c.outputs()], c.scales.transformer)
	}
}

// multiplyBack replaces the sums of a perspective by the derivatives with respect to
// them. dx has those with respect to the products of pairs, and room for the sums.
func (c *core) multiplyBack(sums, dx []float32) {
	n := c.outputs()
	first, second := sums[:n], sums[n:]
	d, dSecond := dx[:n], dx[n:]
	kernel.FloatClip(dSecond, first)
	kernel.FloatMul(dSecond, d)
	kernel.FloatClipBack(dSecond, second, dSecond)
	kernel.FloatClip(second, second)
	kernel.FloatMul(d, second)
	kernel.FloatClipBack(first, first, d)
	copy(second, dSecond)
}

// addInputs adds to the sums of the layer above the inputs' part: x times
// weights.
func (c *core) addInputs(sums kernel.FloatMatrix, x, weights []float32) {
	w := matrix(weights, c.inputs(), sums.Cols)
	for side := range 2 {
		kernel.FloatGemm(sums, c.perspective(x, side), c.fromSide(w, side))
	}
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
	n, b := len(ch.positions), ch.bucket
	st, gr := c.layout.stack(c.used, b), c.layout.stack(h.grad, b)
	if !h.touched[b] {
		h.touched[b] = true
		gr.each(func(part []float32) { clear(part) })
	}
	dOut := matrix(h.dOut, n, 1)
	for _, d := range h.dOut[:n] {
		gr.b3[0] += d
	}

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
	if c.l2 == 0 {
		c.backInputs(h, ch, matrix(gr.w3, 1, c.inputs()), dOut, w3T.T())
		return
	}
	if c.l3 == 0 {
		clear(h.d1)
		product(gw3, matrix(h.d1, n, c.l2), matrix(h.h1, n, c.l2), dOut, w3T)
	} else {
		clear(h.d2)
		product(gw3, matrix(h.d2, n, c.l3), matrix(h.h2, n, c.l3), dOut, w3T)
		clear(h.d1)
		product(matrix(gr.w2, c.l2, c.l3), matrix(h.d1, n, c.l2), matrix(h.h1, n, c.l2),
			through(h.d2, h.a2, gr.b2, c.l3), matrix(c.stackW2T(b), c.l3, c.l2))
	}
	c.backInputs(h, ch, matrix(gr.w1, c.l2, c.inputs()), through(h.d1, h.a1, gr.b1, c.l2), c.stackW1T(b).T())
}

// backInputs goes back from the layer above the inputs, with the derivatives d of
// its sums, to the transformer: it adds to gwT, the gradient of that layer's
// weights w transposed, and replaces the chunk's sums. Transposed, because the
// product then takes vectors of inputs as they lie and derivatives one by one.
func (c *core) backInputs(h *head, ch *chunk, gwT, d, w kernel.FloatMatrix) {
	sums, stride, b := c.sums(ch), c.stride(), ch.bucket
	x := h.inputs(c, sums)
	for side := range 2 {
		kernel.FloatGemm(c.fromSide(gwT.T(), side).T(), d.T(), c.perspective(x, side))
	}
	if c.beside() {
		dx := x // no longer needed
		clear(dx)
		for side := range 2 {
			kernel.FloatGemm(c.perspective(dx, side), d, c.fromSide(w, side).T())
		}
		if c.square {
			kernel.FloatSquareClipBack(sums, sums, dx)
		} else {
			for at := 0; at < len(sums); at += stride {
				c.multiplyBack(sums[at:at+c.width], dx[at:at+c.width])
			}
		}
	} else {
		for side := range 2 {
			kernel.FloatGemmClipBack(c.perspective(sums, side), d, c.fromSide(w, side).T())
		}
	}
	for at := c.width; at < len(sums); at += stride {
		clear(sums[at : at+stride-c.width])
	}
	if c.psqt > 0 {
		for q, d := range h.dOut[:len(ch.positions)] {
			sums[2*q*stride+c.width+b] = d / 2
			sums[(2*q+1)*stride+c.width+b] = -d / 2
		}
	}
}

// differentiate runs forward and backward over all positions and returns the
// mean loss of an example. It leaves the gradients in place.
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
		return loss, trainer.ErrDiverged
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
	parallel.Do(c.workers, c.stacks, func(_, b int) {
		sum := c.layout.stack(c.gradD, b)
		sum.each(func(part []float32) { clear(part) })
		var w1T []float32 // sum of the gradients of layer 1, in place of the first
		for k := range c.heads {
			h := &c.heads[k]
			if !h.touched[b] {
				continue
			}
			from := c.layout.stack(h.grad, b)
			for _, part := range [...][2][]float32{
				{sum.b1, from.b1}, {sum.b2, from.b2}, {sum.b3, from.b3}, {sum.w2, from.w2}, {sum.w3, from.w3},
			} {
				kernel.FloatAdd(part[0], part[1])
			}
			if w1T == nil {
				w1T = from.w1
			} else {
				kernel.FloatAdd(w1T, from.w1)
			}
		}
		if w1T != nil {
			transpose(matrix(sum.w1, c.inputs(), c.l2), matrix(w1T, c.l2, c.inputs()))
		}
	})
	shared := c.layout.sharedW1(c.gradD)
	clear(shared)
	for b := range c.stacks {
		kernel.FloatAdd(shared, c.layout.stack(c.gradD, b).w1)
	}
}
