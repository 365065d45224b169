package kernel

// floatConvWeightsGeneric adds to sums, which has width elements for each input,
// the products over the squares of some images. Pass t has derivatives for dst.
func floatConvWeightsGeneric(t *imagePass, sums, src, d []float32, width, images int) {
	inputs := len(sums) / width
	var part [3 * convBlock]float32
	for i := range inputs {
		clear(part[:width])
		for image := range images {
			for square := range ImageSide * ImageSide {
				row, column := square/ImageSide, square%ImageSide
				at := image*t.dst.Stride() + row*t.dstRow + column*t.dstSquare
				x := src[image*t.src.Stride()+row*t.srcRow+column*t.srcSquare+i]
				addScaled(part[:width], d[at:at+width], x)
			}
		}
		for j, x := range part[:width] {
			sums[i*width+j] += x
		}
	}
}

// floatImageSumsGeneric adds sums of x, which lies as t's dst, and of its products
// with y, which lies as t's src.
func floatImageSumsGeneric(t *imagePass, sums, products, x, y []float32) {
	const parts = 4 // columns modulo 4 are added by themselves, as the assembly does
	for c := range sums {
		var sum, product [parts]float32
		for row := range ImageSide {
			for column := range ImageSide {
				a := x[row*t.dstRow+column*t.dstSquare+c]
				b := y[row*t.srcRow+column*t.srcSquare+c]
				sum[column%parts] += a
				product[column%parts] += float32(a * b)
			}
		}
		sums[c] += (sum[0] + sum[1]) + (sum[2] + sum[3])
		products[c] += (product[0] + product[1]) + (product[2] + product[3])
	}
}

func floatReLUBackGeneric(dst, out, d []float32) {
	for i, v := range out {
		x := float32(0)
		if v > 0 {
			x = d[i]
		}
		dst[i] = x
	}
}
