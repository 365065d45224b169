//go:build !(amd64 || arm64) || purego

package kernel

func floatChannelsFirst(dst, src []float32, square, row, channels int) (done int) { return 0 }

func floatConv(t *imagePass, dst, src, add, weights, bias []float32, inner, size int, b Bounds) {
	floatConvGeneric(t, dst, src, add, weights, bias, inner, size, b)
}

func floatDepthwise(t *imagePass, dst, src, add, weights, bias []float32, step, size int, b Bounds) {
	floatDepthwiseGeneric(t, dst, src, add, weights, bias, step, size, b)
}
