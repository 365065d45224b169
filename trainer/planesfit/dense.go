package planesfit

import "github.com/crazyhouse-rl/selfplay/kernel"

// dense is a layer without activation on rows of numbers.
type dense struct {
	weights, bias span
	in, out       int
	byOutput      bool // weights lie output by output, not input by input
}

// matrix returns the weights, or derivatives with respect to them, in × out.
func (l *dense) matrix(all []float32) kernel.FloatMatrix {
	if l.byOutput {
		return kernel.NewFloatMatrix(l.weights.of(all), l.out, l.in).T()
	}
	return kernel.NewFloatMatrix(l.weights.of(all), l.in, l.out)
}

// forward writes the outputs for the rows of src, which may be longer than l.in.
func (l *dense) forward(dst []float32, src kernel.FloatMatrix, all []float32) {
	for row := range src.Rows {
		copy(dst[row*l.out:], l.bias.of(all))
	}
	kernel.FloatGemm(kernel.NewFloatMatrix(dst, src.Rows, l.out), src, l.matrix(all))
}

// back adds to the gradient what rows of derivatives d with respect to the outputs
// for src contribute, and to the rows of dst the derivatives with respect to src.
func (l *dense) back(dst kernel.FloatMatrix, src kernel.FloatMatrix, d, all, gradient []float32) {
	m := kernel.NewFloatMatrix(d, src.Rows, l.out)
	kernel.FloatGemm(l.matrix(gradient), src.T(), m)
	bias := l.bias.of(gradient)
	for row := range src.Rows {
		kernel.FloatAdd(bias, d[row*l.out:(row+1)*l.out])
	}
	kernel.FloatGemm(dst, m, l.matrix(all).T())
}

// rectify replaces negative numbers by 0.
func rectify(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
