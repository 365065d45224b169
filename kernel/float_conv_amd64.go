//go:build !purego

package kernel

// floatChannelsFirst returns how many of the channels it has written, a multiple of 8.
func floatChannelsFirst(dst, src []float32, square, row, channels int) (done int) {
	blocks := channels / 8
	if !useAVX2 || blocks == 0 {
		return 0
	}
	floatChannelsFirstAVX2(&dst[0], &src[0], square*floatSize, row*floatSize, blocks)
	return 8 * blocks
}

func floatConv(t *imagePass, dst, src, add, weights, bias []float32, inner, size int, b Bounds) {
	if !useAVX2 {
		floatConvGeneric(t, dst, src, add, weights, bias, inner, size, b)
		return
	}
	const bytes = floatSize
	dstSquare, dstRow, srcSquare, srcRow, step := t.dstSquare*bytes, t.dstRow*bytes, t.srcSquare*bytes, t.srcRow*bytes, len(bias)*bytes
	switch {
	case useAVX512 && len(bias) == convBlock:
		floatConv16AVX512(&dst[0], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, step, inner, size)
	case useAVX512 && len(bias) == 2*convBlock:
		floatConv32AVX512(&dst[0], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, step, inner, size)
	case useAVX512:
		floatConv48AVX512(&dst[0], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, step, inner, size)
	case len(bias) == 3*convBlock: // AVX2 has registers for half of a group
		for j := 0; j < len(bias); j += 24 {
			floatConv24AVX2(&dst[j], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[j], &bias[j], addressOf(add, j), b.Low, b.High, step, inner, size)
		}
	default:
		for j := 0; j < len(bias); j += 16 {
			floatConv16AVX2(&dst[j], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[j], &bias[j], addressOf(add, j), b.Low, b.High, step, inner, size)
		}
	}
}

func floatDepthwise(t *imagePass, dst, src, add, weights, bias []float32, step, size int, b Bounds) {
	const bytes = floatSize
	dstSquare, dstRow, srcSquare, srcRow := t.dstSquare*bytes, t.dstRow*bytes, t.srcSquare*bytes, t.srcRow*bytes
	switch {
	case useAVX512:
		floatDepthwiseAVX512(&dst[0], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, step*bytes, size)
	case useAVX2:
		for j := 0; j < len(bias); j += 8 {
			floatDepthwiseAVX2(&dst[j], dstSquare, dstRow, &src[j], srcSquare, srcRow, &weights[j], &bias[j], addressOf(add, j), b.Low, b.High, step*bytes, size)
		}
	default:
		floatDepthwiseGeneric(t, dst, src, add, weights, bias, step, size, b)
	}
}
