package kernel

// unroll is the number of lanes handled per loop iteration. Eight values stay
// in registers while all rows of a call pass over them.
const unroll = 8

// applyGeneric is Apply in plain Go.
func (r *Rows) applyGeneric(to, from *byte, added, removed []int32) {
	dst, src := Row{to, &r.shape}, Row{from, &r.shape}
	applySlices(dst.Lanes(), src.Lanes(), added, removed, r.LanesOf)
	if r.sums > 0 {
		applySlices(dst.Sums(), src.Sums(), added, removed, r.SumsOf)
	}
}

// applySlices sets dst = src + (rows in added) - (rows in removed).
func applySlices[T int16 | int32](dst, src []T, added, removed []int32, row func(i int) []T) {
	switch {
	case len(added) == 1 && len(removed) == 1:
		addSubtract(dst, src, row(int(added[0])), row(int(removed[0])))
		return
	case len(added) == 2 && len(removed) == 2:
		addSubtract2(dst, src, row(int(added[0])), row(int(added[1])), row(int(removed[0])), row(int(removed[1])))
		return
	}
	copy(dst, src)
	for len(added) > 0 && len(removed) > 0 {
		addSubtract(dst, dst, row(int(added[0])), row(int(removed[0])))
		added, removed = added[1:], removed[1:]
	}
	for ; len(added) >= 2; added = added[2:] {
		add2(dst, row(int(added[0])), row(int(added[1])))
	}
	for _, i := range added {
		for j, v := range row(int(i)) {
			dst[j] += v
		}
	}
	for _, i := range removed {
		for j, v := range row(int(i)) {
			dst[j] -= v
		}
	}
}

// addSubtract sets dst = src + a - b: a quiet move.
func addSubtract[T int16 | int32](dst, src, a, b []T) {
	src, a, b = src[:len(dst)], a[:len(dst)], b[:len(dst)]
	for len(dst) >= unroll {
		d, s, x, y := (*[unroll]T)(dst), (*[unroll]T)(src), (*[unroll]T)(a), (*[unroll]T)(b)
		d[0] = s[0] + x[0] - y[0]
		d[1] = s[1] + x[1] - y[1]
		d[2] = s[2] + x[2] - y[2]
		d[3] = s[3] + x[3] - y[3]
		d[4] = s[4] + x[4] - y[4]
		d[5] = s[5] + x[5] - y[5]
		d[6] = s[6] + x[6] - y[6]
		d[7] = s[7] + x[7] - y[7]
		dst, src, a, b = dst[unroll:], src[unroll:], a[unroll:], b[unroll:]
	}
	for i := range dst {
		dst[i] = src[i] + a[i] - b[i]
	}
}

// addSubtract2 sets dst = src + a + b - c - d: a capture.
func addSubtract2[T int16 | int32](dst, src, a, b, c, d []T) {
	src, a, b, c, d = src[:len(dst)], a[:len(dst)], b[:len(dst)], c[:len(dst)], d[:len(dst)]
	for len(dst) >= unroll {
		o, s := (*[unroll]T)(dst), (*[unroll]T)(src)
		w, x, y, z := (*[unroll]T)(a), (*[unroll]T)(b), (*[unroll]T)(c), (*[unroll]T)(d)
		o[0] = s[0] + w[0] + x[0] - y[0] - z[0]
		o[1] = s[1] + w[1] + x[1] - y[1] - z[1]
		o[2] = s[2] + w[2] + x[2] - y[2] - z[2]
		o[3] = s[3] + w[3] + x[3] - y[3] - z[3]
		o[4] = s[4] + w[4] + x[4] - y[4] - z[4]
		o[5] = s[5] + w[5] + x[5] - y[5] - z[5]
		o[6] = s[6] + w[6] + x[6] - y[6] - z[6]
		o[7] = s[7] + w[7] + x[7] - y[7] - z[7]
		dst, src = dst[unroll:], src[unroll:]
		a, b, c, d = a[unroll:], b[unroll:], c[unroll:], d[unroll:]
	}
	for i := range dst {
		dst[i] = src[i] + a[i] + b[i] - c[i] - d[i]
	}
}

// add2 adds two rows to dst, for rebuilding an accumulator from nothing.
func add2[T int16 | int32](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for len(dst) >= unroll {
		d, x, y := (*[unroll]T)(dst), (*[unroll]T)(a), (*[unroll]T)(b)
		d[0] += x[0] + y[0]
		d[1] += x[1] + y[1]
		d[2] += x[2] + y[2]
		d[3] += x[3] + y[3]
		d[4] += x[4] + y[4]
		d[5] += x[5] + y[5]
		d[6] += x[6] + y[6]
		d[7] += x[7] + y[7]
		dst, a, b = dst[unroll:], a[unroll:], b[unroll:]
	}
	for i := range dst {
		dst[i] += a[i] + b[i]
	}
}
