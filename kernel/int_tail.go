package kernel

import "fmt"

// MaxHidden is the most inputs a layer of a Tail may have.
const MaxHidden = 128

// Tail is what follows the first dense layer of a network with one output: for
// each of its layers in turn, the clipped rectifier and the layer. A Tail does
// not change once made and may be shared between goroutines.
type Tail struct {
	shift  uint
	layers []*Dense
	fused  *fused // nil for shapes without a kernel of their own
}

// NewTail returns a tail of at most two layers, the last with one output and
// none with over MaxHidden inputs. A layer's inputs are sums of the layer
// before, shifted right by shift bits and clamped to 0..127; shift is from 0
// to 15. A tail of no layers hands through the one sum it is given. NewTail
// panics if the layers do not fit together.
func NewTail(shift int, layers ...*Dense) *Tail {
	if shift < 0 || shift > 15 || len(layers) > 2 {
		panic(fmt.Sprintf("kernel: found a tail of %d layers with shift %d, expected at most 2 and 0 to 15", len(layers), shift))
	}
	for i, d := range layers {
		outputs := 1
		if i+1 < len(layers) {
			outputs = layers[i+1].inputs
		}
		if d.inputs > MaxHidden || d.outputs != outputs {
			panic(fmt.Sprintf("kernel: found layer %d with %d inputs and %d outputs, expected at most %d and %d",
				i, d.inputs, d.outputs, MaxHidden, outputs))
		}
	}
	t := &Tail{shift: uint(shift), layers: layers}
	t.fused = t.fuse()
	return t
}

// Eval returns the network's output for the sums of its first layer, as that
// layer's Mul leaves them, padding included.
func (t *Tail) Eval(sums []int32) int32 {
	return t.eval(sums)
}

// EvalAccumulators returns the network's output for the accumulators of both
// perspectives, the side to move's first: Eval of first.Mul of Transform. in
// [first.PaddedInputs()] and sums [first.PaddedOutputs()] are scratch.
func (t *Tail) EvalAccumulators(first *Dense, us, them []int16, in []uint8, sums []int32) int32 {
	if len(us) == len(them) && 2*len(us) == first.paddedInputs {
		if v, ok := t.evalAccumulators(first, us, them, in); ok {
			return v
		}
	}
	Transform(in, us, them)
	first.Mul(sums, in)
	return t.Eval(sums)
}

// evalLayers is Eval, layer by layer.
func (t *Tail) evalLayers(sums []int32) int32 {
	var (
		in  [MaxHidden]uint8
		out [MaxHidden]int32
	)
	for _, d := range t.layers {
		n := roundUp(d.inputs, blockOutputs) // the padding of sums
		clipSums(in[:n], sums[:n], t.shift)
		d.Mul(out[:], in[:])
		sums = out[:]
	}
	return sums[0]
}
