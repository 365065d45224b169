//go:build !purego

package kernel

// floatChannelsFirst returns how many of the channels it has written, a multiple of 4.
func floatChannelsFirst(dst, src []float32, square, row, channels int) (done int) {
	blocks := channels / 4
	if !useNEON || blocks == 0 {
		return 0
	}
	floatChannelsFirstNEON(&dst[0], &src[0], square*floatSize, row*floatSize, blocks)
	return 4 * blocks
}

func floatConv(t *imagePass, dst, src, add, weights, bias []float32, inner, size int, b Bounds) {
	if !useNEON {
		floatConvGeneric(t, dst, src, add, weights, bias, inner, size, b)
		return
	}
	const bytes = floatSize
	dstSquare, dstRow, srcSquare, srcRow, step := t.dstSquare*bytes, t.dstRow*bytes, t.srcSquare*bytes, t.srcRow*bytes, len(bias)*bytes
	for j := 0; j < len(bias); j += convBlock {
		floatConv16NEON(&dst[j], dstSquare, dstRow, &src[0], srcSquare, srcRow, &weights[j], &bias[j], addressOf(add, j), b.Low, b.High, step, inner, size)
	}
}

func floatDepthwise(t *imagePass, dst, src, add, weights, bias []float32, step, size int, b Bounds) {
	if !useNEON {
		floatDepthwiseGeneric(t, dst, src, add, weights, bias, step, size, b)
		return
	}
	const bytes = floatSize
	floatDepthwiseNEON(&dst[0], t.dstSquare*bytes, t.dstRow*bytes, &src[0], t.srcSquare*bytes, t.srcRow*bytes,
		&weights[0], &bias[0], addressOf(add, 0), b.Low, b.High, step*bytes, size)
}
