package kernel

import "math"

// The plain kernels. Products are rounded before they are added, by conversions
// that keep the compiler from fusing the two: so they give the same bits on
// every architecture.

func floatMulGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] *= x[i]
	}
}

func floatAddGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += x[i]
	}
}

func floatScaleGeneric(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}

func floatLerpGeneric(dst, x []float32, share float32) {
	x = x[:len(dst)]
	for i, v := range dst {
		dst[i] = v + float32(share*(x[i]-v))
	}
}

func floatMixGeneric(dst, x []float32, a, b float32) {
	x = x[:len(dst)]
	for i, v := range dst {
		dst[i] = float32(a*v) + float32(b*x[i])
	}
}

func floatAddSquaresGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] += float32(v * v)
	}
}

func floatQuantiseGeneric(x []float32, scale, offset float32) {
	step := 1 / scale
	for i, v := range x {
		x[i] = float32(math.RoundToEven(float64(float32(scale*v)+offset))) * step
	}
}

func floatClampGeneric(w []float32, limit float32) {
	for i, v := range w {
		w[i] = min(max(v, -limit), limit)
	}
}

func floatClampSumGeneric(w, base []float32, limit float32) {
	base = base[:len(w)]
	for i, b := range base {
		if s := w[i] + b; s > limit {
			w[i] = limit - b
		} else if s < -limit {
			w[i] = -limit - b
		}
	}
}

func floatClipGeneric(dst, src []float32) {
	for i, v := range src {
		dst[i] = min(max(v, 0), 1)
	}
}

func floatClipBackGeneric(dst, src, d []float32) {
	for i, v := range src {
		x := float32(0)
		if v > 0 && v < 1 {
			x = d[i]
		}
		dst[i] = x
	}
}

func floatSquareClipGeneric(dst, src []float32) {
	for i, v := range src {
		x := min(max(v, 0), 1)
		dst[i] = x * x
	}
}

func floatSquareClipBackGeneric(dst, src, d []float32) {
	for i, v := range src {
		x := float32(0)
		if v > 0 && v < 1 {
			x = (v + v) * d[i]
		}
		dst[i] = x
	}
}

func floatAdamGeneric(w, m, v, g []float32, s *AdamStep) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	b1, b2, c1, c2 := s.Beta1, s.Beta2, 1-s.Beta1, 1-s.Beta2
	for i, x := range g {
		mi := float32(b1*m[i]) + float32(c1*x)
		vi := float32(b2*v[i]) + float32(c2*x*x)
		m[i], v[i] = mi, vi
		w[i] = descend(w[i], mi, vi, s.Keep, s.Rate, s.Epsilon)
	}
}

func floatAdamIdleGeneric(dst, w, m, v []float32, keep, drift, epsilon float32) {
	w, m, v = w[:len(dst)], m[:len(dst)], v[:len(dst)]
	for i := range dst {
		dst[i] = descend(w[i], m[i], v[i], keep, drift, epsilon)
	}
}

func descend(w, m, v, keep, rate, epsilon float32) float32 {
	root := float32(math.Sqrt(float64(v)))
	return float32(keep*w) - float32(rate*m/(root+epsilon))
}

func floatGatherSumGeneric(dst, base, table []float32, stride int, rows []int32) {
	table = table[:len(table):len(table)] // or slices of it could reach into the capacity
	j := 0
	for ; j+8 <= len(dst); j += 8 {
		b, d := base[j:j+8:j+8], dst[j:j+8:j+8]
		a0, a1, a2, a3, a4, a5, a6, a7 := b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
		for _, r := range rows {
			o := int(r)*stride + j
			t := table[o : o+8 : o+8]
			a0 += t[0]
			a1 += t[1]
			a2 += t[2]
			a3 += t[3]
			a4 += t[4]
			a5 += t[5]
			a6 += t[6]
			a7 += t[7]
		}
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = a0, a1, a2, a3, a4, a5, a6, a7
	}
	for ; j < len(dst); j++ {
		a := base[j]
		for _, r := range rows {
			a += table[int(r)*stride+j]
		}
		dst[j] = a
	}
}

// floatPanelGeneric adds A·B to C: m rows, n columns, k products each. Strides
// count elements; C and B lie row by row.
func floatPanelGeneric(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	for i := range m {
		row, left := c[i*ldc:i*ldc+n], a[i*rowA:]
		j := 0
		for ; j+8 <= n; j += 8 {
			d := row[j : j+8 : j+8]
			a0, a1, a2, a3, a4, a5, a6, a7 := d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]
			for q := range k {
				v := left[q*colA]
				r := b[q*ldb+j : q*ldb+j+8 : q*ldb+j+8]
				a0 += float32(v * r[0])
				a1 += float32(v * r[1])
				a2 += float32(v * r[2])
				a3 += float32(v * r[3])
				a4 += float32(v * r[4])
				a5 += float32(v * r[5])
				a6 += float32(v * r[6])
				a7 += float32(v * r[7])
			}
			d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = a0, a1, a2, a3, a4, a5, a6, a7
		}
		for ; j < n; j++ {
			for q := range k {
				row[j] += float32(left[q*colA] * b[q*ldb+j])
			}
		}
	}
}

// floatPanelClipBackGeneric replaces C by A·B where it lies within 0 and 1, by
// zero elsewhere; otherwise as floatPanelGeneric. n ≤ gemmWidth.
func floatPanelClipBackGeneric(c []float32, ldc int, a []float32, rowA, colA int, b []float32, ldb int, m, n, k int) {
	var sums [gemmWidth]float32
	for i := range m {
		d := sums[:n]
		clear(d)
		floatPanelGeneric(d, n, a[i*rowA:], rowA, colA, b, ldb, 1, n, k)
		floatClipBackGeneric(c[i*ldc:i*ldc+n], c[i*ldc:i*ldc+n], d)
	}
}
