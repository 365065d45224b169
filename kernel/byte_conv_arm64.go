//go:build !purego

package kernel

func byteConv(t *imagePass, dst []float32, src []uint8, add []float32, weights []int8, bias, scales []float32, inner, size int, b Bounds) {
	if !useNEON {
		byteConvGeneric(t, dst, src, add, weights, bias, scales, inner, size, b)
		return
	}
	// The assembly counts in groups of four inputs, which are as large as a float.
	const bytes = floatSize
	groups, step := inner/4, len(bias)*bytes
	dstSquare, dstRow := t.dstSquare*bytes, t.dstRow*bytes
	for j := 0; j < len(bias); j += convBlock {
		if useDotProd {
			byteConv16DotProd(&dst[j], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[4*j], &bias[j], addressOf(add, j), b.Low, b.High, &scales[j], step, groups, size)
		} else {
			byteConv16NEON(&dst[j], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[4*j], &bias[j], addressOf(add, j), b.Low, b.High, &scales[j], step, groups, size)
		}
	}
}

func byteQuantise(dst []uint8, src []float32, scale float32, zero uint8) {
	if useNEON {
		byteQuantiseNEON(&dst[0], &src[0], len(dst), scale, uint32(zero))
	} else {
		byteQuantiseGeneric(dst, src, scale, zero)
	}
}
