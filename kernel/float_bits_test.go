package kernel

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestVectorBits holds all levels but the plain one, of every architecture, to one
// sequence of bits: each rounds a product and its addition at once, in one order.
func TestVectorBits(t *testing.T) {
	const want = 0xb6d45ea32cb48eff
	for l := Generic + 1; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			forceLevel(t, l)
			h := fnv.New64a()
			for _, x := range vectorResults() {
				for _, v := range x {
					_ = binary.Write(h, binary.LittleEndian, math.Float32bits(v))
				}
			}
			if got := h.Sum64(); got != want {
				t.Errorf("results hash to %#x, expected %#x", got, uint64(want))
			}
		})
	}
}

// vectorResults calls the kernels that multiply and add.
func vectorResults() [][]float32 {
	r := rand.New(rand.NewPCG(7, 8))
	random := func(n int) []float32 { return randomFloats(r, n) }
	images := func(channels, border int) FloatImages {
		return randomImages(r, 2, channels, channels, border, randomFloats)
	}
	const rows, products, columns, in, out, size = 19, 21, 27, 16, 48, 3
	c, back := random(rows*columns), random(rows*columns)
	a, b := NewFloatMatrix(random(rows*products), rows, products), NewFloatMatrix(random(products*columns), products, columns)
	FloatGemm(NewFloatMatrix(c, rows, columns), a, b)
	FloatGemmClipBack(NewFloatMatrix(back, rows, columns), a, b)

	src, conv, deep, bytes := images(in, 1), images(out, 1), images(in, 1), images(out, 1)
	weights, bias := random(out*in*size*size), random(out)
	NewFloatConv(weights, bias, out, in, size).Apply(conv, src, conv, 2, ReLU6)
	NewFloatDepthwise(weights[:in*size*size], bias[:in], in, size).Apply(deep, src, deep, 2, ReLU)
	q := Quantise(-1, 1)
	quantised := NewByteImages(2, in, 1, q)
	quantised.Set(src, 2)
	NewByteConv(weights, bias, out, in, size, q).Apply(bytes, quantised, FloatImages{}, 2, ReLU, new(ByteSpace))
	gradient := NewFloatConvGradient(out, in, size)
	gradient.Add(src, conv, 2)
	sums, squares := random(in), random(in)
	FloatImageSums(sums, squares, src, deep, 1)
	winograd, space := images(out, 1), new(WinogradSpace)
	NewFloatWinograd(weights, bias, out, in).Apply(winograd, src, winograd, 2, ReLU6, space)
	winogradGradient := NewFloatWinogradGradient(out, in)
	winogradGradient.Add(src, winograd, 2, space)
	return [][]float32{c, back, conv.Data, deep.Data, bytes.Data, gradient.sums, sums, squares, winograd.Data, winogradGradient.sums}
}
