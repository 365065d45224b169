package kernel

// floatSize is the size of an element in bytes, in which the assembly counts.
const floatSize = 4

// floatBlock is how many elements, and rowBlock how many rows, one call of
// assembly handles at most: it cannot be preempted, and what stops the world
// waits for it.
const (
	floatBlock = 1 << 13
	rowBlock   = 128
)

// FloatAdd adds x to dst element by element; both have the same length.
func FloatAdd(dst, x []float32) {
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatAdd(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

// FloatMul multiplies dst by x element by element; both have the same length.
func FloatMul(dst, x []float32) {
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatMul(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

// FloatScale multiplies x by f.
func FloatScale(x []float32, f float32) {
	for len(x) > 0 {
		n := min(len(x), floatBlock)
		floatScale(x[:n], f)
		x = x[n:]
	}
}

// FloatLerp moves dst the given share of the way to x, element by element; both
// have the same length.
func FloatLerp(dst, x []float32, share float32) {
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatLerp(dst[:n], x[:n], share)
		dst, x = dst[n:], x[n:]
	}
}

// FloatMix writes a·dst + b·x to dst, element by element; both have the same
// length.
func FloatMix(dst, x []float32, a, b float32) {
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatMix(dst[:n], x[:n], a, b)
		dst, x = dst[n:], x[n:]
	}
}

// FloatAddSquares adds the squares of x to dst element by element; both have
// the same length.
func FloatAddSquares(dst, x []float32) {
	x = x[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatAddSquares(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

// FloatQuantise moves the elements of x to multiples of 1/scale: to
// round(scale·x + offset)/scale, ties to even. An offset of 0 takes the nearest
// multiple, one of −½ that below. Infinities and NaN stay.
func FloatQuantise(x []float32, scale, offset float32) {
	for len(x) > 0 {
		n := min(len(x), floatBlock)
		floatQuantise(x[:n], scale, offset)
		x = x[n:]
	}
}

// FloatClampSum moves w so that w+base stays within ±limit element by element;
// a nil base counts as zero. limit is not negative. NaN stays, in w and in base.
func FloatClampSum(w, base []float32, limit float32) {
	if base == nil {
		for len(w) > 0 {
			n := min(len(w), floatBlock)
			floatClamp(w[:n], limit)
			w = w[n:]
		}
		return
	}
	base = base[:len(w)]
	for len(w) > 0 {
		n := min(len(w), floatBlock)
		floatClampSum(w[:n], base[:n], limit)
		w, base = w[n:], base[n:]
	}
}

// FloatClip is the clipped ReLU: it writes clamp(src, 0, 1) to dst, element by
// element; both have the same length and may be one. NaN stays.
func FloatClip(dst, src []float32) {
	src = src[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatClip(dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
}

// FloatClipBack is the derivative of FloatClip: it writes to dst the derivative
// with respect to src given d, the one with respect to the result. It is d where
// src lies within 0 and 1, zero elsewhere and on the bounds. All have the same
// length; dst may be one of the others.
func FloatClipBack(dst, src, d []float32) {
	src, d = src[:len(dst)], d[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatClipBack(dst[:n], src[:n], d[:n])
		dst, src, d = dst[n:], src[n:], d[n:]
	}
}

// FloatSquareClip is the squared clipped ReLU, clamp(src, 0, 1)², otherwise as
// FloatClip.
func FloatSquareClip(dst, src []float32) {
	src = src[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatSquareClip(dst[:n], src[:n])
		dst, src = dst[n:], src[n:]
	}
}

// FloatSquareClipBack is the derivative of FloatSquareClip, 2·src·d within 0 and
// 1, otherwise as FloatClipBack.
func FloatSquareClipBack(dst, src, d []float32) {
	src, d = src[:len(dst)], d[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatSquareClipBack(dst[:n], src[:n], d[:n])
		dst, src, d = dst[n:], src[n:], d[n:]
	}
}

// AdamStep holds what one Adam step needs beside the numbers themselves, with
// the bias corrections of step t folded in.
type AdamStep struct {
	Beta1, Beta2 float32 // decay of the first and second moment
	Rate         float32 // learning rate · √(1−β2^t) / (1−β1^t)
	Epsilon      float32 // added to √v before its bias correction
	Keep         float32 // 1 − learning rate · weight decay
}

// FloatAdam applies one step to the weights w with moments m and v and gradient
// g, all of one length:
//
//	m = β1·m + (1−β1)·g,  v = β2·v + (1−β2)·g²,  w = Keep·w − Rate·m/(√v+ε)
func FloatAdam(w, m, v, g []float32, s *AdamStep) {
	m, v, g = m[:len(w)], v[:len(w)], g[:len(w)]
	for len(w) > 0 {
		n := min(len(w), floatBlock)
		floatAdam(w[:n], m[:n], v[:n], g[:n], s)
		w, m, v, g = w[n:], m[n:], v[n:], g[n:]
	}
}

// FloatAdamIdle writes to dst the weights after a run of steps with zero
// gradient, given the weights and moments before the run:
//
//	dst = keep·w − drift·m/(√v+ε)
//
// keep is the product of the steps' decays and drift the sum of their rates,
// each multiplied by the decay of m/√v until then. dst may be w.
func FloatAdamIdle(dst, w, m, v []float32, keep, drift, epsilon float32) {
	w, m, v = w[:len(dst)], m[:len(dst)], v[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), floatBlock)
		floatAdamIdle(dst[:n], w[:n], m[:n], v[:n], keep, drift, epsilon)
		dst, w, m, v = dst[n:], w[n:], m[n:], v[n:]
	}
}

// FloatGatherSum writes base and the sum of rows of a table to dst:
//
//	dst[j] = base[j] + table[rows[0]*stride+j] + table[rows[1]*stride+j] + …
//
// for every j < len(dst), in the order of rows. It is the forward pass of a
// sparse layer and, over the transposed index, its gradient as well. Rows lie
// stride elements apart and len(dst) ≤ stride. base is as long as dst and may be
// dst.
func FloatGatherSum(dst, base, table []float32, stride int, rows []int32) {
	base = base[:len(dst)]
	if len(dst) == 0 {
		return
	}
	if len(rows) == 0 {
		copy(dst, base)
	}
	for len(rows) > 0 {
		n := min(len(rows), rowBlock)
		floatGatherSum(dst, base, table, stride, rows[:n])
		base, rows = dst, rows[n:]
	}
}
