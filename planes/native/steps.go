package native

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// lower turns an operation whose operands have slots into a step.
func (p *program) lower(o *op) step {
	switch o.kind {
	case load:
		return o.load()
	case convolve, depthwise:
		if o.isStem() {
			return p.stem(o)
		}
		return p.convolution(o)
	case scale:
		return p.scale(o)
	case pool:
		return o.pool()
	case flatten:
		return o.flatten()
	case dense:
		return o.dense()
	case concat, part, spread:
		if areImages(o.dims) {
			return o.channelwise()
		}
		return o.slices()
	case softmax:
		return o.rows(normalise)
	case logSoftmax:
		return o.rows(logNormalise)
	case apply:
		return o.apply()
	case multiply:
		if areImages(o.dims) {
			return o.product()
		}
	}
	return o.elementwise()
}

// from returns the slot of operand i.
func (o *op) from(i int) int { return o.in[i].maker.slot }

// load brings the planes of the input to the order of images.
func (o *op) load() step {
	dst, channels := o.slot, o.dims[0]
	return func(w *worker, n int) {
		m := w.images[dst]
		for i := range n * channels {
			image, channel := i/channels, i%channels
			for row := range side {
				to := m.At(image, row, 0) + channel
				for _, x := range w.in[(i*side+row)*side:][:side] {
					m.Data[to] = x
					to += m.Channels
				}
			}
		}
	}
}

func (p *program) convolution(o *op) step {
	dst, src, add := o.slot, o.from(0), 0
	if o.add != nil {
		add = o.add.maker.slot
	}
	bounds, out := o.bounds, o.dims[0]
	if o.kind == depthwise {
		conv := kernel.NewFloatDepthwise(o.weights, o.bias, out, o.size)
		return func(w *worker, n int) { conv.Apply(w.images[dst], w.images[src], w.images[add], n, bounds) }
	}
	// The channels that pad the images have no weights.
	in, padded, window := o.in[0].dims[0], o.in[0].maker.channels(), o.size*o.size
	weights := make([]float32, out*padded*window)
	for i := range out {
		copy(weights[i*padded*window:], o.weights[i*in*window:(i+1)*in*window])
	}
	// Few outputs take little time anyway, and those to the value are worth it.
	if q := o.in[0].maker.quantisation; q.Scale != 0 && out > channelBlock && !o.exact {
		bytes, conv := p.byteSlot(padded, q.Zero), kernel.NewByteConv(weights, o.bias, out, padded, o.size, q)
		return func(w *worker, n int) {
			b := w.bytes[bytes]
			b.Quantisation = q
			b.Set(w.images[src], n)
			conv.Apply(w.images[dst], b, w.images[add], n, bounds, &w.sums)
		}
	}
	if o.size == kernel.WinogradSize {
		conv := kernel.NewFloatWinograd(weights, o.bias, out, padded)
		return func(w *worker, n int) { conv.Apply(w.images[dst], w.images[src], w.images[add], n, bounds, &w.space) }
	}
	conv := kernel.NewFloatConv(weights, o.bias, out, padded, o.size)
	return func(w *worker, n int) { conv.Apply(w.images[dst], w.images[src], w.images[add], n, bounds) }
}

func (p *program) scale(o *op) step {
	dst, src, factors, channels, padded := o.slot, o.from(0), o.from(1), o.dims[0], o.channels()
	all := len(p.vectors) // the factors of padded channels
	p.vectors = append(p.vectors, padded)
	return func(w *worker, n int) {
		for i := range n {
			copy(w.vectors[all][i*padded:], w.vectors[factors][i*channels:(i+1)*channels])
		}
		kernel.FloatScaleChannels(w.images[dst], w.images[src], w.vectors[all], n)
	}
}

func (o *op) pool() step {
	dst, src, channels := o.slot, o.from(0), o.dims[0]
	return func(w *worker, n int) {
		m := w.images[src]
		for i := range n {
			means := w.vectors[dst][i*channels:][:channels]
			clear(means)
			for square := range squares {
				at := m.At(i, square/side, square%side)
				kernel.FloatAdd(means, m.Data[at:at+channels])
			}
			kernel.FloatScale(means, 1.0/squares)
		}
	}
}

// flatten brings images to ONNX's order: channel by channel, row by row.
func (o *op) flatten() step {
	dst, src, channels := o.slot, o.from(0), o.in[0].dims[0]
	return func(w *worker, n int) {
		m := w.images[src]
		for i := range n {
			m.ChannelsFirst(w.vectors[dst][i*channels*squares:], i, channels)
		}
	}
}

func (o *op) dense() step {
	dst, src, in, out, bounds, bias := o.slot, o.from(0), o.in[0].size(), product(o.dims), o.bounds, o.bias
	matrix := kernel.NewFloatMatrix(transpose(o.weights, out, in), in, out)
	return func(w *worker, n int) {
		y := w.vectors[dst][:n*out]
		for i := range n {
			copy(y[i*out:], bias)
		}
		kernel.FloatGemm(kernel.NewFloatMatrix(y, n, out), kernel.NewFloatMatrix(w.vectors[src][:n*in], n, in), matrix)
		clampAll(y, bounds)
	}
}

