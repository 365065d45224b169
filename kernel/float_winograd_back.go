package kernel

import "fmt"

// FloatWinogradGradient is a FloatConvGradient for a FloatWinograd. Of derivatives d
// with respect to 2×2 outputs it takes AdAᵀ, sums over all tiles the products with the
// BᵀdB of the inputs, and turns the sums u into Gᵀ(u)G at the end. Channels are padded to
// a multiple of 16.
type FloatWinogradGradient struct {
	in, out int
	sums    []float32 // [part][input][output]
}

// NewFloatWinogradGradient returns a sum of zeros for a convolution of that shape.
func NewFloatWinogradGradient(out, in int) *FloatWinogradGradient {
	checkConv(out*in*winogradWindow, 0, out, in, WinogradSize)
	g := &FloatWinogradGradient{in: roundUp(in, convBlock), out: roundUp(out, convBlock)}
	g.sums = alignedFloats(winogradParts * g.out * g.in)
	return g
}

// Clear begins a new sum.
func (g *FloatWinogradGradient) Clear() { clear(g.sums) }

// Add adds what the first n images contribute: src are the inputs, d derivatives
// with respect to the outputs. The border of src has at least one square.
func (g *FloatWinogradGradient) Add(src, d FloatImages, n int, space *WinogradSpace) {
	t := newImagePass(d, src, FloatImages{}, n, g.out, g.in, WinogradSize)
	images := min(n, winogradImages)
	in, back, inPart, backPart := space.parts(images, g.in, g.out)
	for first := 0; first < n; first += images {
		count := min(images, n-first)
		for i := range count {
			d, src, _ := t.image(first+i, 0)
			winogradInput(&t, in[i*winogradTiles*g.in:], inPart, src)
			winogradBack(&t, back[i*winogradTiles*g.out:], backPart, d)
		}
		for part := range winogradParts {
			g.multiply(part, in[part*inPart:], back[part*backPart:], count*winogradTiles)
		}
	}
}

// multiply adds to the sums of one part the products of a number of tiles.
func (g *FloatWinogradGradient) multiply(part int, in, back []float32, tiles int) {
	sums := g.sums[part*g.in*g.out:]
	width := floatPanelWidth()
	for j := 0; j < g.out; j += width {
		floatPanel(sums[j:], g.out, in, 1, g.in, back[j:], g.out, g.in, min(width, g.out-j), tiles)
	}
}

// AddTo does what FloatConvGradient.AddTo does.
func (g *FloatWinogradGradient) AddTo(weights []float32, out, in int) {
	checkConv(len(weights), 0, out, in, WinogradSize)
	if out > g.out || in > g.in {
		panic(fmt.Sprintf("kernel: found %d outputs of %d inputs, expected at most %d of %d", out, in, g.out, g.in))
	}
	each := g.in * g.out
	var u [winogradParts]float64
	for o := range out {
		for i := range in {
			for part := range u {
				u[part] = float64(g.sums[part*each+i*g.out+o])
			}
			w := (*[winogradWindow]float32)(weights[(o*in+i)*winogradWindow:])
			for k, x := range winogradWeights(&u) {
				w[k] += float32(x)
			}
		}
	}
}

// winogradWeights returns GᵀuG. Of the parts of the last row and of the last column, u
// has the negatives, as winogradBack leaves them.
func winogradWeights(u *[winogradParts]float64) (g [winogradWindow]float64) {
	back := func(a, b, c, d float64) [WinogradSize]float64 {
		return [...]float64{a + (b+c)/2, (b - c) / 2, (b+c)/2 - d}
	}
	var t [winogradSpan][WinogradSize]float64
	for c := range t {
		t[c] = back(u[c], u[c+4], u[c+8], u[c+12])
	}
	for r := range WinogradSize {
		for c, x := range back(t[0][r], t[1][r], t[2][r], t[3][r]) {
			g[r*WinogradSize+c] = x
		}
	}
	return g
}
