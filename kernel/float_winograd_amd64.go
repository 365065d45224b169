//go:build !purego

package kernel

func winogradInput(t *imagePass, dst []float32, part int, src []float32) {
	const bytes = floatSize
	switch {
	case useAVX512:
		winogradInputAVX512(&dst[0], part*bytes, &src[0], t.srcSquare*bytes, t.srcRow*bytes, t.srcSquare/16)
	case useAVX2:
		winogradInputAVX2(&dst[0], part*bytes, &src[0], t.srcSquare*bytes, t.srcRow*bytes, t.srcSquare/8)
	default:
		winogradInputGeneric(t, dst, part, src)
	}
}

func winogradOutput(t *imagePass, dst, sums []float32, part int, bias, add []float32, b Bounds) {
	const bytes = floatSize
	switch {
	case useAVX512:
		winogradOutputAVX512(&dst[0], t.dstSquare*bytes, t.dstRow*bytes, &sums[0], part*bytes, &bias[0], addressOf(add, 0), b.Low, b.High, len(bias)/16)
	case useAVX2:
		winogradOutputAVX2(&dst[0], t.dstSquare*bytes, t.dstRow*bytes, &sums[0], part*bytes, &bias[0], addressOf(add, 0), b.Low, b.High, len(bias)/8)
	default:
		winogradOutputGeneric(t, dst, sums, part, bias, add, b)
	}
}

func winogradBack(t *imagePass, dst []float32, part int, d []float32) {
	const bytes = floatSize
	switch {
	case useAVX512:
		winogradBackAVX512(&dst[0], part*bytes, &d[0], t.dstSquare*bytes, t.dstRow*bytes, t.dstSquare/16)
	case useAVX2:
		winogradBackAVX2(&dst[0], part*bytes, &d[0], t.dstSquare*bytes, t.dstRow*bytes, t.dstSquare/8)
	default:
		winogradBackGeneric(t, dst, part, d)
	}
}

func floatPanelSet(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb, m, n, k int) {
	const size = floatSize
	switch {
	case useAVX512:
		floatPanelSetAVX512(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	case useAVX2:
		floatPanelSetAVX2(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	default:
		floatPanelSetGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}
