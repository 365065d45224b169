//go:build !(amd64 || arm64) || purego

package kernel

func floatConvWeights(t *imagePass, sums, src, d []float32, width, images int) {
	floatConvWeightsGeneric(t, sums, src, d, width, images)
}

func floatImageSums(t *imagePass, sums, products, x, y []float32) {
	floatImageSumsGeneric(t, sums, products, x, y)
}

func floatReLUBack(dst, out, d []float32) { floatReLUBackGeneric(dst, out, d) }
