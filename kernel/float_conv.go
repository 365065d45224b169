package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	// ImageSide is the height and width of images in squares.
	ImageSide = 8

	convBlock = 16 // padded output channels are a multiple of this
	convInner = 4  // padded input channels are a multiple of this
)

// FloatImages is a batch of 8×8 images. The channels of a square lie together,
// squares row by row, and around an image runs a border of squares that must be
// zero: windows that reach over the edge see zeros.
type FloatImages struct {
	Data     []float32
	Channels int // of a square
	Border   int // squares added on every side
}

// NewFloatImages returns n images of zeros.
func NewFloatImages(n, channels, border int) FloatImages {
	m := FloatImages{Channels: channels, Border: border}
	m.Data = alignedFloats(n * m.Stride())
	return m
}

// Row returns how many elements a row is from the next.
func (m FloatImages) Row() int { return (ImageSide + 2*m.Border) * m.Channels }

// Stride returns how many elements an image is from the next.
func (m FloatImages) Stride() int { return (ImageSide + 2*m.Border) * m.Row() }

// At returns the index of the first channel of a square.
func (m FloatImages) At(image, row, column int) int {
	return image*m.Stride() + (row+m.Border)*m.Row() + (column+m.Border)*m.Channels
}

// ChannelsFirst writes the first channels of an image to dst in the order of ONNX:
// one after the other, of each its 64 squares row by row.
func (m FloatImages) ChannelsFirst(dst []float32, image, channels int) {
	if channels > m.Channels {
		panic(fmt.Sprintf("kernel: found %d channels, expected the %d of the images at most", channels, m.Channels))
	}
	src := m.Data[m.At(image, 0, 0):]
	src = src[:(ImageSide-1)*m.Row()+(ImageSide-1)*m.Channels+channels]
	dst = dst[:channels*planeSize]
	done := floatChannelsFirst(dst, src, m.Channels, m.Row(), channels)
	floatChannelsFirstGeneric(dst[done*planeSize:], src[done:], m.Channels, m.Row(), channels-done)
}

// planeSize is how many squares a channel has.
const planeSize = ImageSide * ImageSide

// alignedFloats returns zeros that begin at a cache line, so that vectors do not
// straddle two.
func alignedFloats(n int) []float32 {
	const line = lineBytes / floatSize
	x := make([]float32, n+line-1)
	if n == 0 {
		return x[:0]
	}
	// Only the address is looked at, to choose where to begin.
	skip := -int(uintptr(unsafe.Pointer(&x[0]))/floatSize) & (line - 1)
	return x[skip : skip+n : skip+n]
}

// Bounds limit the results of a convolution. NaN stays.
type Bounds struct{ Low, High float32 }

// Bounds of the usual activations.
var (
	Unbounded = Bounds{float32(math.Inf(-1)), float32(math.Inf(1))}
	ReLU      = Bounds{0, float32(math.Inf(1))}
	ReLU6     = Bounds{0, 6}
)

// FloatConv is a convolution of images with a square window of odd size, at
// stride 1 and with as many squares of output as of input. Channels are padded
// with zeros: of inputs to a multiple of 4, of outputs to a multiple of 16.
type FloatConv struct {
	in, out, size int // channels are padded
	// [group of 1 to 3 blocks of outputs][row][column][input][output of the group]
	weights []float32
	bias    []float32
}

// NewFloatConv returns a convolution with the weights [output][input][row][column]
// and a bias per output; a nil bias is zero. It panics if the lengths do not fit.
func NewFloatConv(weights, bias []float32, out, in, size int) *FloatConv {
	checkConv(len(weights), len(bias), out, in, size)
	c := &FloatConv{in: roundUp(in, convInner), out: roundUp(out, convBlock), size: size}
	c.weights, c.bias = alignedFloats(c.out*c.in*size*size), alignedFloats(c.out)
	c.SetWeights(weights, bias, out, in)
	return c
}

func checkConv(weights, bias, out, in, size int) {
	if out <= 0 || in <= 0 || size <= 0 || size%2 == 0 || weights != out*in*size*size || bias != 0 && bias != out {
		panic(fmt.Sprintf("kernel: found %d weights and %d biases, expected %d·%d·%d·%d and %d", weights, bias, out, in, size, size, out))
	}
}

// convGroup says in which group of blocks a block is: the first of them, and how
// many. Groups have three blocks if that divides them, else two, but the last three
// if blocks are odd; one block is a group by itself.
func convGroup(block, blocks int) (first, width int) {
	switch {
	case blocks == 1:
		return 0, 1
	case blocks%3 == 0:
		return block / 3 * 3, 3
	case blocks%2 == 1 && block >= blocks-3:
		return blocks - 3, 3
	}
	return block / 2 * 2, 2
}

