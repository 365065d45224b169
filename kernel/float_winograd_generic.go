package kernel

// winogradInputGeneric writes BᵀdB of every tile of an image, whose windows begin at
// src. Parts are part elements apart.
func winogradInputGeneric(t *imagePass, dst []float32, part int, src []float32) {
	channels := t.srcSquare
	for tile := range winogradTiles {
		at := tile/winogradAcross*winogradTile*t.srcRow + tile%winogradAcross*winogradTile*t.srcSquare
		for c := range channels {
			var d [winogradParts]float32
			for i := range d {
				d[i] = src[at+i/winogradSpan*t.srcRow+i%winogradSpan*t.srcSquare+c]
			}
			for i := range winogradSpan { // down the columns
				d[i], d[4+i], d[8+i], d[12+i] = winogradInput4(d[i], d[4+i], d[8+i], d[12+i])
			}
			for i := 0; i < winogradParts; i += winogradSpan { // along the rows
				d[i], d[i+1], d[i+2], d[i+3] = winogradInput4(d[i], d[i+1], d[i+2], d[i+3])
			}
			for i, x := range d {
				dst[i*part+tile*channels+c] = x
			}
		}
	}
}

// winogradInput4 is Bᵀ of one column.
func winogradInput4(a, b, c, d float32) (float32, float32, float32, float32) {
	return a - c, b + c, c - b, b - d
}

// winogradOutputGeneric writes AᵀmA of the sums of every tile of an image. Parts are
// part elements apart.
func winogradOutputGeneric(t *imagePass, dst, sums []float32, part int, bias, add []float32, b Bounds) {
	channels := len(bias)
	for tile := range winogradTiles {
		for c := range channels {
			var m [winogradParts]float32
			for i := range m {
				m[i] = sums[i*part+tile*channels+c]
			}
			for i := range winogradSpan {
				m[i], m[4+i] = winogradOutput4(m[i], m[4+i], m[8+i], m[12+i])
			}
			for row := range winogradTile {
				var out [winogradTile]float32
				out[0], out[1] = winogradOutput4(m[4*row], m[4*row+1], m[4*row+2], m[4*row+3])
				for column, x := range out {
					at := (tile/winogradAcross*winogradTile+row)*t.dstRow + (tile%winogradAcross*winogradTile+column)*t.dstSquare + c
					y, before := [1]float32{x + bias[c]}, [1]float32{}
					if add != nil {
						before[0] = add[at]
					}
					finishGeneric(y[:], before[:], add != nil, b)
					dst[at] = y[0]
				}
			}
		}
	}
}

// winogradOutput4 is Aᵀ of one column.
func winogradOutput4(a, b, c, d float32) (float32, float32) { return a + b + c, b - c - d }

// winogradBackGeneric writes AdAᵀ of the 2×2 derivatives d of every tile of an image,
// the negatives of the last row and the last column. Parts are part elements apart.
func winogradBackGeneric(t *imagePass, dst []float32, part int, d []float32) {
	channels := t.dstSquare
	for tile := range winogradTiles {
		at := tile/winogradAcross*winogradTile*t.dstRow + tile%winogradAcross*winogradTile*t.dstSquare
		for c := range channels {
			left, right := winogradBack2(d[at+c], d[at+t.dstRow+c]), winogradBack2(d[at+t.dstSquare+c], d[at+t.dstRow+t.dstSquare+c])
			for row := range winogradSpan {
				for column, x := range winogradBack2(left[row], right[row]) {
					dst[(row*winogradSpan+column)*part+tile*channels+c] = x
				}
			}
		}
	}
}

// winogradBack2 is A of two, the negative of the last.
func winogradBack2(a, b float32) [winogradSpan]float32 {
	return [...]float32{a, a + b, a - b, b}
}

// floatPanelSetGeneric sets m rows of n columns of C to A·B. It adds to zeros, which gives
// the same bits.
func floatPanelSetGeneric(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb, m, n, k int) {
	for i := range m {
		clear(c[i*ldc : i*ldc+n])
	}
	floatPanel(c, ldc, a, rowA, colA, b, ldb, m, n, k)
}
