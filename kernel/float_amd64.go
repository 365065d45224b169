//go:build !purego

package kernel

// The functions of this file choose the level. Slices are not empty, and where
// their lengths must agree they do: the exported functions see to both.

// floatSize is the size of an element in bytes, in which the assembly counts.
const floatSize = 4

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

// The assembly checks indices and gives up at one that is outside, before it
// touches memory there. Its plain twin, called then, panics as Go does.

func floatGatherSum(dst, table []float32, stride int, rows []int32) {
	done, last := false, len(table)-len(dst)
	switch {
	case last < 0:
	case useAVX512:
		done = floatGatherSumAVX512(&dst[0], len(dst), &table[0], stride*floatSize, last*floatSize, &rows[0], len(rows))
	case useAVX2:
		done = floatGatherSumAVX2(&dst[0], len(dst), &table[0], stride*floatSize, last*floatSize, &rows[0], len(rows))
	}
	if !done {
		floatGatherSumGeneric(dst, table, stride, rows)
	}
}

func floatScatterAdd(table, src []float32, stride int, rows []int32) {
	done, last := false, len(table)-len(src)
	switch {
	case last < 0:
	case useAVX512:
		done = floatScatterAddAVX512(&table[0], &src[0], len(src), stride*floatSize, last*floatSize, &rows[0], len(rows))
	case useAVX2:
		done = floatScatterAddAVX2(&table[0], &src[0], len(src), stride*floatSize, last*floatSize, &rows[0], len(rows))
	}
	if !done {
		floatScatterAddGeneric(table, src, stride, rows)
	}
}

func floatClampActive(dst, src []float32, active []int32) []int32 {
	switch {
	case useAVX512:
		return active[:floatClampActiveAVX512(&dst[0], &src[0], &active[0], len(src))]
	case useAVX2:
		return active[:floatClampActiveAVX2(&dst[0], &src[0], &active[0], len(src))]
	}
	return floatClampActiveGeneric(dst, src, active)
}

func floatAffine(dst, w, x []float32, active []int32) {
	done := false
	switch {
	case len(x) == 0:
	case useAVX512:
		done = floatAffineAVX512(&dst[0], len(dst), &w[0], &x[0], len(x), &active[0], len(active))
	case useAVX2:
		done = floatAffineAVX2(&dst[0], len(dst), &w[0], &x[0], len(x), &active[0], len(active))
	}
	if !done {
		floatAffineGeneric(dst, w, x, active)
	}
}

func floatAffineBack(gw, dx, w, x, d []float32, active []int32) {
	const few = 8 // outputs, of which the assembly takes no fewer at once
	if !useAVX2 || len(d) < few || len(x) == 0 ||
		!floatAffineBackAVX2(&gw[0], &dx[0], &w[0], &x[0], &d[0], len(d), len(d)*floatSize, len(x), &active[0], len(active)) {
		floatAffineBackGeneric(gw, dx, w, x, d, active)
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
