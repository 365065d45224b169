//go:build !(amd64 || arm64) || purego

package kernel

func byteConv(t *imagePass, dst []float32, src []uint8, add []float32, weights []int8, bias, scales []float32, inner, size int, b Bounds) {
	byteConvGeneric(t, dst, src, add, weights, bias, scales, inner, size, b)
}

func byteQuantise(dst []uint8, src []float32, scale float32, zero uint8) {
	byteQuantiseGeneric(dst, src, scale, zero)
}
