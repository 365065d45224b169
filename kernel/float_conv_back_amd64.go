//go:build !purego

package kernel

func floatConvWeights(t *imagePass, sums, src, d []float32, width, images int) {
	if !useAVX2 {
		floatConvWeightsGeneric(t, sums, src, d, width, images)
		return
	}
	const bytes = floatSize
	step, inputs := width*bytes, len(sums)/width
	srcSquare, srcSkip, srcImage := t.srcSquare*bytes, (t.srcRow-ImageSide*t.srcSquare)*bytes, (t.src.Stride()-ImageSide*t.srcRow)*bytes
	dSquare, dSkip, dImage := t.dstSquare*bytes, (t.dstRow-ImageSide*t.dstSquare)*bytes, (t.dst.Stride()-ImageSide*t.dstRow)*bytes
	switch {
	case useAVX512 && width == convBlock:
		floatConvWeights16AVX512(&sums[0], step, &src[0], srcSquare, srcSkip, srcImage, &d[0], dSquare, dSkip, dImage, images, inputs/8)
	case useAVX512 && width == 2*convBlock:
		floatConvWeights32AVX512(&sums[0], step, &src[0], srcSquare, srcSkip, srcImage, &d[0], dSquare, dSkip, dImage, images, inputs/8)
	case useAVX512:
		floatConvWeights48AVX512(&sums[0], step, &src[0], srcSquare, srcSkip, srcImage, &d[0], dSquare, dSkip, dImage, images, inputs/8)
	case width == 3*convBlock: // AVX2 has registers for half of a group
		for j := 0; j < width; j += 24 {
			floatConvWeights24AVX2(&sums[j], step, &src[0], srcSquare, srcSkip, srcImage, &d[j], dSquare, dSkip, dImage, images, inputs/4)
		}
	default:
		for j := 0; j < width; j += 16 {
			floatConvWeights16AVX2(&sums[j], step, &src[0], srcSquare, srcSkip, srcImage, &d[j], dSquare, dSkip, dImage, images, inputs/4)
		}
	}
}

func floatImageSums(t *imagePass, sums, products, x, y []float32) {
	const bytes = floatSize
	xSquare, xSkip := t.dstSquare*bytes, (t.dstRow-ImageSide*t.dstSquare)*bytes
	ySquare, ySkip := t.srcSquare*bytes, (t.srcRow-ImageSide*t.srcSquare)*bytes
	switch {
	case useAVX512:
		for j := 0; j < len(sums); j += 16 {
			floatImageSumsAVX512(&sums[j], &products[j], &x[j], xSquare, xSkip, &y[j], ySquare, ySkip)
		}
	case useAVX2:
		for j := 0; j < len(sums); j += 8 {
			floatImageSumsAVX2(&sums[j], &products[j], &x[j], xSquare, xSkip, &y[j], ySquare, ySkip)
		}
	default:
		floatImageSumsGeneric(t, sums, products, x, y)
	}
}

func floatReLUBack(dst, out, d []float32) {
	switch {
	case useAVX512:
		floatReLUBackAVX512(&dst[0], &out[0], &d[0], len(dst))
	case useAVX2:
		floatReLUBackAVX2(&dst[0], &out[0], &d[0], len(dst))
	default:
		floatReLUBackGeneric(dst, out, d)
	}
}
