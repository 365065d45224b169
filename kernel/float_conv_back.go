package kernel

import "fmt"

// gradientInner is what input channels of convolutions whose weights are learned
// are a multiple of.
const gradientInner = 8

// gradientImages is how many images one call of assembly takes at most: their
// channels stay in or near the first-level cache.
const gradientImages = 2

// SetWeights replaces weights and bias of a convolution by those of one with so
// many outputs and inputs, at most its own; the rest becomes zero. Weights and bias
// are as NewFloatConv takes them.
func (c *FloatConv) SetWeights(weights, bias []float32, out, in int) {
	area := c.size * c.size
	c.set(weights, bias, out, in, out, in, func(o, i, s int) int { return (o*in+i)*area + s })
}

// SetBack makes c the derivative with respect to the inputs of the convolution of
// so many outputs and inputs that has these weights: applied to derivatives with
// respect to the outputs, which it takes as inputs, it gives those with respect to
// the inputs. c has no bias then.
func (c *FloatConv) SetBack(weights []float32, out, in int) {
	area := c.size * c.size
	c.set(weights, nil, out, in, in, out, func(i, o, s int) int { return (o*in+i)*area + area - 1 - s })
}

// set packs weights of a convolution of out to in, which stand at the indices that
// at returns for c's own outputs and inputs, of which rows and columns are used.
func (c *FloatConv) set(weights, bias []float32, out, in, rows, columns int, at func(o, i, s int) int) {
	checkConv(len(weights), len(bias), out, in, c.size)
	if rows > c.out || columns > c.in {
		panic(fmt.Sprintf("kernel: found %d outputs of %d inputs, expected at most %d of %d", rows, columns, c.out, c.in))
	}
	clear(c.weights)
	clear(c.bias)
	copy(c.bias, bias)
	area := c.size * c.size
	for o := range rows {
		first, width := convGroup(o/convBlock, c.out/convBlock)
		first, width = first*convBlock, width*convBlock
		group := c.weights[first*c.in*area:]
		for s := range area {
			for i := range columns {
				group[(s*c.in+i)*width+o-first] = weights[at(o, i, s)]
			}
		}
	}
}

// SetWeights replaces weights and bias by those of fewer channels or as many; the
// rest becomes zero.
func (c *FloatDepthwise) SetWeights(weights, bias []float32, channels int) {
	c.set(weights, bias, channels, func(s int) int { return s })
}

// SetBack makes c the derivative of the depthwise convolution with these weights,
// as FloatConv.SetBack does.
func (c *FloatDepthwise) SetBack(weights []float32, channels int) {
	c.set(weights, nil, channels, func(s int) int { return c.size*c.size - 1 - s })
}

func (c *FloatDepthwise) set(weights, bias []float32, channels int, at func(s int) int) {
	checkConv(len(weights), len(bias), channels, 1, c.size)
	if channels > c.channels {
		panic(fmt.Sprintf("kernel: found %d channels, expected at most %d", channels, c.channels))
	}
	clear(c.weights)
	clear(c.bias)
	copy(c.bias, bias)
	area := c.size * c.size
	for i := range channels {
		for s := range area {
			c.weights[s*c.channels+i] = weights[i*area+at(s)]
		}
	}
}

// FloatConvGradient sums derivatives of a loss with respect to the weights of a
// FloatConv. Channels are padded: of inputs to a multiple of 8, of outputs to one
// of 16.
type FloatConvGradient struct {
	in, out, size int
	sums          []float32 // as FloatConv.weights
}

// NewFloatConvGradient returns a sum of zeros for a convolution of that shape.
func NewFloatConvGradient(out, in, size int) *FloatConvGradient {
	checkConv(out*in*size*size, 0, out, in, size)
	g := &FloatConvGradient{in: roundUp(in, gradientInner), out: roundUp(out, convBlock), size: size}
	g.sums = alignedFloats(g.out * g.in * size * size)
	return g
}

// Clear begins a new sum.
func (g *FloatConvGradient) Clear() { clear(g.sums) }

