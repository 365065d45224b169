package native

import (
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// program is a compiled net. It is not changed while it runs, so that many
// workers may run it.
type program struct {
	steps   []step
	made    []*op // by each step
	images  []int // channels of each slot for images; the first is for none
	vectors []int // sizes of each slot for vectors
	bytes   []byteSlot
	border  int // of all images
	// The largest window, in squares, and width of a stem.
	stemWindow, stemChannels int
	outputs                  [len(outputNames)]struct{ size, slot int }
}

// step runs the first n positions of a worker's batch.
type step func(w *worker, n int)

// batch is how many positions go through the net together: enough for the
// weights to be read seldom, few enough for the images to stay in the
// second-level cache.
const batch = 8

// compile quantises the net if there are positions to calibrate it with.
func compile(m *onnx.Model, calibration []float32) (*program, error) {
	g, out, err := translate(m)
	if err != nil {
		return nil, err
	}
	p := newProgram(g, out)
	if n := p.elements(); n > mostElements {
		return nil, fmt.Errorf("%w: found results of %d elements a position, expected at most %d", onnx.ErrUnsupported, n, mostElements)
	}
	if len(calibration) > 0 {
		p.calibrate(calibration)
		exactHead(g.ops, out[1])
		p = newProgram(g, out)
	}
	return p, nil
}

func newProgram(g *graph, out []*value) *program {
	p := &program{images: []int{0}}
	for _, o := range g.ops {
		if o.kind == convolve || o.kind == depthwise {
			p.border = max(p.border, o.size/2)
		}
	}
	p.place(g.ops)
	for i, v := range out {
		if v != nil {
			p.outputs[i].size, p.outputs[i].slot = v.size(), v.maker.slot
		}
	}
	for _, o := range g.ops {
		if o.kind != load || !onlyStems(o, g.ops) {
			p.steps, p.made = append(p.steps, p.lower(o)), append(p.made, o)
		}
	}
	return p
}

// mostElements is how many elements a position may have in all slots of a worker, which
// takes 32 bytes for each.
const mostElements = 1 << 24

// elements returns how many there are in the slots, a position.
func (p *program) elements() (n int) {
	for _, channels := range p.images[1:] {
		n += channels * (8 + 2*p.border) * (8 + 2*p.border)
	}
	for _, size := range p.vectors {
		n += size
	}
	return n
}

// place assigns each operation the slot of its result. Images take one whose last
// use is over, so that few stay in the caches.
func (p *program) place(ops []*op) {
	last := make([]int, len(ops))
	for i, o := range ops {
		for _, m := range o.reads() {
			last[m.at] = i
		}
	}
	var free []int
	for i, o := range ops {
		switch {
		case !areImages(o.dims):
			o.slot = len(p.vectors)
			p.vectors = append(p.vectors, product(o.dims))
		case o.add != nil && last[o.add.maker.at] == i && !slices.ContainsFunc(o.in, func(v *value) bool { return v.maker == o.add.maker }):
			o.slot = o.add.maker.slot // a sum may take the place of what is only added
		default:
			o.slot = p.take(&free, o.channels())
		}
		for _, m := range o.reads() {
			if areImages(m.dims) && last[m.at] == i && m.slot != o.slot && !slices.Contains(free, m.slot) {
				free = append(free, m.slot)
			}
		}
	}
}

// reads returns the makers of what an operation reads.
func (o *op) reads() []*op {
	var all []*op
	for _, v := range o.in {
		all = append(all, v.maker)
	}
	if o.add != nil {
		all = append(all, o.add.maker)
	}
	return all
}

// channelBlock is what the kernels pad channels to.
const channelBlock = 16

// channels returns how many channels of images are kept, with those that pad.
func (o *op) channels() int {
	return (o.dims[0] + channelBlock - 1) / channelBlock * channelBlock
}

// take returns a free slot for images of that many channels, or a new one.
func (p *program) take(free *[]int, channels int) int {
	for i, slot := range *free {
		if p.images[slot] == channels {
			*free = slices.Delete(*free, i, i+1)
			return slot
		}
	}
	p.images = append(p.images, channels)
	return len(p.images) - 1
}

// worker runs a program on one goroutine.
type worker struct {
	program *program
	in      []float32
	images  []kernel.FloatImages
	vectors [][]float32
	bytes   []kernel.ByteImages
	stem    *stemScratch
	space   kernel.WinogradSpace
	sums    kernel.ByteSpace
	watch   func(made *op, n int) // called after each step if not nil
}

func newWorker(p *program) *worker {
	w := &worker{program: p, images: make([]kernel.FloatImages, len(p.images)), vectors: make([][]float32, len(p.vectors)),
		stem: newStemScratch(p.stemWindow, p.stemChannels)}
	for i, channels := range p.images[1:] {
		w.images[i+1] = kernel.NewFloatImages(batch, channels, p.border)
	}
	for i, size := range p.vectors {
		w.vectors[i] = make([]float32, batch*size)
	}
	for _, b := range p.bytes {
		w.bytes = append(w.bytes, kernel.NewByteImages(batch, b.channels, p.border, kernel.Quantisation{Zero: b.zero}))
	}
	return w
}

// run runs the net on the positions of a job. Outputs are vectors that lie where the job
// wants them.
func (w *worker) run(j job) {
	for n := 0; j.n > 0; j.first, j.n = j.first+n, j.n-n {
		n = min(j.n, batch)
		w.in = j.in[j.first*planes.Size : (j.first+n)*planes.Size]
		for i, slice := range outputs(j.out) {
			if o := w.program.outputs[i]; o.size > 0 {
				w.vectors[o.slot] = (*slice)[j.first*o.size : (j.first+n)*o.size]
			}
		}
		for i, step := range w.program.steps {
			step(w, n)
			if w.watch != nil {
				w.watch(w.program.made[i], n)
			}
		}
	}
}
