package native

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
)

// byteSlot is a place for images of bytes whose border stands for zeros.
type byteSlot struct {
	channels int
	zero     uint8
}

// byteSlot returns the index of such a slot. Bytes are used by the step that makes
// them alone, so that all steps share it.
func (p *program) byteSlot(channels int, zero uint8) int {
	s := byteSlot{channels, zero}
	if i := slices.Index(p.bytes, s); i >= 0 {
		return i
	}
	p.bytes = append(p.bytes, s)
	return len(p.bytes) - 1
}

// exactHead keeps the convolutions of single squares between the trunk, which
// others read too, and the policy out of quantisation.
func exactHead(ops []*op, policy *value) {
	readers := map[*op]int{}
	for _, o := range ops {
		for _, m := range o.reads() {
			readers[m]++
		}
	}
	for o := policy.maker; ; o = o.in[0].maker {
		o.exact = o.kind == convolve && o.size == 1
		if len(o.in) != 1 || o.add != nil || readers[o.in[0].maker] > 1 {
			return
		}
	}
}

// calibrate runs a program on positions and sets how each operation's images are
// brought to bytes: from the lowest to the highest number seen.
func (p *program) calibrate(positions []float32) {
	type limits struct{ low, high float32 }
	seen := map[*op]*limits{}
	w := newWorker(p)
	w.watch = func(o *op, n int) {
		if !areImages(o.dims) || o.kind == load {
			return
		}
		if seen[o] == nil {
			seen[o] = new(limits)
		}
		l, m := seen[o], w.images[o.slot]
		for i := range n * squares {
			at := m.At(i/squares, i%squares/side, i%side)
			for _, x := range m.Data[at : at+o.dims[0]] {
				l.low, l.high = min(l.low, x), max(l.high, x)
			}
		}
	}
	out, n := new(planes.Output), len(positions)/planes.Size
	for i, slice := range outputs(out) {
		*slice = make([]float32, n*p.outputs[i].size)
	}
	w.run(job{positions, 0, n, out})
	for o, l := range seen {
		o.quantisation = kernel.Quantise(l.low, l.high)
	}
}