// Add adds what the first n images contribute: src are the inputs, d derivatives
// with respect to the outputs. The border of src has at least (size−1)/2 squares.
//
// Products of two images are added square by square, then to the sum.
func (g *FloatConvGradient) Add(src, d FloatImages, n int) {
	t := newImagePass(d, src, FloatImages{}, n, g.out, g.in, g.size)
	for i := 0; i < n; i += gradientImages {
		images := min(gradientImages, n-i)
		for first, width := 0, 0; first < g.out; first += width {
			_, blocks := convGroup(first/convBlock, g.out/convBlock)
			width = blocks * convBlock
			d, src, _ := t.image(i, first)
			sums := g.sums[first*g.in*g.size*g.size:]
			for s := range g.size * g.size {
				at := s/g.size*t.srcRow + s%g.size*t.srcSquare
				floatConvWeights(&t, sums[s*g.in*width:(s+1)*g.in*width], src[at:], d, width, images)
			}
		}
	}
}

// AddTo adds the sum to derivatives with respect to the weights of a convolution of
// so many outputs and inputs, at most g's own, which lie as NewFloatConv takes
// weights.
func (g *FloatConvGradient) AddTo(weights []float32, out, in int) {
	checkConv(len(weights), 0, out, in, g.size)
	if out > g.out || in > g.in {
		panic(fmt.Sprintf("kernel: found %d outputs of %d inputs, expected at most %d of %d", out, in, g.out, g.in))
	}
	area := g.size * g.size
	for o := range out {
		first, width := convGroup(o/convBlock, g.out/convBlock)
		first, width = first*convBlock, width*convBlock
		group := g.sums[first*g.in*area:]
		for i := range in {
			for s := range area {
				weights[(o*in+i)*area+s] += group[(s*g.in+i)*width+o-first]
			}
		}
	}
}

// FloatDepthwiseGradient is FloatConvGradient for a FloatDepthwise. Channels are
// padded to a multiple of 16.
type FloatDepthwiseGradient struct {
	channels, size int
	sums           []float32 // [row][column][channel]
	unused         []float32 // sums that nobody asks for
}

// NewFloatDepthwiseGradient returns a sum of zeros for a convolution of that shape.
func NewFloatDepthwiseGradient(channels, size int) *FloatDepthwiseGradient {
	checkConv(channels*size*size, 0, channels, 1, size)
	g := &FloatDepthwiseGradient{channels: roundUp(channels, convBlock), size: size}
	g.sums, g.unused = alignedFloats(g.channels*size*size), alignedFloats(g.channels)
	return g
}

// Clear begins a new sum.
func (g *FloatDepthwiseGradient) Clear() { clear(g.sums) }

// Add does what FloatConvGradient.Add does.
func (g *FloatDepthwiseGradient) Add(src, d FloatImages, n int) {
	t := newImagePass(d, src, FloatImages{}, n, g.channels, g.channels, g.size)
	clear(g.unused) // or it might overflow, which is slow
	for i := range n {
		d, src, _ := t.image(i, 0)
		for s := range g.size * g.size {
			at := s/g.size*t.srcRow + s%g.size*t.srcSquare
			floatImageSums(&t, g.unused, g.sums[s*g.channels:(s+1)*g.channels], d, src[at:])
		}
	}
}

// AddTo does what FloatConvGradient.AddTo does.
func (g *FloatDepthwiseGradient) AddTo(weights []float32, channels int) {
	checkConv(len(weights), 0, channels, 1, g.size)
	area := g.size * g.size
	for i := range channels {
		for s := range area {
			weights[i*area+s] += g.sums[s*g.channels+i]
		}
	}
}

// FloatImageSums adds to sums, one for every channel, the sums of x over the squares
// of one image, and to products those of x·y. Both have the images' number of
// channels, a multiple of 16.
func FloatImageSums(sums, products []float32, x, y FloatImages, image int) {
	if x.Channels%convBlock != 0 {
		panic(fmt.Sprintf("kernel: found images of %d channels, expected a multiple of %d", x.Channels, convBlock))
	}
	t := newImagePass(x, y, FloatImages{}, image+1, x.Channels, x.Channels, 1)
	a, b, _ := t.image(image, 0)
	floatImageSums(&t, sums[:x.Channels], products[:x.Channels], a, b)
}

// FloatReLUBack is the derivative of the rectifier max(x, 0): it writes to dst the
// derivative with respect to x, given its result out and the derivative d with
// respect to that. It is d where out is above zero, and zero elsewhere. All have the
// same length; dst may be one of the others.
func FloatReLUBack(dst, out, d []float32) {
	out, d = out[:len(dst)], d[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatReLUBack(dst[:n], out[:n], d[:n])
		dst, out, d = dst[n:], out[n:], d[n:]
	}
}
