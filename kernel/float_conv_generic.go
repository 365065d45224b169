package kernel

// floatChannelsFirstGeneric reads squares of square elements in rows of row elements.
func floatChannelsFirstGeneric(dst, src []float32, square, row, channels int) {
	for r := range ImageSide {
		for c := range channels {
			to := (*[ImageSide]float32)(dst[c*planeSize+r*ImageSide:])
			from := src[r*row+c:]
			for i := range to {
				to[i] = from[i*square]
			}
		}
	}
}

// floatConvGeneric writes len(bias) output channels of one image: windows of size
// rows of inner inputs.
func floatConvGeneric(t *imagePass, dst, src, add, weights, bias []float32, inner, size int, b Bounds) {
	width := len(bias)
	for row := range ImageSide {
		for column := range ImageSide {
			at := row*t.dstRow + column*t.dstSquare
			sums := dst[at : at+width]
			var before [3 * convBlock]float32 // add may be dst
			if add != nil {
				copy(before[:width], add[at:])
			}
			copy(sums, bias)
			w := weights
			for r := range size {
				start := (row+r)*t.srcRow + column*t.srcSquare
				for _, x := range src[start : start+inner] {
					addScaled(sums, w[:width], x)
					w = w[width:]
				}
			}
			finishGeneric(sums, before[:width], add != nil, b)
		}
	}
}

// addScaled adds x·w to sums, element by element.
func addScaled(sums, w []float32, x float32) {
	w = w[:len(sums)]
	for j := range sums {
		sums[j] += float32(x * w[j]) // the conversion rounds, and forbids fusing
	}
}

func finishGeneric(sums, before []float32, add bool, b Bounds) {
	for j, x := range sums {
		if add {
			x += before[j]
		}
		if x < b.Low {
			x = b.Low
		}
		if x > b.High {
			x = b.High
		}
		sums[j] = x
	}
}

// floatDepthwiseGeneric writes len(bias) channels of one image, whose weights lie
// step elements apart.
func floatDepthwiseGeneric(t *imagePass, dst, src, add, weights, bias []float32, step, size int, b Bounds) {
	width := len(bias)
	for row := range ImageSide {
		for column := range ImageSide {
			at := row*t.dstRow + column*t.dstSquare
			var sums, before [convBlock]float32 // dst may be src or add
			if add != nil {
				copy(before[:width], add[at:])
			}
			copy(sums[:], bias)
			for s := range size * size {
				start := (row+s/size)*t.srcRow + (column+s%size)*t.srcSquare
				x, w := src[start:start+width], weights[s*step:s*step+width]
				for j := range w {
					sums[j] += float32(x[j] * w[j])
				}
			}
			finishGeneric(sums[:width], before[:width], add != nil, b)
			copy(dst[at:], sums[:width])
		}
	}
}
