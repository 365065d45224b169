package kernel

import "math"

// byteConvGeneric computes r from whole rows of the windows, those inputs included that
// r.outer allows to leave out.
func byteConvGeneric(t *imagePass, r *byteRows, b Bounds) {
	width := len(r.bias)
	for row := range r.rows {
		for column := range ImageSide {
			var sums [3 * convBlock]int32
			w := r.weights
			for k := range r.size {
				start := (row+k)*t.srcRow + column*t.srcSquare
				for i := 0; i < r.inner; i += 4 {
					addByteProducts(sums[:width], w, r.src[start+i:start+i+4])
					w = w[4*width:]
				}
			}
			at := row*t.dstRow + column*t.dstSquare
			out := r.dst[at : at+width]
			var before [3 * convBlock]float32 // add may be dst
			if r.add != nil {
				copy(before[:width], r.add[at:])
			}
			for j := range out {
				out[j] = float32(float32(sums[j])*r.scales[j]) + r.bias[j]
			}
			finishGeneric(out, before[:width], r.add != nil, b)
		}
	}
}

// addByteProducts adds to each sum four products.
func addByteProducts(sums []int32, w []int8, x []uint8) {
	if x[0]|x[1]|x[2]|x[3] == 0 {
		return
	}
	x0, x1, x2, x3 := int32(x[0]), int32(x[1]), int32(x[2]), int32(x[3])
	for j := range sums {
		v := w[4*j : 4*j+4]
		sums[j] += x0*int32(v[0]) + x1*int32(v[1]) + x2*int32(v[2]) + x3*int32(v[3])
	}
}

func byteQuantiseGeneric(dst []uint8, src []float32, scale float32, zero uint8) {
	// Beyond this results are 0 or 127 whatever the zero; NaN becomes 127.
	const limit = 256
	for i, x := range src {
		x *= scale
		if !(x < limit) {
			x = limit
		}
		if x < -limit {
			x = -limit
		}
		dst[i] = uint8(min(max(int(math.RoundToEven(float64(x)))+int(zero), 0), byteMost))
	}
}
