package planesfit

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
)

// net is the layers of an architecture over its parameters.
type net struct {
	arch   arch.Architecture
	params *params

	stem          int // of the units
	blocks        []block
	policy, value int
	logits        *convolution

	hidden               *dense // nil: none
	wdl, valueOut, plies *dense // nil: the net has no such head
	units                []*unit
	se                   []*squeezeExcite
	channels             int // of the trunk, padded
}

// block is a part of the trunk: two or three units, and perhaps squeeze and excitation.
type block struct {
	units []int
	se    int // index of its squeeze and excitation; −1: none
}

func newNet(a arch.Architecture, tensors arch.Params) *net {
	n := &net{arch: a, params: newParams(tensors), channels: padded(a.Channels, channelBlock)}
	stem := newConvolution(n.span("stem.conv.weight"), planes.Channels, padded(planes.Channels, channelBlock), a.Channels, 3, false)
	n.stem = n.unit(stem, "stem.norm", true)
	for i := range a.Blocks {
		name := fmt.Sprintf("block%d.", i)
		b := block{se: -1}
		if i >= a.Blocks-a.SEBlocks {
			b.se = n.newSqueezeExcite(name + "gate.")
		}
		if a.Kind == arch.Mobile {
			wide := a.Expansion + i*a.ExpansionStep
			b.units = []int{
				n.unit(n.conv(name+"expand", a.Channels, wide, 1), name+"norm1", true),
				n.unit(newDepthwise(n.span(name+"depthwise.weight"), wide, 3), name+"norm2", true),
				n.unit(n.conv(name+"reduce", wide, a.Channels, 1), name+"norm3", false),
			}
		} else {
			b.units = []int{
				n.unit(n.conv(name+"conv1", a.Channels, a.Channels, 3), name+"norm1", true),
				n.unit(n.conv(name+"conv2", a.Channels, a.Channels, 3), name+"norm2", b.se < 0),
			}
		}
		n.blocks = append(n.blocks, b)
	}
	n.policy = n.unit(n.conv("policy.conv1", a.Channels, a.Channels, a.PolicyKernel), "policy.norm", true)
	n.logits = n.conv("policy.conv2", a.Channels, planes.PolicyPlanes, a.PolicyKernel)
	n.value = n.unit(n.conv("value.conv", a.Channels, a.ValueChannels, 1), "value.norm", true)
	width := squares * a.ValueChannels
	if a.ValueHidden > 0 {
		n.hidden = n.dense("value.hidden", width, a.ValueHidden)
		width = a.ValueHidden
	}
	if a.WDL {
		n.wdl = n.dense("wdl", width, 3)
	} else {
		n.valueOut = n.dense("value.out", width, 1)
	}
	if a.PliesLeft {
		n.plies = n.dense("plies", width, 1)
	}
	return n
}

// span returns where the parameters of a name lie.
func (n *net) span(name string) span {
	s, ok := n.params.spans[name]
	if !ok {
		panic("planesfit: architecture without " + name)
	}
	return s
}

func (n *net) conv(name string, in, out, size int) *convolution {
	return newConvolution(n.span(name+".weight"), in, padded(in, channelBlock), out, size, true)
}

// unit adds a unit and returns its index.
func (n *net) unit(c *convolution, norm string, relu bool) int {
	n.units = append(n.units, &unit{conv: c, relu: relu, norm: normalisation{
		scale: n.span(norm + ".scale"), bias: n.span(norm + ".bias"),
		mean: n.span(norm + ".mean"), variance: n.span(norm + ".variance"), channels: c.out}})
	return len(n.units) - 1
}

func (n *net) newSqueezeExcite(name string) int {
	c, narrow := n.arch.Channels, n.arch.Channels/n.arch.SERatio
	n.se = append(n.se, &squeezeExcite{channels: c, padded: n.channels,
		squeeze: dense{n.span(name + "squeeze.weight"), n.span(name + "squeeze.bias"), c, narrow, true},
		excite:  dense{n.span(name + "excite.weight"), n.span(name + "excite.bias"), narrow, c, true}})
	return len(n.se) - 1
}

func (n *net) dense(name string, in, out int) *dense {
	return &dense{n.span(name + ".weight"), n.span(name + ".bias"), in, out, false}
}

// pack takes the weights of all convolutions.
func (n *net) pack(all []float32) {
	for _, u := range n.units {
		u.conv.pack(all)
	}
	n.logits.pack(all)
}

// work is what one worker holds of a net for a part of a batch.
type work struct {
	net            *net
	units          []*unitWork
	se             []*squeezeExciteWork
	planes, logits kernel.FloatImages
	logitsGradient convolutionGradient
	trunk          kernel.FloatImages         // derivatives with respect to the trunk
	inner          map[int]kernel.FloatImages // and within blocks and heads, by channels
	ones           *kernel.FloatDepthwise
	heads          heads
	space          kernel.WinogradSpace
	targets        targets
}

