//go:build !(amd64 || arm64) || purego

package kernel

func floatAdd(dst, x []float32)               { floatAddGeneric(dst, x) }
func floatMul(dst, x []float32)               { floatMulGeneric(dst, x) }
func floatScale(x []float32, f float32)       { floatScaleGeneric(x, f) }
func floatLerp(dst, x []float32, s float32)   { floatLerpGeneric(dst, x, s) }
func floatMix(dst, x []float32, a, b float32) { floatMixGeneric(dst, x, a, b) }
func floatAddSquares(dst, x []float32)        { floatAddSquaresGeneric(dst, x) }
func floatQuantise(x []float32, s, o float32) { floatQuantiseGeneric(x, s, o) }
func floatClamp(w []float32, limit float32)   { floatClampGeneric(w, limit) }
func floatClampSum(w, b []float32, l float32) { floatClampSumGeneric(w, b, l) }

func floatClip(dst, src []float32)              { floatClipGeneric(dst, src) }
func floatClipBack(dst, src, d []float32)       { floatClipBackGeneric(dst, src, d) }
func floatSquareClip(dst, src []float32)        { floatSquareClipGeneric(dst, src) }
func floatSquareClipBack(dst, src, d []float32) { floatSquareClipBackGeneric(dst, src, d) }

func floatAdam(w, m, v, g []float32, s *AdamStep) { floatAdamGeneric(w, m, v, g, s) }

func floatAdamIdle(dst, w, m, v []float32, keep, drift, epsilon float32) {
	floatAdamIdleGeneric(dst, w, m, v, keep, drift, epsilon)
}

func floatGatherSum(dst, base, table []float32, stride int, rows []int32) {
	floatGatherSumGeneric(dst, base, table, stride, rows)
}

func floatPanelWidth() int { return gemmWidth }

func floatPanel(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	floatPanelGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
}

func floatPanelClipBack(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	floatPanelClipBackGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
}
