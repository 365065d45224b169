//go:build !purego

package kernel

func floatConvWeights(t *imagePass, sums, src, d []float32, width, images int) {
	if !useNEON {
		floatConvWeightsGeneric(t, sums, src, d, width, images)
		return
	}
	const bytes = floatSize
	step, inputs := width*bytes, len(sums)/width
	srcSquare, srcSkip, srcImage := t.srcSquare*bytes, (t.srcRow-ImageSide*t.srcSquare)*bytes, (t.src.Stride()-ImageSide*t.srcRow)*bytes
	dSquare, dSkip, dImage := t.dstSquare*bytes, (t.dstRow-ImageSide*t.dstSquare)*bytes, (t.dst.Stride()-ImageSide*t.dstRow)*bytes
	for j := 0; j < width; j += convBlock {
		floatConvWeights16NEON(&sums[j], step, &src[0], srcSquare, srcSkip, srcImage, &d[j], dSquare, dSkip, dImage, images, inputs/4)
	}
}

func floatImageSums(t *imagePass, sums, products, x, y []float32) {
	if !useNEON {
		floatImageSumsGeneric(t, sums, products, x, y)
		return
	}
	const bytes = floatSize
	xSquare, xSkip := t.dstSquare*bytes, (t.dstRow-ImageSide*t.dstSquare)*bytes
	ySquare, ySkip := t.srcSquare*bytes, (t.srcRow-ImageSide*t.srcSquare)*bytes
	for j := 0; j < len(sums); j += 8 {
		floatImageSumsNEON(&sums[j], &products[j], &x[j], xSquare, xSkip, &y[j], ySquare, ySkip)
	}
}

func floatReLUBack(dst, out, d []float32) {
	if useNEON {
		floatReLUBackNEON(&dst[0], &out[0], &d[0], len(dst))
	} else {
		floatReLUBackGeneric(dst, out, d)
	}
}
