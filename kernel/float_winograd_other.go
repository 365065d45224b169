//go:build !(amd64 || arm64) || purego

package kernel

func winogradInput(t *imagePass, dst []float32, part int, src []float32) {
	winogradInputGeneric(t, dst, part, src)
}

func winogradOutput(t *imagePass, dst, sums []float32, part int, bias, add []float32, b Bounds) {
	winogradOutputGeneric(t, dst, sums, part, bias, add, b)
}

func winogradBack(t *imagePass, dst []float32, part int, d []float32) {
	winogradBackGeneric(t, dst, part, d)
}

func floatPanelSet(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb, m, n, k int) {
	floatPanelSetGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
}
