package kernel

import (
	"fmt"
	"math"
)

// ByteImages are images as FloatImages, of bytes from 0 to 127. A byte b stands for
// the number (b − Zero) / Scale; the border, which stands for zeros, holds Zero.
type ByteImages struct {
	Data     []uint8
	Channels int // of a square
	Border   int // squares added on every side
	Quantisation
}

// Quantisation says how bytes stand for numbers.
type Quantisation struct {
	Scale float32
	Zero  uint8
}

// Both bytes and weights go up to 127 in magnitude: two products have a sum of at
// most 2·127·127, within 16 bits, which AVX2 adds them in.
const byteMost = 127

// Quantise returns the quantisation with the smallest steps for numbers from low
// to high; zero is one of the numbers that bytes stand for exactly.
func Quantise(low, high float32) Quantisation {
	low, high = min(low, 0), max(high, 0)
	if !(high-low > 0) || math.IsInf(float64(high-low), 0) {
		return Quantisation{Scale: 1}
	}
	scale := byteMost / (high - low)
	return Quantisation{Scale: scale, Zero: uint8(math.RoundToEven(float64(-low * scale)))}
}

// NewByteImages returns n images of zeros.
func NewByteImages(n, channels, border int, q Quantisation) ByteImages {
	m := ByteImages{Channels: channels, Border: border, Quantisation: q}
	m.Data = make([]uint8, n*m.Stride())
	for i := range m.Data {
		m.Data[i] = q.Zero
	}
	return m
}

// Row returns how many bytes a row is from the next.
func (m ByteImages) Row() int { return (ImageSide + 2*m.Border) * m.Channels }

// Stride returns how many bytes an image is from the next.
func (m ByteImages) Stride() int { return (ImageSide + 2*m.Border) * m.Row() }

// Set writes the first n images of src, rounded to the nearest byte, ties to even;
// what is out of range becomes the nearest bound. src has as many channels, a
// multiple of 4. All levels give the same bytes.
func (m ByteImages) Set(src FloatImages, n int) {
	if src.Channels != m.Channels || m.Channels%convInner != 0 {
		panic(fmt.Sprintf("kernel: found images of %d channels for bytes of %d, expected as many, a multiple of %d", src.Channels, m.Channels, convInner))
	}
	width := ImageSide * m.Channels
	for i := range n {
		from, to := src.At(i, 0, 0), i*m.Stride()+(m.Border*(ImageSide+2*m.Border)+m.Border)*m.Channels
		for range ImageSide {
			byteQuantise(m.Data[to:to+width], src.Data[from:from+width], m.Scale, m.Zero)
			from, to = from+src.Row(), to+m.Row()
		}
	}
}

// ByteConv is a convolution as FloatConv with quantised weights and inputs: sums
// of products are exact, and every level gives the same bits. Channels of inputs
// are padded to a multiple of 16, as those of outputs.
type ByteConv struct {
	in, out, size int
	// [group of 1 to 3 blocks of outputs][row][column][input / 4][output of the group][input mod 4]
	weights      []int8
	tiles        byteTiles // the same for AMX
	scales, bias []float32 // per output, of its sums
	bands        []byteBand
	outer        int // as of byteRows
}

// byteBand is rows of squares whose windows have rows, from first on, that are not
// in the border.
type byteBand struct{ row, rows, first, size int }

// byteBands returns the bands of an image.
func byteBands(size int) (bands []byteBand) {
	reach := size / 2
	for row := range ImageSide {
		first := max(reach-row, 0)
		b := byteBand{row, 1, first, min(size, ImageSide+reach-row) - first}
		if n := len(bands); n > 0 && bands[n-1].first == b.first && bands[n-1].size == b.size {
			bands[n-1].rows++
		} else {
			bands = append(bands, b)
		}
	}
	return bands
}

// byteRows is what a kernel computes: some rows of an image, len(bias) of its output
// channels.
type byteRows struct {
	dst, add     []float32
	src          []uint8
	weights      []int8
	bias, scales []float32
	rows         int
	size, inner  int // rows of a window, and inputs of a row
	// How many of these inputs, the first for the first column of squares and the last for
	// the last one, lie in the border and are zero; or 0.
	outer int
}

