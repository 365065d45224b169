//go:build !purego

package kernel

// The functions of this file choose the level. Slices are not empty, and where
// their lengths must agree they do: the exported functions see to both.

func floatMul(dst, x []float32) {
	switch {
	case useAVX512:
		floatMulAVX512(&dst[0], &x[0], len(dst))
	case useAVX2:
		floatMulAVX2(&dst[0], &x[0], len(dst))
	default:
		floatMulGeneric(dst, x)
	}
}

func floatAdd(dst, x []float32) {
	switch {
	case useAVX512:
		floatAddAVX512(&dst[0], &x[0], len(dst))
	case useAVX2:
		floatAddAVX2(&dst[0], &x[0], len(dst))
	default:
		floatAddGeneric(dst, x)
	}
}

func floatScale(x []float32, f float32) {
	switch {
	case useAVX512:
		floatScaleAVX512(&x[0], len(x), f)
	case useAVX2:
		floatScaleAVX2(&x[0], len(x), f)
	default:
		floatScaleGeneric(x, f)
	}
}

func floatLerp(dst, x []float32, share float32) {
	switch {
	case useAVX512:
		floatLerpAVX512(&dst[0], &x[0], len(dst), share)
	case useAVX2:
		floatLerpAVX2(&dst[0], &x[0], len(dst), share)
	default:
		floatLerpGeneric(dst, x, share)
	}
}

func floatMix(dst, x []float32, a, b float32) {
	switch {
	case useAVX512:
		floatMixAVX512(&dst[0], &x[0], len(dst), a, b)
	case useAVX2:
		floatMixAVX2(&dst[0], &x[0], len(dst), a, b)
	default:
		floatMixGeneric(dst, x, a, b)
	}
}

func floatAddSquares(dst, x []float32) {
	switch {
	case useAVX512:
		floatAddSquaresAVX512(&dst[0], &x[0], len(dst))
	case useAVX2:
		floatAddSquaresAVX2(&dst[0], &x[0], len(dst))
	default:
		floatAddSquaresGeneric(dst, x)
	}
}

func floatQuantise(x []float32, scale, offset float32) {
	switch {
	case useAVX512:
		floatQuantiseAVX512(&x[0], len(x), scale, offset, 1/scale)
	case useAVX2:
		floatQuantiseAVX2(&x[0], len(x), scale, offset, 1/scale)
	default:
		floatQuantiseGeneric(x, scale, offset)
	}
}

func floatClamp(w []float32, limit float32) {
	switch {
	case useAVX512:
		floatClampAVX512(&w[0], len(w), -limit, limit)
	case useAVX2:
		floatClampAVX2(&w[0], len(w), -limit, limit)
	default:
		floatClampGeneric(w, limit)
	}
}

func floatClampSum(w, base []float32, limit float32) {
	switch {
	case useAVX512:
		floatClampSumAVX512(&w[0], &base[0], len(w), -limit, limit)
	case useAVX2:
		floatClampSumAVX2(&w[0], &base[0], len(w), -limit, limit)
	default:
		floatClampSumGeneric(w, base, limit)
	}
}

func floatClip(dst, src []float32) {
	switch {
	case useAVX512:
		floatClipAVX512(&dst[0], &src[0], len(dst))
	case useAVX2:
		floatClipAVX2(&dst[0], &src[0], len(dst))
	default:
		floatClipGeneric(dst, src)
	}
}

func floatSquareClip(dst, src []float32) {
	switch {
	case useAVX512:
		floatSquareClipAVX512(&dst[0], &src[0], len(dst))
	case useAVX2:
		floatSquareClipAVX2(&dst[0], &src[0], len(dst))
	default:
		floatSquareClipGeneric(dst, src)
	}
}

func floatClipBack(dst, src, d []float32) {
	switch {
	case useAVX512:
		floatClipBackAVX512(&dst[0], &src[0], &d[0], len(dst))
	case useAVX2:
		floatClipBackAVX2(&dst[0], &src[0], &d[0], len(dst))
	default:
		floatClipBackGeneric(dst, src, d)
	}
}

func floatSquareClipBack(dst, src, d []float32) {
	switch {
	case useAVX512:
		floatSquareClipBackAVX512(&dst[0], &src[0], &d[0], len(dst))
	case useAVX2:
		floatSquareClipBackAVX2(&dst[0], &src[0], &d[0], len(dst))
	default:
		floatSquareClipBackGeneric(dst, src, d)
	}
}

func floatAdam(w, m, v, g []float32, s *AdamStep) {
	switch {
	case useAVX512:
		floatAdamAVX512(&w[0], &m[0], &v[0], &g[0], len(w), s.Beta1, s.Beta2, 1-s.Beta1, 1-s.Beta2, s.Rate, s.Epsilon, s.Keep)
	case useAVX2:
		floatAdamAVX2(&w[0], &m[0], &v[0], &g[0], len(w), s.Beta1, s.Beta2, 1-s.Beta1, 1-s.Beta2, s.Rate, s.Epsilon, s.Keep)
	default:
		floatAdamGeneric(w, m, v, g, s)
	}
}

func floatAdamIdle(dst, w, m, v []float32, keep, drift, epsilon float32) {
	switch {
	case useAVX512:
		floatAdamIdleAVX512(&dst[0], &w[0], &m[0], &v[0], len(dst), keep, drift, epsilon)
	case useAVX2:
		floatAdamIdleAVX2(&dst[0], &w[0], &m[0], &v[0], len(dst), keep, drift, epsilon)
	default:
		floatAdamIdleGeneric(dst, w, m, v, keep, drift, epsilon)
	}
}

// floatGatherSum leaves it to the assembly to check indices. That gives up at one
// that is outside, before it touches memory there; its plain twin, called then,
// panics as Go does.
func floatGatherSum(dst, base, table []float32, stride int, rows []int32) {
	done, last := false, len(table)-len(dst)
	switch {
	case last < 0:
	case useAVX512:
		done = floatGatherSumAVX512(&dst[0], &base[0], len(dst), &table[0], stride*floatSize, last*floatSize, &rows[0], len(rows))
	case useAVX2:
		done = floatGatherSumAVX2(&dst[0], &base[0], len(dst), &table[0], stride*floatSize, last*floatSize, &rows[0], len(rows))
	}
	if !done {
		floatGatherSumGeneric(dst, base, table, stride, rows)
	}
}

// floatPanelWidth returns how many columns a panel has at most. The assembly
// reads B's rows in whole vectors, half a panel or all of it.
func floatPanelWidth() int {
	if useAVX2 && !useAVX512 {
		return 16
	}
	return gemmWidth
}

func floatPanel(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	const size = floatSize
	switch {
	case useAVX512:
		floatPanelAVX512(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	case useAVX2:
		floatPanelAVX2(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	default:
		floatPanelGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}

func floatPanelClipBack(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	const size = floatSize
	switch {
	case useAVX512:
		floatPanelClipBackAVX512(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	case useAVX2:
		floatPanelClipBackAVX2(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
	default:
		floatPanelClipBackGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}
