//go:build !purego

package kernel

// byteConv has no use for r.outer: it reads whole rows of the windows.
func byteConv(t *imagePass, r *byteRows, b Bounds) {
	if !useNEON {
		byteConvGeneric(t, r, b)
		return
	}
	// The assembly counts in groups of four inputs, which are as large as a float.
	const bytes = floatSize
	groups, step := r.inner/4, len(r.bias)*bytes
	dstSquare, dstRow := t.dstSquare*bytes, t.dstRow*bytes
	for j := 0; j < len(r.bias); j += convBlock {
		conv := byteConv16NEON
		if useDotProd {
			conv = byteConv16DotProd
		}
		conv(&r.dst[j], dstSquare, dstRow, &r.src[0], t.srcSquare, t.srcRow, &r.weights[4*j], &r.bias[j], addressOf(r.add, j), b.Low, b.High, &r.scales[j], step, groups, r.size, r.rows)
	}
}

func byteQuantise(dst []uint8, src []float32, scale float32, zero uint8) {
	if useNEON {
		byteQuantiseNEON(&dst[0], &src[0], len(dst), scale, uint32(zero))
	} else {
		byteQuantiseGeneric(dst, src, scale, zero)
	}
}
