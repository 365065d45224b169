//go:build !purego

package kernel

func byteConv(t *imagePass, dst []float32, src []uint8, add []float32, weights []int8, bias, scales []float32, inner, size int, b Bounds) {
	if !useAVX2 {
		byteConvGeneric(t, dst, src, add, weights, bias, scales, inner, size, b)
		return
	}
	// The assembly counts in groups of four inputs, which are as large as a float.
	const bytes = floatSize
	groups, step := inner/4, len(bias)*bytes
	dstSquare, dstRow := t.dstSquare*bytes, t.dstRow*bytes
	switch {
	case useAVX512 && len(bias) == convBlock:
		byteConv16AVX512(&dst[0], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, &scales[0], step, groups, size)
	case useAVX512 && len(bias) == 2*convBlock:
		byteConv32AVX512(&dst[0], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, &scales[0], step, groups, size)
	case useAVX512:
		byteConv48AVX512(&dst[0], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, &scales[0], step, groups, size)
	default:
		for j := 0; j < len(bias); j += 16 {
			byteConv16AVX2(&dst[j], dstSquare, dstRow, &src[0], t.srcSquare, t.srcRow, &weights[4*j], &bias[j], addressOf(add, j), b.Low, b.High, &scales[j], step, groups, size)
		}
	}
}

func byteQuantise(dst []uint8, src []float32, scale float32, zero uint8) {
	switch {
	case useAVX512 && len(dst)%64 == 0:
		byteQuantiseAVX512(&dst[0], &src[0], len(dst), scale, uint32(zero))
	case useAVX2:
		byteQuantiseAVX2(&dst[0], &src[0], len(dst), scale, uint32(zero))
	default:
		byteQuantiseGeneric(dst, src, scale, zero)
	}
}
