//go:build !purego

package kernel

func winogradInput(t *imagePass, dst []float32, part int, src []float32) {
	if !useNEON {
		winogradInputGeneric(t, dst, part, src)
		return
	}
	const bytes = floatSize
	winogradInputNEON(&dst[0], part*bytes, &src[0], t.srcSquare*bytes, t.srcRow*bytes, t.srcSquare/8)
}

func winogradOutput(t *imagePass, dst, sums []float32, part int, bias, add []float32, b Bounds) {
	if !useNEON {
		winogradOutputGeneric(t, dst, sums, part, bias, add, b)
		return
	}
	const bytes = floatSize
	winogradOutputNEON(&dst[0], t.dstSquare*bytes, t.dstRow*bytes, &sums[0], part*bytes, &bias[0], addressOf(add, 0), b.Low, b.High, len(bias)/8)
}

func winogradBack(t *imagePass, dst []float32, part int, d []float32) {
	if !useNEON {
		winogradBackGeneric(t, dst, part, d)
		return
	}
	const bytes = floatSize
	winogradBackNEON(&dst[0], part*bytes, &d[0], t.dstSquare*bytes, t.dstRow*bytes, t.dstSquare/8)
}

func floatPanelSet(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb, m, n, k int) {
	if useNEON {
		floatPanelVectors(c, ldc, a, rowA, colA, b, ldb, m, n, k, panelSet)
	} else {
		floatPanelSetGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}
