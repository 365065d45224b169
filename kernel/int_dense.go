package kernel

import "fmt"

const (
	blockInputs  = 32 // inputs of a Dense are padded to a multiple of this
	blockOutputs = 16 // and outputs to a multiple of this
)

// MaxInputs is the most inputs a Dense may have for its sums to be exact.
const MaxInputs = 1 << 16

// Dense is a layer of a quantised network: an int8 matrix and an int32 bias. It
// does not change once made and may be shared between goroutines.
type Dense struct {
	inputs, outputs             int
	paddedInputs, paddedOutputs int

	bias    []int32         // [paddedOutputs]
	packed  [][words]uint64 // for the generic level, see packWords
	layouts                 // for the others
}

// NewDense returns a layer with the weights of outputs rows and inputs columns,
// row o at weights[o*stride:o*stride+inputs], and with bias[outputs]. Both are
// copied. It panics if there are over MaxInputs inputs, or no inputs or outputs.
func NewDense(weights []int8, bias []int32, outputs, inputs, stride int) *Dense {
	if inputs < 1 || inputs > MaxInputs || outputs < 1 || stride < inputs {
		panic(fmt.Sprintf("kernel: found a layer of %d inputs, stride %d, and %d outputs, expected 1 to %d inputs within the stride",
			inputs, stride, outputs, MaxInputs))
	}
	d := &Dense{
		inputs: inputs, outputs: outputs,
		paddedInputs:  roundUp(inputs, blockInputs),
		paddedOutputs: roundUp(outputs, blockOutputs),
	}
	d.bias = make([]int32, d.paddedOutputs)
	copy(d.bias, bias[:outputs])
	d.packWords(weights, stride)
	d.layouts.arrange(d, weights, stride)
	return d
}

// roundUp returns the least multiple of step that is not below n.
func roundUp(n, step int) int { return (n + step - 1) / step * step }

// PaddedInputs returns the length of Mul's input, a multiple of 32.
func (d *Dense) PaddedInputs() int { return d.paddedInputs }

// PaddedOutputs returns the length of Mul's output, a multiple of 16.
func (d *Dense) PaddedOutputs() int { return d.paddedOutputs }

// Mul sets dst = bias + weights * in, exactly. Inputs are activations, 0..127.
// in has PaddedInputs entries, those past the inputs without meaning, and dst
// PaddedOutputs, those past the outputs become zero.
func (d *Dense) Mul(dst []int32, in []uint8) {
	d.mul(dst[:d.paddedOutputs], in[:d.paddedInputs])
}