func clampAll(x []float32, b kernel.Bounds) {
	if b == kernel.Unbounded {
		return
	}
	for i, v := range x {
		x[i] = min(max(v, b.Low), b.High)
	}
}

// slices fills vectors from others.
func (o *op) slices() step {
	dst, size := o.slot, product(o.dims)
	return func(w *worker, n int) {
		for i := range n {
			y := w.vectors[dst][i*size : (i+1)*size]
			for _, v := range o.in {
				each := v.size()
				y = y[copy(y, w.vectors[v.maker.slot][i*each+o.first:(i+1)*each]):]
			}
		}
	}
}

// channelwise fills the channels of images from others, or from a vector for all
// squares.
func (o *op) channelwise() step {
	dst, size := o.slot, o.dims[0]
	return func(w *worker, n int) {
		to := w.images[dst]
		for i := range n * squares {
			image, row, column := i/squares, i%squares/side, i%side
			y := to.Data[to.At(image, row, column):][:size]
			for _, v := range o.in {
				if each := v.size(); o.kind == spread {
					y = y[copy(y, w.vectors[v.maker.slot][image*each:(image+1)*each]):]
					continue
				}
				from := w.images[v.maker.slot]
				y = y[copy(y, from.Data[from.At(image, row, column):][o.first:v.dims[0]]):]
			}
		}
	}
}

// rows does the same with the vector of each position.
func (o *op) rows(do func(dst, src []float32)) step {
	dst, src, size := o.slot, o.from(0), product(o.dims)
	return func(w *worker, n int) {
		for i := range n {
			do(w.vectors[dst][i*size:(i+1)*size], w.vectors[src][i*size:(i+1)*size])
		}
	}
}

// normalise writes the softmax of src.
func normalise(dst, src []float32) {
	highest := float32(math.Inf(-1))
	for _, x := range src {
		highest = max(highest, x)
	}
	sum := 0.0
	for i, x := range src {
		e := math.Exp(float64(x - highest))
		dst[i] = float32(e)
		sum += e
	}
	for i, x := range dst {
		dst[i] = float32(float64(x) / sum)
	}
}

// logNormalise writes the logarithm of the softmax of src.
func logNormalise(dst, src []float32) {
	highest := float32(math.Inf(-1))
	for _, x := range src {
		highest = max(highest, x)
	}
	sum := 0.0
	for _, x := range src {
		sum += math.Exp(float64(x - highest))
	}
	for i, x := range src {
		dst[i] = float32(float64(x-highest) - math.Log(sum))
	}
}

// product multiplies images square by square.
func (o *op) product() step {
	dst, a, b, channels := o.slot, o.from(0), o.from(1), o.dims[0]
	return func(w *worker, n int) {
		to, x, y := w.images[dst], w.images[a], w.images[b]
		for i := range n * squares {
			image, row, column := i/squares, i%squares/side, i%side
			z := to.Data[to.At(image, row, column):][:channels]
			p, q := x.Data[x.At(image, row, column):][:channels], y.Data[y.At(image, row, column):][:channels]
			for c := range z {
				z[c] = p[c] * q[c]
			}
		}
	}
}

// apply computes a function of the elements, of images those without padding.
func (o *op) apply() step {
	of := o.of
	if !areImages(o.dims) {
		return o.rows(func(dst, src []float32) {
			for i, x := range src {
				dst[i] = of(x)
			}
		})
	}
	dst, src, channels := o.slot, o.from(0), o.dims[0]
	return func(w *worker, n int) {
		from, to := w.images[src], w.images[dst]
		for i := range n * side * side {
			row, column := i/side, i%side
			image := row / side
			row %= side
			x, y := from.Data[from.At(image, row, column):][:channels], to.Data[to.At(image, row, column):][:channels]
			for c := range y {
				y[c] = of(x[c])
			}
		}
	}
}

// elementwise combines vectors.
func (o *op) elementwise() step {
	dst, a, size := o.slot, o.from(0), product(o.dims)
	if o.kind == affine {
		factors, terms, bounds := o.weights, o.bias, o.bounds
		return o.rows(func(dst, src []float32) {
			for i, x := range src {
				dst[i] = x*factors[i] + terms[i]
			}
			clampAll(dst, bounds)
		})
	}
	b, times := o.from(1), o.kind == multiply
	return func(w *worker, n int) {
		x, y, z := w.vectors[a][:n*size], w.vectors[b][:n*size], w.vectors[dst][:n*size]
		for i := range z {
			if times {
				z[i] = x[i] * y[i]
			} else {
				z[i] = x[i] + y[i]
			}
		}
	}
}
