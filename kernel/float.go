package kernel

import "math"

// The float kernels train what the integer kernels later evaluate. All of them
// add in a fixed order, so equal inputs give equal bits on one instruction set;
// architectures whose compiler fuses multiply and add round differently.

// FloatGatherSum adds rows of a table to dst:
//
//	dst[j] += table[rows[0]*stride+j] + table[rows[1]*stride+j] + …
//
// for every j < len(dst), in the order of rows. It is the forward pass of a
// sparse layer and, over the transposed index, its gradient as well. Rows lie
// stride elements apart and len(dst) ≤ stride.
func FloatGatherSum(dst, table []float32, stride int, rows []int32) {
	for len(rows) > gatherBlock {
		gatherSum(dst, table, stride, rows[:gatherBlock])
		rows = rows[gatherBlock:]
	}
	gatherSum(dst, table, stride, rows)
}

// gatherBlock rows stay in the first-level cache while gatherSum passes over
// their columns.
const gatherBlock = 48

func gatherSum(dst, table []float32, stride int, rows []int32) {
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

// FloatAdd adds x to dst element by element; both have the same length.
func FloatAdd(dst, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += x[i]
	}
}

// FloatLerp moves dst the given share of the way to x, element by element; both
// have the same length.
func FloatLerp(dst, x []float32, share float32) {
	x = x[:len(dst)]
	for i, v := range dst {
		dst[i] = v + share*(x[i]-v)
	}
}

// FloatClampActive writes clamp(src, 0, 1) to dst and returns the indices of
// the elements above zero, ascending, in active[:n]; the rest contribute
// nothing to the next layer. NaN stays NaN. dst and active are at least as long
// as src.
func FloatClampActive(dst, src []float32, active []int32) []int32 {
	dst, active = dst[:len(src)], active[:len(src)]
	n := 0
	for i, v := range src {
		dst[i] = min(max(v, 0), 1)
		active[n] = int32(i)
		// As an integer a float has its own sign; half the elements are
		// negative, which no branch predictor foresees.
		n += int(uint64(-int64(int32(math.Float32bits(v)))) >> 63)
	}
	return active[:n]
}

// FloatAffine adds a dense layer's products to dst, which holds the biases:
//
//	dst[o] += Σ x[k]·w[k*len(dst)+o]   over k in active
//
// Weights are stored input-major, [inputs][outputs], so that an input at zero
// skips one contiguous row.
func FloatAffine(dst, w, x []float32, active []int32) {
	n := len(dst)
	o := 0
	for ; o+8 <= n; o += 8 {
		d := dst[o : o+8 : o+8]
		a0, a1, a2, a3, a4, a5, a6, a7 := d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]
		for _, k := range active {
			v := x[k]
			p := int(k)*n + o
			r := w[p : p+8 : p+8]
			a0 += v * r[0]
			a1 += v * r[1]
			a2 += v * r[2]
			a3 += v * r[3]
			a4 += v * r[4]
			a5 += v * r[5]
			a6 += v * r[6]
			a7 += v * r[7]
		}
		d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7] = a0, a1, a2, a3, a4, a5, a6, a7
	}
	for ; o < n; o++ {
		a := dst[o]
		for _, k := range active {
			a += x[k] * w[int(k)*n+o]
		}
		dst[o] = a
	}
}

// FloatAffineBack is the backward pass of FloatAffine behind a clamp to 0..1.
// d is the loss's derivative with respect to the layer's outputs. For every k in
// active it adds x[k]·d to row k of the weight gradient gw and writes to dx[k]
// the derivative with respect to the input before its clamp: Σ d[o]·w[k][o], or
// zero where x[k] is at the upper bound. dx of the inactive inputs is zero.
func FloatAffineBack(gw, dx, w, x, d []float32, active []int32) {
	n := len(d)
	clear(dx)
	o := 0
	for ; o+8 <= n; o += 8 {
		e := d[o : o+8 : o+8]
		d0, d1, d2, d3, d4, d5, d6, d7 := e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]
		for _, k := range active {
			v := x[k]
			p := int(k)*n + o
			g, r := gw[p:p+8:p+8], w[p:p+8:p+8]
			g[0] += v * d0
			g[1] += v * d1
			g[2] += v * d2
			g[3] += v * d3
			g[4] += v * d4
			g[5] += v * d5
			g[6] += v * d6
			g[7] += v * d7
			dx[k] += ((d0*r[0] + d1*r[1]) + (d2*r[2] + d3*r[3])) + ((d4*r[4] + d5*r[5]) + (d6*r[6] + d7*r[7]))
		}
	}
	for ; o < n; o++ {
		for _, k := range active {
			p := int(k)*n + o
			gw[p] += x[k] * d[o]
			dx[k] += d[o] * w[p]
		}
	}
	for _, k := range active {
		if x[k] >= 1 {
			dx[k] = 0
		}
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
	b1, b2, c1, c2 := s.Beta1, s.Beta2, 1-s.Beta1, 1-s.Beta2
	rate, eps, keep := s.Rate, s.Epsilon, s.Keep
	for i := range w {
		gi := g[i]
		mi := b1*m[i] + c1*gi
		vi := b2*v[i] + c2*gi*gi
		m[i], v[i] = mi, vi
		w[i] = keep*w[i] - rate*mi/(sqrt(vi)+eps)
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
	for i := range dst {
		dst[i] = keep*w[i] - drift*m[i]/(sqrt(v[i])+epsilon)
	}
}

// FloatScale multiplies x by f.
func FloatScale(x []float32, f float32) {
	for i := range x {
		x[i] *= f
	}
}

// FloatClampSum moves w so that w+base stays within ±limit element by element;
// a nil base counts as zero.
func FloatClampSum(w, base []float32, limit float32) {
	if base == nil {
		for i, v := range w {
			w[i] = min(max(v, -limit), limit)
		}
		return
	}
	base = base[:len(w)]
	for i, b := range base {
		if s := w[i] + b; s > limit {
			w[i] = limit - b
		} else if s < -limit {
			w[i] = -limit - b
		}
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