// ByteSpace is memory for a ByteConv to work in. Its zero value is ready for use. One
// goroutine uses it at a time, for any number of convolutions.
type ByteSpace struct{ sums []int32 }

// NewByteConv returns a convolution of images of a quantisation; the rest is as for
// NewFloatConv. Weights are rounded to multiples of 1/127 of the largest one of
// their output.
func NewByteConv(weights, bias []float32, out, in, size int, q Quantisation) *ByteConv {
	checkConv(len(weights), len(bias), out, in, size)
	if in*size*size > math.MaxInt32/(byteMost*byteMost) {
		panic(fmt.Sprintf("kernel: found %d products per output, which 32 bits do not hold", in*size*size))
	}
	c := &ByteConv{in: roundUp(in, convBlock), out: roundUp(out, convBlock), size: size}
	c.weights, c.scales, c.bias = make([]int8, c.out*c.in*size*size), alignedFloats(c.out), alignedFloats(c.out)
	copy(c.bias, bias)
	for o := range out {
		c.setOutput(o, weights[o*in*size*size:(o+1)*in*size*size], q)
	}
	c.tiles.arrange(c)
	c.bands = []byteBand{{0, ImageSide, 0, size}}
	if q.Zero == 0 { // so that the border adds nothing
		c.bands = byteBands(size)
		if size == 3 {
			c.outer = c.in
		}
	}
	return c
}

// setOutput quantises the weights of an output, [input][row][column].
func (c *ByteConv) setOutput(o int, weights []float32, q Quantisation) {
	most := float32(0)
	for _, w := range weights {
		most = max(most, w, -w)
	}
	if most == 0 {
		return
	}
	window := c.size * c.size
	sum := 0
	for k, w := range weights {
		i, s := k/window, k%window
		b := int(math.RoundToEven(float64(w) / float64(most) * byteMost))
		c.weights[c.index(o, s*c.in+i)] = int8(b)
		sum += b
	}
	// Every byte is Zero too large.
	c.scales[o] = most / byteMost / q.Scale
	c.bias[o] -= float32(float32(int(q.Zero)*sum) * c.scales[o]) // the conversion forbids fusing
}

// index is where the weight of an output for byte k of a window lies.
func (c *ByteConv) index(o, k int) int {
	first, blocks := convGroup(o/convBlock, c.out/convBlock)
	first, width := first*convBlock, blocks*convBlock
	return first*c.in*c.size*c.size + (k/4*width+o-first)*4 + k%4
}

// Apply does what FloatConv.Apply does. src has the quantisation that the
// convolution was made for.
func (c *ByteConv) Apply(dst FloatImages, src ByteImages, add FloatImages, n int, b Bounds, space *ByteSpace) {
	shape := FloatImages{Channels: src.Channels, Border: src.Border}
	t := newImagePass(dst, shape, add, 0, c.out, c.in, c.size)
	_, _ = dst.Data[:n*dst.Stride()], src.Data[:n*src.Stride()]
	if add.Data != nil {
		_ = add.Data[:n*add.Stride()]
	}
	if c.applyTiles(&t, src.Data, n, b, space) {
		return
	}
	for first, width := 0, 0; first < c.out; first += width {
		_, blocks := convGroup(first/convBlock, c.out/convBlock)
		width = blocks * convBlock
		row := c.in * c.size
		weights := c.weights[first*row*c.size:]
		r := byteRows{bias: c.bias[first : first+width], scales: c.scales[first:], inner: row, outer: c.outer}
		for i := range n {
			dst, add := t.out(i, first)
			src := src.Data[i*src.Stride()+t.start:]
			for _, band := range c.bands {
				r.rows, r.size = band.rows, band.size
				r.dst, r.src, r.weights = dst[band.row*t.dstRow:], src[(band.row+band.first)*t.srcRow:], weights[band.first*row*width:]
				if add != nil {
					r.add = add[band.row*t.dstRow:]
				}
				byteConv(&t, &r, b)
			}
		}
	}
}
