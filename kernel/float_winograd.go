package kernel

import "fmt"

// WinogradSize is the height and width of the windows of a FloatWinograd.
const WinogradSize = 3

const (
	winogradTile   = 2                               // squares of a tile of outputs in a row, and rows
	winogradSpan   = winogradTile + 2                // of the inputs that it sees
	winogradParts  = winogradSpan * winogradSpan     // numbers that stand for a tile of a channel
	winogradAcross = ImageSide / winogradTile        // tiles of an image in a row, and rows
	winogradTiles  = winogradAcross * winogradAcross // tiles of an image
	winogradGap    = lineBytes / floatSize           // elements between parts, so that they share few sets of the caches
	winogradWidth  = gemmWidth                       // outputs whose weights lie together
	winogradWindow = WinogradSize * WinogradSize     // weights of an output and input
	winogradImages = 4                               // images that go through together: their parts stay in the second-level cache
)

// FloatWinograd is a FloatConv with windows of 3×3 squares that makes 2.25 times
// fewer multiplications, by Winograd's minimal filtering F(2×2, 3×3): of 4×4 inputs d
// and the window g it computes 2×2 outputs as Aᵀ[(GgGᵀ)·(BᵀdB)]A, where the product in
// the middle is that of 16 numbers, summed over the inputs. Channels are padded to a
// multiple of 16.
type FloatWinograd struct {
	in, out int // channels, padded
	// [part][group of up to 32 outputs][input][output of the group]
	weights []float32
	bias    []float32
}

// NewFloatWinograd returns a convolution with the weights [output][input][3][3] and a
// bias per output; a nil bias is zero. It panics if the lengths do not fit.
func NewFloatWinograd(weights, bias []float32, out, in int) *FloatWinograd {
	checkConv(len(weights), len(bias), out, in, WinogradSize)
	c := &FloatWinograd{in: roundUp(in, convBlock), out: roundUp(out, convBlock)}
	c.weights, c.bias = alignedFloats(winogradParts*c.out*c.in), alignedFloats(c.out)
	c.SetWeights(weights, bias, out, in)
	return c
}

// SetWeights does what FloatConv.SetWeights does.
func (c *FloatWinograd) SetWeights(weights, bias []float32, out, in int) {
	c.set(weights, bias, out, in, out, in, func(o, i int) (at, step int) { return (o*in + i) * winogradWindow, 1 })
}

// SetBack does what FloatConv.SetBack does.
func (c *FloatWinograd) SetBack(weights []float32, out, in int) {
	c.set(weights, nil, out, in, in, out, func(i, o int) (at, step int) { return (o*in+i+1)*winogradWindow - 1, -1 })
}

// set packs weights of a convolution of out to in; those of c's own output and input,
// of which rows and columns are used, begin at an index and are step elements apart.
func (c *FloatWinograd) set(weights, bias []float32, out, in, rows, columns int, window func(o, i int) (at, step int)) {
	checkConv(len(weights), len(bias), out, in, WinogradSize)
	if rows > c.out || columns > c.in {
		panic(fmt.Sprintf("kernel: found %d outputs of %d inputs, expected at most %d of %d", rows, columns, c.out, c.in))
	}
	clear(c.weights)
	clear(c.bias)
	copy(c.bias, bias)
	var g [winogradWindow]float64
	for o := range rows {
		first := o / winogradWidth * winogradWidth
		width := min(winogradWidth, c.out-first)
		for i := range columns {
			at, step := window(o, i)
			for k := range g {
				g[k] = float64(weights[at])
				at += step
			}
			to := c.weights[first*c.in+i*width+o-first:]
			for part, u := range winogradFilter(&g) {
				to[part*c.out*c.in] = u
			}
		}
	}
}

// winogradFilter returns GgGᵀ.
func winogradFilter(g *[winogradWindow]float64) (u [winogradParts]float32) {
	filter := func(a, b, c float64) [winogradSpan]float64 {
		return [...]float64{a, (a + c + b) / 2, (a + c - b) / 2, c}
	}
	var t [WinogradSize][winogradSpan]float64
	for c := range t {
		t[c] = filter(g[c], g[c+WinogradSize], g[c+2*WinogradSize])
	}
	for r := range winogradSpan {
		for c, x := range filter(t[0][r], t[1][r], t[2][r]) {
			u[r*winogradSpan+c] = float32(x)
		}
	}
	return u
}

// WinogradSpace is memory to work in, which grows as needed. One goroutine uses it at a
// time, for any number of convolutions.
type WinogradSpace struct{ in, sums []float32 }

// parts returns memory for the transforms of a number of images, with before channels of
// inputs and after channels of products, and the distance between two parts of each in
// elements.
func (s *WinogradSpace) parts(images, before, after int) (in, sums []float32, inPart, sumsPart int) {
	inPart, sumsPart = images*winogradTiles*before+winogradGap, images*winogradTiles*after+winogradGap
	s.in, s.sums = atLeast(s.in, winogradParts*inPart), atLeast(s.sums, winogradParts*sumsPart)
	return s.in, s.sums, inPart, sumsPart
}

// Apply does what FloatConv.Apply does, for images of a multiple of 16 channels. The
// result has errors of the same order: a tile's differ from the exact ones by at most
// (in+12)·36·2⁻²⁴ times the sum over inputs of the largest magnitude that the tile sees
// times the sum of the magnitudes of the window's weights, and what FloatConv's last
// additions add. An input that is not finite may make all outputs of the tiles that see
// it NaN.
func (c *FloatWinograd) Apply(dst, src, add FloatImages, n int, b Bounds, space *WinogradSpace) {
	t := newImagePass(dst, src, add, n, c.out, c.in, WinogradSize)
	images := min(n, winogradImages)
	in, sums, inPart, sumsPart := space.parts(images, c.in, c.out)
	for first := 0; first < n; first += images {
		count := min(images, n-first)
		for i := range count {
			_, src, _ := t.image(first+i, 0)
			winogradInput(&t, in[i*winogradTiles*c.in:], inPart, src)
		}
		for part := range winogradParts {
			c.multiply(sums[part*sumsPart:], in[part*inPart:], part, count*winogradTiles)
		}
		for i := range count {
			dst, _, add := t.image(first+i, 0)
			winogradOutput(&t, dst, sums[i*winogradTiles*c.out:], sumsPart, c.bias, add, b)
		}
	}
}

// atLeast returns x, or new memory if x has fewer than n elements.
func atLeast(x []float32, n int) []float32 {
	if len(x) < n {
		return alignedFloats(n)
	}
	return x
}

// multiply sets sums to the products of one part of a number of tiles with its weights.
func (c *FloatWinograd) multiply(sums, in []float32, part, tiles int) {
	weights := c.weights[part*c.out*c.in:]
	width := floatPanelWidth()
	for j := 0; j < c.out; j += width {
		first := j / winogradWidth * winogradWidth
		group := min(winogradWidth, c.out-first)
		floatPanelSet(sums[j:], c.out, in, c.in, 1, weights[first*c.in+j-first:], group, tiles, min(width, c.out-j), c.in)
	}
}
