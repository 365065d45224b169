//go:build !purego

package kernel

// The functions of this file choose the level. Slices are not empty, and where
// their lengths must agree they do: the exported functions see to both.

func floatMul(dst, x []float32) {
	if useNEON {
		floatMulNEON(&dst[0], &x[0], len(dst))
	} else {
		floatMulGeneric(dst, x)
	}
}

func floatAdd(dst, x []float32) {
	if useNEON {
		floatAddNEON(&dst[0], &x[0], len(dst))
	} else {
		floatAddGeneric(dst, x)
	}
}

func floatScale(x []float32, f float32) {
	if useNEON {
		floatScaleNEON(&x[0], len(x), f)
	} else {
		floatScaleGeneric(x, f)
	}
}

func floatLerp(dst, x []float32, share float32) {
	if useNEON {
		floatLerpNEON(&dst[0], &x[0], len(dst), share)
	} else {
		floatLerpGeneric(dst, x, share)
	}
}

func floatMix(dst, x []float32, a, b float32) {
	if useNEON {
		floatMixNEON(&dst[0], &x[0], len(dst), a, b)
	} else {
		floatMixGeneric(dst, x, a, b)
	}
}

func floatAddSquares(dst, x []float32) {
	if useNEON {
		floatAddSquaresNEON(&dst[0], &x[0], len(dst))
	} else {
		floatAddSquaresGeneric(dst, x)
	}
}

func floatQuantise(x []float32, scale, offset float32) {
	if useNEON {
		floatQuantiseNEON(&x[0], len(x), scale, offset, 1/scale)
	} else {
		floatQuantiseGeneric(x, scale, offset)
	}
}

func floatClamp(w []float32, limit float32) {
	if useNEON {
		floatClampNEON(&w[0], len(w), -limit, limit)
	} else {
		floatClampGeneric(w, limit)
	}
}

func floatClampSum(w, base []float32, limit float32) {
	if useNEON {
		floatClampSumNEON(&w[0], &base[0], len(w), -limit, limit)
	} else {
		floatClampSumGeneric(w, base, limit)
	}
}

func floatClip(dst, src []float32) {
	if useNEON {
		floatClipNEON(&dst[0], &src[0], len(dst))
	} else {
		floatClipGeneric(dst, src)
	}
}

func floatSquareClip(dst, src []float32) {
	if useNEON {
		floatSquareClipNEON(&dst[0], &src[0], len(dst))
	} else {
		floatSquareClipGeneric(dst, src)
	}
}

func floatClipBack(dst, src, d []float32) {
	if useNEON {
		floatClipBackNEON(&dst[0], &src[0], &d[0], len(dst))
	} else {
		floatClipBackGeneric(dst, src, d)
	}
}

func floatSquareClipBack(dst, src, d []float32) {
	if useNEON {
		floatSquareClipBackNEON(&dst[0], &src[0], &d[0], len(dst))
	} else {
		floatSquareClipBackGeneric(dst, src, d)
	}
}

func floatAdam(w, m, v, g []float32, s *AdamStep) {
	if useNEON {
		floatAdamNEON(&w[0], &m[0], &v[0], &g[0], len(w), s.Beta1, s.Beta2, 1-s.Beta1, 1-s.Beta2, s.Rate, s.Epsilon, s.Keep)
	} else {
		floatAdamGeneric(w, m, v, g, s)
	}
}

func floatAdamIdle(dst, w, m, v []float32, keep, drift, epsilon float32) {
	if useNEON {
		floatAdamIdleNEON(&dst[0], &w[0], &m[0], &v[0], len(dst), keep, drift, epsilon)
	} else {
		floatAdamIdleGeneric(dst, w, m, v, keep, drift, epsilon)
	}
}

// floatGatherSum leaves it to the assembly to check indices. That gives up at one
// that is outside, before it touches memory there; its plain twin, called then,
// panics as Go does.
func floatGatherSum(dst, base, table []float32, stride int, rows []int32) {
	last := len(table) - len(dst)
	if !useNEON || last < 0 ||
		!floatGatherSumNEON(&dst[0], &base[0], len(dst), &table[0], stride*floatSize, last*floatSize, &rows[0], len(rows)) {
		floatGatherSumGeneric(dst, base, table, stride, rows)
	}
}

// floatPanelWidth returns how many columns a panel has at most. The assembly
// reads B's rows in half a panel or all of it.
func floatPanelWidth() int {
	if useNEON {
		return panelWidth
	}
	return gemmWidth
}

const panelWidth = 16

func floatPanel(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	if useNEON {
		floatPanelVectors(c, ldc, a, rowA, colA, b, ldb, m, n, k, panelAdd)
	} else {
		floatPanelGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}

func floatPanelClipBack(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	if useNEON {
		floatPanelVectors(c, ldc, a, rowA, colA, b, ldb, m, n, k, panelClipBack)
	} else {
		floatPanelClipBackGeneric(c, ldc, a, rowA, colA, b, ldb, m, n, k)
	}
}

// panelKind is what a panel does with its products.
type panelKind int

const (
	panelAdd panelKind = iota
	panelSet
	panelClipBack
)

// floatPanelVectors is the panel in assembly, which takes half a panel or all of
// it: of others, C's rows are copied, and B's rows are longer than that.
func floatPanelVectors(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int, kind panelKind) {
	const size, rows = floatSize, 24
	assembly := func(c []float32, ldc int, a []float32, m, n int) {
		switch kind {
		case panelSet:
			floatPanelSetNEON(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
		case panelClipBack:
			floatPanelClipBackNEON(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
		default:
			floatPanelNEON(&c[0], ldc*size, &a[0], rowA*size, colA*size, &b[0], ldb*size, m, n, k)
		}
	}
	width := panelWidth / 2
	if n > width {
		width = panelWidth
	}
	if n == width {
		assembly(c, ldc, a, m, n)
		return
	}
	var part [rows * panelWidth]float32
	for i := 0; i < m; i += rows {
		height := min(rows, m-i)
		for r := range height {
			copy(part[r*width:], c[(i+r)*ldc:][:n])
		}
		assembly(part[:], width, a[i*rowA:], height, width)
		for r := range height {
			copy(c[(i+r)*ldc:][:n], part[r*width:])
		}
	}
}