func newWork(n *net, part int) *work {
	w := &work{
		net: n, trunk: kernel.NewFloatImages(part, n.channels, 1), inner: map[int]kernel.FloatImages{},
		planes: kernel.NewFloatImages(part, n.units[n.stem].conv.padIn, 1), logits: kernel.NewFloatImages(part, n.logits.padOut, 1),
		logitsGradient: n.logits.newGradient(), heads: newHeads(n, part),
	}
	for _, u := range n.units {
		w.units = append(w.units, u.newWork(part))
		if c := u.conv.padOut; w.inner[c].Data == nil {
			w.inner[c] = kernel.NewFloatImages(part, c, 1)
		}
	}
	ones := make([]float32, n.channels)
	for i := range ones {
		ones[i] = 1
	}
	w.ones = kernel.NewFloatDepthwise(ones, nil, n.channels, 1)
	for _, g := range n.se {
		w.se = append(w.se, g.newWork(part))
	}
	return w
}

// pass is a pass of a part of a batch through the net.
type pass struct {
	*work
	all      []float32 // parameters; the convolutions' are packed already
	n        int
	training bool
}

func (p *pass) unit(i int, src, add kernel.FloatImages) kernel.FloatImages {
	return p.net.units[i].forward(p.units[i], &p.space, p.all, src, add, p.n, p.training)
}

// forward computes the logits of moves and the outputs of the heads.
func (p *pass) forward() {
	x := p.unit(p.net.stem, p.planes, noImages)
	for i := range p.net.blocks {
		x = p.block(&p.net.blocks[i], x)
	}
	p.net.logits.forward(p.logits, p.unit(p.net.policy, x, noImages), p.n, &p.space)
	p.heads.forward(p.net, p.all, p.unit(p.net.value, x, noImages), p.n)
}

func (p *pass) block(b *block, x kernel.FloatImages) kernel.FloatImages {
	switch {
	case p.net.arch.Kind == arch.Mobile:
		if b.se >= 0 {
			x = p.net.se[b.se].forward(p.se[b.se], p.all, x, p.n)
		}
		y := p.unit(b.units[1], p.unit(b.units[0], x, noImages), noImages)
		return p.unit(b.units[2], y, x)
	case b.se < 0:
		return p.unit(b.units[1], p.unit(b.units[0], x, noImages), x)
	}
	y := p.unit(b.units[1], p.unit(b.units[0], x, noImages), noImages)
	y = p.net.se[b.se].forward(p.se[b.se], p.all, y, p.n)
	p.ones.Apply(y, y, x, p.n, kernel.ReLU)
	return y
}

// input returns what block i computes with: the result before it.
func (p *pass) input(i int) kernel.FloatImages {
	switch {
	case i == 0:
		return p.units[p.net.stem].out
	case p.net.arch.Kind != arch.Mobile && p.net.blocks[i-1].se >= 0:
		return p.se[p.net.blocks[i-1].se].out
	}
	units := p.net.blocks[i-1].units
	return p.units[units[len(units)-1]].out
}

// back adds up the derivatives with respect to all parameters, given those with
// respect to the logits, in their place, and to the outputs of the heads.
func (p *pass) back(gradient []float32) {
	n := p.net
	x, d := p.input(len(n.blocks)), p.trunk
	policy, value := p.units[n.policy], p.units[n.value]
	p.logitsGradient.add(policy.out, p.logits, p.n, &p.space)
	n.logits.back(d, p.logits, noImages, p.n, &p.space)
	p.through(n.policy, x, d, d, noImages)
	dValue := p.inner[value.out.Channels]
	p.heads.back(n, p.all, gradient, dValue, p.n)
	p.through(n.value, x, dValue, d, d)
	for i := len(n.blocks) - 1; i >= 0; i-- {
		p.blockBack(&n.blocks[i], p.input(i), d, gradient)
	}
	n.units[n.stem].back(p.units[n.stem], &p.space, p.planes, d, p.n)
}

// through goes back through a unit and its convolution: from d, with respect to the
// result, to dst, with respect to src, with add added. It returns what unit.back
// does.
func (p *pass) through(i int, src, d, dst, add kernel.FloatImages) kernel.FloatImages {
	u, w := p.net.units[i], p.units[i]
	d = u.back(w, &p.space, src, d, p.n)
	u.conv.back(dst, w.y, add, p.n, &p.space)
	return d
}

// blockBack replaces d, the derivative with respect to the result of a block, by
// that with respect to its input x.
func (p *pass) blockBack(b *block, x, d kernel.FloatImages, gradient []float32) {
	first, second := p.units[b.units[0]], p.units[b.units[1]]
	if p.net.arch.Kind == arch.Mobile {
		in := x
		if b.se >= 0 {
			in = p.se[b.se].out
		}
		wide := p.inner[first.out.Channels]
		p.through(b.units[2], second.out, d, wide, noImages)
		p.through(b.units[1], first.out, wide, wide, noImages)
		p.through(b.units[0], in, wide, d, d)
		if b.se >= 0 {
			p.net.se[b.se].back(p.se[b.se], p.all, gradient, d, d, x, p.n)
		}
		return
	}
	if b.se < 0 {
		sum := p.through(b.units[1], first.out, d, d, noImages)
		p.through(b.units[0], x, d, d, sum)
		return
	}
	g := p.se[b.se]
	size := p.n * d.Stride()
	kernel.FloatReLUBack(g.out.Data[:size], g.out.Data[:size], d.Data[:size])
	p.net.se[b.se].back(g, p.all, gradient, d, g.out, second.out, p.n)
	p.through(b.units[1], first.out, d, d, noImages)
	p.through(b.units[0], x, d, d, g.out)
}
