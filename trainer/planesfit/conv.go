package planesfit

import "github.com/crazyhouse-rl/selfplay/kernel"

const (
	channelBlock = 16 // channels of images are padded to a multiple of this
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
	winograd, winogradBack   *kernel.FloatWinograd
	depthwise, depthwiseBack *kernel.FloatDepthwise
}

// newConvolution returns a convolution of images of padIn channels; back says
// whether derivatives with respect to them are needed.
func newConvolution(weights span, in, padIn, out, size int, back bool) *convolution {
	c := &convolution{weights: weights, in: in, out: out, size: size, padIn: padIn, padOut: padded(out, channelBlock)}
	zeros := make([]float32, c.padIn*c.padOut*size*size)
	if size == kernel.WinogradSize {
		c.winograd = kernel.NewFloatWinograd(zeros, nil, c.padOut, c.padIn)
		if back {
			c.winogradBack = kernel.NewFloatWinograd(zeros, nil, c.padIn, c.padOut)
		}
		return c
	}
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
	switch {
	case c.isDepthwise:
		c.depthwise.SetWeights(w, nil, c.out)
		c.depthwiseBack.SetBack(w, c.out)
		return
	case c.winograd != nil:
		c.winograd.SetWeights(w, nil, c.out, c.in)
	default:
		c.full.SetWeights(w, nil, c.out, c.in)
	}
	if c.winogradBack != nil {
		c.winogradBack.SetBack(w, c.out, c.in)
	}
	if c.fullBack != nil {
		c.fullBack.SetBack(w, c.out, c.in)
	}
}

var noImages kernel.FloatImages

// forward writes the convolution of n images of src to dst.
func (c *convolution) forward(dst, src kernel.FloatImages, n int, space *kernel.WinogradSpace) {
	switch {
	case c.isDepthwise:
		c.depthwise.Apply(dst, src, noImages, n, kernel.Unbounded)
	case c.winograd != nil:
		c.winograd.Apply(dst, src, noImages, n, kernel.Unbounded, space)
	default:
		c.full.Apply(dst, src, noImages, n, kernel.Unbounded)
	}
}

// back writes to dst the derivative with respect to the inputs, plus add, given
// that with respect to the outputs.
func (c *convolution) back(dst, d, add kernel.FloatImages, n int, space *kernel.WinogradSpace) {
	switch {
	case c.isDepthwise:
		c.depthwiseBack.Apply(dst, d, add, n, kernel.Unbounded)
	case c.winogradBack != nil:
		c.winogradBack.Apply(dst, d, add, n, kernel.Unbounded, space)
	default:
		c.fullBack.Apply(dst, d, add, n, kernel.Unbounded)
	}
}

// convolutionGradient sums derivatives with respect to the weights of a
// convolution.
type convolutionGradient struct {
	full      *kernel.FloatConvGradient
	winograd  *kernel.FloatWinogradGradient
	depthwise *kernel.FloatDepthwiseGradient
}

func (c *convolution) newGradient() convolutionGradient {
	switch {
	case c.isDepthwise:
		return convolutionGradient{depthwise: kernel.NewFloatDepthwiseGradient(c.padOut, c.size)}
	case c.winograd != nil:
		return convolutionGradient{winograd: kernel.NewFloatWinogradGradient(c.padOut, c.padIn)}
	}
	return convolutionGradient{full: kernel.NewFloatConvGradient(c.padOut, c.padIn, c.size)}
}

func (g *convolutionGradient) add(src, d kernel.FloatImages, n int, space *kernel.WinogradSpace) {
	switch {
	case g.depthwise != nil:
		g.depthwise.Add(src, d, n)
	case g.winograd != nil:
		g.winograd.Add(src, d, n, space)
	default:
		g.full.Add(src, d, n)
	}
}

// flush adds the sum to the gradient of all weights and begins a new one.
func (g *convolutionGradient) flush(c *convolution, gradient []float32) {
	weights := c.weights.of(gradient)
	switch {
	case g.depthwise != nil:
		g.depthwise.AddTo(weights, c.out)
		g.depthwise.Clear()
	case g.winograd != nil:
		g.winograd.AddTo(weights, c.out, c.in)
		g.winograd.Clear()
	default:
		g.full.AddTo(weights, c.out, c.in)
		g.full.Clear()
	}
}
