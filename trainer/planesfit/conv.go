package planesfit

import "github.com/crazyhouse-rl/selfplay/kernel"

const (
	channelBlock = 16 // channels of images are padded to a multiple of this
	inputBlock   = 8  // those of the planes, which have no derivatives, to this
	chunk        = 4  // images that layers take at a time, so that caches keep them
)

func padded(n, block int) int { return (n + block - 1) / block * block }

// images returns the images from first on.
func images(m kernel.FloatImages, first int) kernel.FloatImages {
	m.Data = m.Data[first*m.Stride():]
	return m
}

// chunks calls f(first, n) over the ranges of 0..n cut into chunks.
func chunks(n int, f func(first, n int)) {
	for first := 0; first < n; first += chunk {
		f(first, min(chunk, n-first))
	}
}

// convolution is a convolution without bias. Its kernels hold the weights of the
// last pack and are shared by all workers.
type convolution struct {
	weights       span
	in, out, size int // true channels
	padIn, padOut int
	isDepthwise   bool

	full, fullBack           *kernel.FloatConv
	depthwise, depthwiseBack *kernel.FloatDepthwise
}

// newConvolution returns a convolution of images of padIn channels; back says
// whether derivatives with respect to them are needed.
func newConvolution(weights span, in, padIn, out, size int, back bool) *convolution {
	c := &convolution{weights: weights, in: in, out: out, size: size, padIn: padIn, padOut: padded(out, channelBlock)}
	zeros := make([]float32, c.padIn*c.padOut*size*size)
	c.full = kernel.NewFloatConv(zeros, nil, c.padOut, c.padIn, size)
	if back {
		c.fullBack = kernel.NewFloatConv(zeros, nil, c.padIn, c.padOut, size)
	}
	return c
}

func newDepthwise(weights span, channels, size int) *convolution {
	pad := padded(channels, channelBlock)
	zeros := make([]float32, pad*size*size)
	return &convolution{weights: weights, in: channels, out: channels, size: size, padIn: pad, padOut: pad, isDepthwise: true,
		depthwise: kernel.NewFloatDepthwise(zeros, nil, pad, size), depthwiseBack: kernel.NewFloatDepthwise(zeros, nil, pad, size)}
}

// pack takes the weights from all parameters.
func (c *convolution) pack(all []float32) {
	w := c.weights.of(all)
	if c.isDepthwise {
		c.depthwise.SetWeights(w, nil, c.out)
		c.depthwiseBack.SetBack(w, c.out)
		return
	}
	c.full.SetWeights(w, nil, c.out, c.in)
	if c.fullBack != nil {
		c.fullBack.SetBack(w, c.out, c.in)
	}
}

var noImages kernel.FloatImages

// forward writes the convolution of n images of src to dst.
func (c *convolution) forward(dst, src kernel.FloatImages, n int) {
	if c.isDepthwise {
		c.depthwise.Apply(dst, src, noImages, n, kernel.Unbounded)
	} else {
		c.full.Apply(dst, src, noImages, n, kernel.Unbounded)
	}
}

// back writes to dst the derivative with respect to the inputs, plus add, given
// that with respect to the outputs.
func (c *convolution) back(dst, d, add kernel.FloatImages, n int) {
	if c.isDepthwise {
		c.depthwiseBack.Apply(dst, d, add, n, kernel.Unbounded)
	} else {
		c.fullBack.Apply(dst, d, add, n, kernel.Unbounded)
	}
}

// convolutionGradient sums derivatives with respect to the weights of a
// convolution.
type convolutionGradient struct {
	full      *kernel.FloatConvGradient
	depthwise *kernel.FloatDepthwiseGradient
}

func (c *convolution) newGradient() convolutionGradient {
	if c.isDepthwise {
		return convolutionGradient{depthwise: kernel.NewFloatDepthwiseGradient(c.padOut, c.size)}
	}
	return convolutionGradient{full: kernel.NewFloatConvGradient(c.padOut, c.padIn, c.size)}
}

func (g *convolutionGradient) add(src, d kernel.FloatImages, n int) {
	if g.depthwise != nil {
		g.depthwise.Add(src, d, n)
	} else {
		g.full.Add(src, d, n)
	}
}

// flush adds the sum to the gradient of all weights and begins a new one.
func (g *convolutionGradient) flush(c *convolution, gradient []float32) {
	if g.depthwise != nil {
		g.depthwise.AddTo(c.weights.of(gradient), c.out)
		g.depthwise.Clear()
	} else {
		g.full.AddTo(c.weights.of(gradient), c.out, c.in)
		g.full.Clear()
	}
}
