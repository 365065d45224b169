package kernel

// Int is a lane type of a row table: int16 for accumulators, int32 for
// piece-square sums.
type Int interface{ int16 | int32 }

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
		addSubtract(dst, src, row(add[0]), row(sub[0]))
		return
	case len(add) == 2 && len(sub) == 2:
		addSubtract2(dst, src, row(add[0]), row(add[1]), row(sub[0]), row(sub[1]))
		return
	}
	copy(dst, src[:width])
	for len(add) > 0 && len(sub) > 0 {
		addSubtract(dst, dst, row(add[0]), row(sub[0]))
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
