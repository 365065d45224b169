package kernel

import "math"

// The plain kernels. Products are rounded before they are added, by conversions
// that keep the compiler from fusing the two: so they give the same bits on
// every architecture.

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

func floatGatherSumGeneric(dst, table []float32, stride int, rows []int32) {
	table = table[:len(table):len(table)] // or slices of it could reach into the capacity
	j := 0
	for ; j+8 <= len(dst); j += 8 {
		d := dst[j : j+8 : j+8]
		a0, a1, a2, a3, a4, a5, a6, a7 := d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]
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
		a := dst[j]
		for _, r := range rows {
			a += table[int(r)*stride+j]
		}
		dst[j] = a
	}
}

func floatScatterAddGeneric(table, src []float32, stride int, rows []int32) {
	table = table[:len(table):len(table)]
	for _, r := range rows {
		o := int(r) * stride
		floatAddGeneric(table[o:o+len(src)], src)
	}
}

func floatClampActiveGeneric(dst, src []float32, active []int32) []int32 {
	dst, active = dst[:len(src)], active[:len(src)]
	n := 0
	for i, v := range src {
		c := min(max(v, 0), 1)
		dst[i] = c
		active[n] = int32(i)
		// Half the elements are negative, which no branch predictor foresees.
		// All bits of c are zero for them.
		n += int((uint64(math.Float32bits(c)) + math.MaxUint32) >> 32)
	}
	return active[:n]
}

func floatAffineGeneric(dst, w, x []float32, active []int32) {
	n := len(dst)
	o := 0
	for ; o+8 <= n; o += 8 {
		d := dst[o : o+8 : o+8]
		a0, a1, a2, a3, a4, a5, a6, a7 := d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]
		for _, k := range active {
			v := x[k]
			p := int(k)*n + o
			r := w[p : p+8 : p+8]
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
	for ; o < n; o++ {
		a := dst[o]
		for _, k := range active {
			a += float32(x[k] * w[int(k)*n+o])
		}
		dst[o] = a
	}
}

// floatAffineBackGeneric adds to dx what FloatAffineBack writes there.
func floatAffineBackGeneric(gw, dx, w, x, d []float32, active []int32) {
	n := len(d)
	o := 0
	for ; o+8 <= n; o += 8 {
		e := d[o : o+8 : o+8]
		d0, d1, d2, d3, d4, d5, d6, d7 := e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]
		for _, k := range active {
			v := x[k]
			p := int(k)*n + o
			g, r := gw[p:p+8:p+8], w[p:p+8:p+8]
			g[0] += float32(v * d0)
			g[1] += float32(v * d1)
			g[2] += float32(v * d2)
			g[3] += float32(v * d3)
			g[4] += float32(v * d4)
			g[5] += float32(v * d5)
			g[6] += float32(v * d6)
			g[7] += float32(v * d7)
			dx[k] += ((float32(d0*r[0]) + float32(d1*r[1])) + (float32(d2*r[2]) + float32(d3*r[3]))) +
				((float32(d4*r[4]) + float32(d5*r[5])) + (float32(d6*r[6]) + float32(d7*r[7])))
		}
	}
	for ; o < n; o++ {
		for _, k := range active {
			p := int(k)*n + o
			gw[p] += float32(x[k] * d[o])
			dx[k] += float32(d[o] * w[p])
		}
	}
	for _, k := range active {
		if x[k] >= 1 {
			dx[k] = 0
		}
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
