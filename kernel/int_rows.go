package kernel

// Int is a lane type of a row table: int16 for accumulators, int32 for
// piece-square sums.
type Int interface{ ~int16 | ~int32 }

// unroll is the number of lanes handled per loop iteration. Eight values stay
// in registers while all rows of a call pass over them.
const unroll = 8

// ApplyRows sets dst = src + (sum of the rows in add) - (sum of the rows in sub).
//
// table holds rows of len(dst) lanes one after the other, so row r is
// table[r*len(dst):(r+1)*len(dst)]. len(src) must be at least len(dst); dst and
// src may be the same slice.
// Any width works; multiples of eight are fast. Lanes wrap on overflow.
func ApplyRows[T Int](dst, src, table []T, add, sub []int32) {
	width := len(dst)
	row := func(r int32) []T { return table[int(r)*width:][:width] }
	switch {
	case len(add) == 1 && len(sub) == 1:
		add1sub1(dst, src, row(add[0]), row(sub[0]))
		return
	case len(add) == 2 && len(sub) == 2:
		add2sub2(dst, src, row(add[0]), row(add[1]), row(sub[0]), row(sub[1]))
		return
	}
	copy(dst, src[:width])
	for len(add) > 0 && len(sub) > 0 {
		add1sub1(dst, dst, row(add[0]), row(sub[0]))
		add, sub = add[1:], sub[1:]
	}
	for ; len(add) >= 2; add = add[2:] {
		add2(dst, row(add[0]), row(add[1]))
	}
	for _, r := range add {
		addRow(dst, row(r))
	}
	for _, r := range sub {
		subRow(dst, row(r))
	}
}

// add1sub1 sets dst = src + a - b: a quiet move.
func add1sub1[T Int](dst, src, a, b []T) {
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

// add2sub2 sets dst = src + a + b - c - d: a capture.
func add2sub2[T Int](dst, src, a, b, c, d []T) {
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
func add2[T Int](dst, a, b []T) {
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

func addRow[T Int](dst, row []T) {
	row = row[:len(dst)]
	for i := range dst {
		dst[i] += row[i]
	}
}

func subRow[T Int](dst, row []T) {
	row = row[:len(dst)]
	for i := range dst {
		dst[i] -= row[i]
	}
}
