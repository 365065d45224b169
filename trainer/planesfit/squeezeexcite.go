package planesfit

import (
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// squeezeExcite is a squeeze-and-excitation layer (Hu et al., 2018): every channel of
// an image is multiplied by a factor that two dense layers find from the means of
// all channels. Texts of architectures call it a gate, as do names of parameters.
type squeezeExcite struct {
	squeeze, excite  dense
	channels, padded int
}

// squeezeExciteWork is what one worker holds of a layer for a part of a
// batch. Rows are images.
type squeezeExciteWork struct {
	out              kernel.FloatImages
	affine           *kernel.FloatDepthwise
	means, factors   []float32 // [part][padded]
	hidden, excited  []float32 // [part][narrow], [part][channels]
	dMeans, dFactors []float32
	dHidden          []float32
	sums             []float32
}

func (g *squeezeExcite) newWork(part int) *squeezeExciteWork {
	return &squeezeExciteWork{
		out: kernel.NewFloatImages(part, g.padded, 1), affine: kernel.NewFloatDepthwise(make([]float32, g.padded), nil, g.padded, 1),
		means: make([]float32, part*g.padded), factors: make([]float32, part*g.padded),
		hidden: make([]float32, part*g.squeeze.out), excited: make([]float32, part*g.channels),
		dMeans: make([]float32, part*g.padded), dFactors: make([]float32, part*g.padded),
		dHidden: make([]float32, part*g.squeeze.out),
		sums:    make([]float32, g.padded),
	}
}

// rows returns n rows of padded channels as a matrix of the true ones.
func (g *squeezeExcite) rows(x []float32, n int) kernel.FloatMatrix {
	return kernel.FloatMatrix{Data: x, Rows: n, Cols: g.channels, RowStride: g.padded, ColStride: 1}
}

// forward multiplies n images of src and returns the result.
func (g *squeezeExcite) forward(w *squeezeExciteWork, all []float32, src kernel.FloatImages, n int) kernel.FloatImages {
	clear(w.means)
	for i := range n {
		kernel.FloatImageSums(w.means[i*g.padded:(i+1)*g.padded], w.sums, src, src, i)
	}
	clear(w.sums) // the second sums are not needed
	kernel.FloatScale(w.means, 1.0/squares)
	hidden := w.hidden[:n*g.squeeze.out]
	g.squeeze.forward(hidden, g.rows(w.means, n), all)
	rectify(hidden)
	g.excite.forward(w.excited, kernel.NewFloatMatrix(hidden, n, g.squeeze.out), all)
	for i := range n {
		for c := range g.channels {
			w.factors[i*g.padded+c] = float32(logistic.Sigmoid(float64(w.excited[i*g.channels+c])))
		}
	}
	kernel.FloatScaleChannels(w.out, src, w.factors, n)
	return w.out
}

// back writes to dst, which may be d, the derivative with respect to src, given d,
// that with respect to the result for n images.
func (g *squeezeExcite) back(w *squeezeExciteWork, all, gradient []float32, dst, d, src kernel.FloatImages, n int) {
	clear(w.dFactors)
	for i := range n {
		kernel.FloatImageSums(w.sums, w.dFactors[i*g.padded:(i+1)*g.padded], d, src, i)
	}
	clear(w.sums)
	for i := range n {
		for c := range g.channels {
			f := w.factors[i*g.padded+c]
			w.excited[i*g.channels+c] = w.dFactors[i*g.padded+c] * f * (1 - f)
		}
	}
	hidden, dHidden := w.hidden[:n*g.squeeze.out], w.dHidden[:n*g.squeeze.out]
	clear(dHidden)
	narrow := func(x []float32) kernel.FloatMatrix { return kernel.NewFloatMatrix(x, n, g.squeeze.out) }
	g.excite.back(narrow(dHidden), narrow(hidden), w.excited, all, gradient)
	kernel.FloatReLUBack(dHidden, hidden, dHidden)
	clear(w.dMeans)
	g.squeeze.back(g.rows(w.dMeans, n), g.rows(w.means, n), dHidden, all, gradient)
	kernel.FloatScale(w.dMeans, 1.0/squares)
	for i := range n {
		row := i * g.padded
		w.affine.SetWeights(w.factors[row:row+g.padded], w.dMeans[row:row+g.padded], g.padded)
		w.affine.Apply(images(dst, i), images(d, i), noImages, 1, kernel.Unbounded)
	}
}