// Apply writes the convolution of the first n images of src to dst. To each
// result it adds the bias and, if add has data, the element of add at the same
// place; then it clamps the result. add has the shape of dst, and may be dst; src
// must not overlap dst. The border of src has at least (size−1)/2 squares.
//
// Products are added to the bias row by row of the window, column by column, input
// by input. A result of n products, one more for what is added, differs from the exact sum by at most
// (n+2)·2⁻²⁴ times the sum of the magnitudes of its terms.
func (c *FloatConv) Apply(dst, src, add FloatImages, n int, b Bounds) {
	t := newImagePass(dst, src, add, n, c.out, c.in, c.size)
	for first, width := 0, 0; first < c.out; first += width {
		_, blocks := convGroup(first/convBlock, c.out/convBlock)
		width = blocks * convBlock
		weights, bias := c.weights[first*c.in*c.size*c.size:], c.bias[first:first+width]
		for i := range n {
			dst, src, add := t.image(i, first)
			floatConv(&t, dst, src, add, weights, bias, c.size*c.in, c.size, b)
		}
	}
}

// FloatDepthwise is a convolution as FloatConv whose channels do not mix: each
// output has one input. Channels are padded to a multiple of 16.
type FloatDepthwise struct {
	channels, size int
	weights        []float32 // [row][column][channel]
	bias           []float32
}

// NewFloatDepthwise returns a convolution with the weights [channel][row][column]
// and a bias per channel; a nil bias is zero. It panics if the lengths do not fit.
func NewFloatDepthwise(weights, bias []float32, channels, size int) *FloatDepthwise {
	checkConv(len(weights), len(bias), channels, 1, size)
	c := &FloatDepthwise{channels: roundUp(channels, convBlock), size: size}
	c.weights, c.bias = alignedFloats(c.channels*size*size), alignedFloats(c.channels)
	c.SetWeights(weights, bias, channels)
	return c
}

// Channels returns how many channels images to read and to write have.
func (c *FloatDepthwise) Channels() int { return c.channels }

// Apply does what FloatConv.Apply does. With a window of one square, dst may be
// src.
func (c *FloatDepthwise) Apply(dst, src, add FloatImages, n int, b Bounds) {
	t := newImagePass(dst, src, add, n, c.channels, c.channels, c.size)
	for i := range n {
		for first := 0; first < c.channels; first += convBlock {
			dst, src, add := t.image(i, first)
			floatDepthwise(&t, dst, src[first:], add, c.weights[first:], c.bias[first:first+convBlock], c.channels, c.size, b)
		}
	}
}

// FloatScaleChannels writes to dst the first n images of src, every channel times
// its factor: factors holds src.Channels of them for each image. Images have a
// multiple of 16 channels; dst may be src.
func FloatScaleChannels(dst, src FloatImages, factors []float32, n int) {
	c := src.Channels
	if c <= 0 || c%convBlock != 0 {
		panic(fmt.Sprintf("kernel: found images of %d channels, expected a multiple of %d", c, convBlock))
	}
	t := newImagePass(dst, src, FloatImages{}, n, c, c, 1)
	for i := range n {
		for first := 0; first < c; first += convBlock {
			dst, src, _ := t.image(i, first)
			floatDepthwise(&t, dst, src[first:], nil, factors[i*c+first:(i+1)*c], noBias[:], c, 1, Unbounded)
		}
	}
}

var noBias [convBlock]float32

// imagePass is a pass over images: their memory, and how far apart squares and rows
// are. Windows begin where those of square (0, 0) do.
type imagePass struct {
	dst, src, add     FloatImages
	start             int // of src
	dstSquare, dstRow int
	srcSquare, srcRow int
}

// newImagePass panics unless n images of so many channels are there.
func newImagePass(dst, src, add FloatImages, n, out, in, size int) imagePass {
	reach := size / 2
	if dst.Channels != out || src.Channels != in || src.Border < reach || dst.Border < 0 ||
		add.Data != nil && (add.Channels != out || add.Border != dst.Border) {
		panic(fmt.Sprintf("kernel: found images of %d, %d and %d channels with borders of %d, %d and %d, expected %d to %d channels, windows of %d squares",
			dst.Channels, src.Channels, add.Channels, dst.Border, src.Border, add.Border, in, out, size))
	}
	_, _ = dst.Data[:n*dst.Stride()], src.Data[:n*src.Stride()]
	if add.Data != nil {
		_ = add.Data[:n*add.Stride()]
	}
	return imagePass{dst: dst, src: src, add: add, start: src.At(0, -reach, -reach),
		dstSquare: dst.Channels, dstRow: dst.Row(), srcSquare: src.Channels, srcRow: src.Row()}
}

// image returns image i of dst and add from an output channel, and of src from
// the first window.
func (t *imagePass) image(i, channel int) (dst, src, add []float32) {
	dst, add = t.out(i, channel)
	return dst, t.src.Data[i*t.src.Stride()+t.start:], add
}

// out returns what image does without src.
func (t *imagePass) out(i, channel int) (dst, add []float32) {
	dst = t.dst.Data[t.dst.At(i, 0, 0)+channel:]
	if t.add.Data != nil {
		add = t.add.Data[t.add.At(i, 0, 0)+channel:]
	}
	return dst, add
}
