//go:build !(amd64 || arm64) || purego

package kernel

func byteConv(t *imagePass, r *byteRows, b Bounds) { byteConvGeneric(t, r, b) }

func byteQuantise(dst []uint8, src []float32, scale float32, zero uint8) {
	byteQuantiseGeneric(dst, src, scale, zero)
}
