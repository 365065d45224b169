package kernel

// floatBlock is how many elements, and rowBlock and activeBlock how many rows,
// one call of assembly handles at most: it cannot be preempted, and what stops
// the world waits for it.
const (
	floatBlock  = 1 << 13
	rowBlock    = 48
	activeBlock = 1 << 10
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

// FloatGatherSum adds rows of a table to dst:
//
//	dst[j] += table[rows[0]*stride+j] + table[rows[1]*stride+j] + …
//
// for every j < len(dst), in the order of rows. It is the forward pass of a
// sparse layer and, over the transposed index, its gradient as well. Rows lie
// stride elements apart and len(dst) ≤ stride.
func FloatGatherSum(dst, table []float32, stride int, rows []int32) {
	if len(dst) == 0 {
		return
	}
	for len(rows) > 0 {
		n := min(len(rows), rowBlock)
		floatGatherSum(dst, table, stride, rows[:n])
		rows = rows[n:]
	}
}

// FloatScatterAdd adds src to rows of a table:
//
//	table[rows[i]*stride+j] += src[j]
//
// for every j < len(src) and every i, in the order of rows; a row listed twice
// receives src twice. It is the inverse of FloatGatherSum: its gradient. Rows
// lie stride elements apart, len(src) ≤ stride, and src is not part of table.
func FloatScatterAdd(table, src []float32, stride int, rows []int32) {
	if len(src) == 0 {
		return
	}
	for len(rows) > 0 {
		n := min(len(rows), rowBlock)
		floatScatterAdd(table, src, stride, rows[:n])
		rows = rows[n:]
	}
}

// FloatClampActive writes clamp(src, 0, 1) to dst and returns the indices of
// the elements above zero, ascending, in active[:n]; the rest contribute
// nothing to the next layer. NaN stays NaN and counts as active, so that it is
// not lost. dst and active are at least as long as src; what they hold beyond
// its length stays, what active holds between n and there does not.
func FloatClampActive(dst, src []float32, active []int32) []int32 {
	dst, active = dst[:len(src)], active[:len(src)]
	if len(src) == 0 || len(src) > floatBlock {
		return floatClampActiveGeneric(dst, src, active)
	}
	return floatClampActive(dst, src, active)
}

// FloatAffine adds a dense layer's products to dst, which holds the biases:
//
//	dst[o] += Σ x[k]·w[k*len(dst)+o]   over k in active
//
// Weights are stored input-major, [len(x)][len(dst)], so that an input at zero
// skips one contiguous row.
func FloatAffine(dst, w, x []float32, active []int32) {
	if len(dst) == 0 {
		return
	}
	n := len(x) * len(dst)
	w = w[:n:n]
	for len(active) > 0 {
		n := min(len(active), activeBlock)
		floatAffine(dst, w, x, active[:n])
		active = active[n:]
	}
}

// FloatAffineBack is the backward pass of FloatAffine behind a clamp to 0..1.
// d is the loss's derivative with respect to the layer's outputs. For every k in
// active it adds x[k]·d to row k of the weight gradient gw and writes to dx[k]
// the derivative with respect to the input before its clamp: Σ d[o]·w[k][o], or
// zero where x[k] is at the upper bound. dx of the inactive inputs is zero.
// active holds no index twice; dx and x have the same length.
func FloatAffineBack(gw, dx, w, x, d []float32, active []int32) {
	clear(dx)
	if len(d) == 0 {
		return
	}
	n := len(x) * len(d)
	dx, gw, w = dx[:len(x)], gw[:n:n], w[:n:n]
	for len(active) > 0 {
		n := min(len(active), activeBlock)
		floatAffineBack(gw, dx, w, x, d, active[:n])
		active = active[n:]
	}
}
