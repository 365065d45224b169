//go:build !purego

package kernel

func byteConv(t *imagePass, r *byteRows, b Bounds) {
	if !useAVX2 {
		byteConvGeneric(t, r, b)
		return
	}
	// The assembly counts in groups of four inputs, which are as large as a float.
	const bytes = floatSize
	groups, outer, step := r.inner/4, r.outer/4, len(r.bias)*bytes
	dstSquare, dstRow := t.dstSquare*bytes, t.dstRow*bytes
	switch {
	case useAVX512 && len(r.bias) == convBlock:
		byteConv16AVX512(&r.dst[0], dstSquare, dstRow, &r.src[0], t.srcSquare, t.srcRow, &r.weights[0], &r.bias[0], addressOf(r.add, 0), b.Low, b.High, &r.scales[0], step, groups, r.size, r.rows, outer)
	case useAVX512 && len(r.bias) == 2*convBlock:
		byteConv32AVX512(&r.dst[0], dstSquare, dstRow, &r.src[0], t.srcSquare, t.srcRow, &r.weights[0], &r.bias[0], addressOf(r.add, 0), b.Low, b.High, &r.scales[0], step, groups, r.size, r.rows, outer)
	case useAVX512:
		byteConv48AVX512(&r.dst[0], dstSquare, dstRow, &r.src[0], t.srcSquare, t.srcRow, &r.weights[0], &r.bias[0], addressOf(r.add, 0), b.Low, b.High, &r.scales[0], step, groups, r.size, r.rows, outer)
	default:
		for j := 0; j < len(r.bias); j += 16 {
			byteConv16AVX2(&r.dst[j], dstSquare, dstRow, &r.src[0], t.srcSquare, t.srcRow, &r.weights[4*j], &r.bias[j], addressOf(r.add, j), b.Low, b.High, &r.scales[j], step, groups, r.size, r.rows, outer)
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
