package planesfit

import "github.com/crazyhouse-rl/selfplay/kernel"

// heads is what one worker holds of the heads that do not concern moves, for a part
// of a batch. Rows are positions; output and derivative of a head lie in one slice,
// one after the other.
type heads struct {
	flat, hidden      []float32 // inputs of the dense layers
	dFlat, dHidden    []float32
	value, wdl, plies []float32 // outputs before their activations; derivatives after loss
	flatWidth, planes int
	hiddenWidth       int
}

func newHeads(n *net, part int) heads {
	h := heads{planes: n.arch.ValueChannels, flatWidth: squares * n.arch.ValueChannels, hiddenWidth: n.arch.ValueHidden}
	h.flat, h.dFlat = make([]float32, part*h.flatWidth), make([]float32, part*h.flatWidth)
	h.hidden, h.dHidden = make([]float32, part*h.hiddenWidth), make([]float32, part*h.hiddenWidth)
	h.value, h.wdl, h.plies = make([]float32, part), make([]float32, 3*part), make([]float32, part)
	return h
}

// input returns the rows that the last layers read, and room for derivatives with
// respect to them.
func (h *heads) input(n int) (x, d kernel.FloatMatrix) {
	if h.hiddenWidth > 0 {
		return kernel.NewFloatMatrix(h.hidden, n, h.hiddenWidth), kernel.NewFloatMatrix(h.dHidden, n, h.hiddenWidth)
	}
	return kernel.NewFloatMatrix(h.flat, n, h.flatWidth), kernel.NewFloatMatrix(h.dFlat, n, h.flatWidth)
}

// last are the last layers there are, with what holds their outputs.
func (h *heads) last(n *net, f func(l *dense, outputs []float32)) {
	for _, l := range []struct {
		layer   *dense
		outputs []float32
	}{{n.valueOut, h.value}, {n.wdl, h.wdl}, {n.plies, h.plies}} {
		if l.layer != nil {
			f(l.layer, l.outputs)
		}
	}
}

// forward computes the outputs for n images of the value head's planes.
func (h *heads) forward(net *net, all []float32, src kernel.FloatImages, n int) {
	h.flatten(src, n, func(flat, image *float32) { *flat = *image }, h.flat)
	if net.hidden != nil {
		net.hidden.forward(h.hidden, kernel.NewFloatMatrix(h.flat, n, h.flatWidth), all)
		rectify(h.hidden)
	}
	x, _ := h.input(n)
	h.last(net, func(l *dense, outputs []float32) { l.forward(outputs, x, all) })
}

// flatten goes through the numbers of n images and those of rows, which lie plane
// by plane.
func (h *heads) flatten(m kernel.FloatImages, n int, f func(flat, image *float32), flat []float32) {
	for i := range n {
		row := flat[i*h.flatWidth:]
		for s := range squares {
			at := m.At(i, s/8, s%8)
			for c := range h.planes {
				f(&row[c*squares+s], &m.Data[at+c])
			}
		}
	}
}

// back writes to dst the derivative with respect to the images, given those with
// respect to the outputs, in their place.
func (h *heads) back(net *net, all, gradient []float32, dst kernel.FloatImages, n int) {
	clear(h.dFlat)
	clear(h.dHidden)
	x, d := h.input(n)
	h.last(net, func(l *dense, outputs []float32) { l.back(d, x, outputs, all, gradient) })
	if net.hidden != nil {
		kernel.FloatReLUBack(h.dHidden, h.hidden, h.dHidden)
		net.hidden.back(kernel.NewFloatMatrix(h.dFlat, n, h.flatWidth), kernel.NewFloatMatrix(h.flat, n, h.flatWidth), h.dHidden, all, gradient)
	}
	h.flatten(dst, n, func(flat, image *float32) { *image = *flat }, h.dFlat)
}
