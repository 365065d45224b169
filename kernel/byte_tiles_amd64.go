//go:build !purego

package kernel

// AMX multiplies tiles: matrices of up to 16 rows of 64 bytes. A row of the first is 64
// inputs of one square, a column of the second the weights that an output has for them,
// and of the sums, 32 bits each, a row is a square and a column an output.
const (
	tileRows     = 16
	tileRowBytes = 64
	tileBytes    = tileRows * tileRowBytes
)

// byteTiles are a ByteConv's weights in the order of AMX's tiles, if this machine has
// them:
//
//	[one or two blocks of outputs][row][block of inputs][block of outputs][tile]
//
// and of a tile [input / 4][output][input mod 4]. A row of a window is squares that lie
// one after the other, cut into blocks of 64 bytes. The last block ends with the row: what it
// shares with the block before has weights of zero there.
type byteTiles struct {
	weights []int8
	config  tileConfig
	blocks  int // of a row
	last    int // where the last one begins
}

// tileConfig is what LDTILECFG reads.
type tileConfig struct {
	palette  uint8
	_        [15]uint8 // where to go on after a fault: from the start
	rowBytes [16]uint16
	rows     [16]uint8
}

func (b *byteTiles) arrange(c *ByteConv) {
	if best < AMX {
		return
	}
	row := c.size * c.in
	inner := min(row, tileRowBytes)
	b.blocks = (row + tileRowBytes - 1) / tileRowBytes
	b.last = row - inner
	b.config = tileConfig{palette: 1}
	for i := range 4 {
		b.config.rows[i], b.config.rowBytes[i] = tileRows, tileRowBytes // sums
	}
	for i := 4; i < 6; i++ {
		b.config.rows[i], b.config.rowBytes[i] = tileRows, uint16(inner) // inputs
		b.config.rows[i+2], b.config.rowBytes[i+2] = uint8(inner/4), tileRowBytes
	}
	b.weights = alignedWeights(c.out / convBlock * c.size * b.blocks * tileBytes)
	for o := range c.out {
		for k := range c.size * row {
			b.weights[b.index(c, o, k/row, k%row)] = c.weights[c.index(o, k)]
		}
	}
}

// index is where the weight of an output for byte k of a row of the window lies.
func (b *byteTiles) index(c *ByteConv, o, row, k int) int {
	block := k / tileRowBytes
	k -= min(block*tileRowBytes, b.last)
	first, width := tileGroup(o/convBlock, c.out/convBlock)
	tile := first*c.size*b.blocks + (row*b.blocks+block)*width + o/convBlock - first
	return tile*tileBytes + k/4*tileRowBytes + o%convBlock*4 + k%4
}

// tileGroup says which blocks of outputs are computed together: the first and how many.
func tileGroup(block, blocks int) (first, width int) {
	first = block &^ 1
	return first, min(2, blocks-first)
}

// tileSums is how many sums a ByteSpace holds: of two places by two blocks of outputs.
const tileSums = 2 * tileRows * 2 * convBlock

// applyTiles does Apply by AMX and returns true, or returns false.
//
// Tiles take 16 squares one after the other, without a gap between rows: what they compute
// of the border is not used. The last 16 end with the last square of the image, so that
// nothing behind it is read.
func (c *ByteConv) applyTiles(t *imagePass, src []uint8, n int, b Bounds, space *ByteSpace) bool {
	if !useAMX {
		return false
	}
	if len(space.sums) < tileSums {
		space.sums = make([]int32, tileSums)
	}
	const bytes = floatSize
	dstSquare := t.dstSquare * bytes
	dstSkip := t.dstRow*bytes - ImageSide*dstSquare
	border := 2 * t.src.Border
	squares := (ImageSide-1)*(ImageSide+border) + ImageSide
	w := &c.tiles
	for block := 0; block < c.out/convBlock; {
		_, width := tileGroup(block, c.out/convBlock)
		first, weights := block*convBlock, &w.weights[block*c.size*w.blocks*tileBytes]
		conv := byteConv16AMX
		if width == 2 {
			conv = byteConv32AMX
		}
		for i := range n {
			dst, add := t.out(i, first)
			conv(&w.config.palette, &dst[0], dstSquare, dstSkip, &src[i*t.src.Stride()+t.start], t.srcSquare, t.srcRow, weights, w.last, c.size,
				&space.sums[0], squares, border, &c.bias[first], &c.scales[first], addressOf(add, 0), b.Low, b.High)
		}
		block += width
	}
	return true
}
