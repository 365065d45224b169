//go:build (amd64 || arm64) && !purego

package kernel

import (
	"math"
	"unsafe"
)

// check panics if a row is out of range.
func (r *Rows) check(list []int32) {
	for _, i := range list {
		if !r.has(int(i)) {
			r.at(int(i))
		}
	}
}

// layouts is a Dense's weights in the orders of the kernels, padded with zeros.
// Both begin with the block of 16 outputs:
//
//	groups  [block][inputs/4][16 outputs][4 inputs]
//	vectors [block][inputs/16][output mod 4][output / 4][16 inputs]
type layouts struct {
	groups, vectors []int8
	narrow          bool // products of 16 inputs add up in 16 bits, see isNarrow
}

const (
	groupInputs  = 4
	vectorInputs = 16
)

// arrange fills the layouts of d.
func (l *layouts) arrange(d *Dense, weights []int8, stride int) {
	l.groups = alignedWeights(d.paddedInputs * d.paddedOutputs)
	l.vectors = alignedWeights(d.paddedInputs * d.paddedOutputs)
	for o := range d.outputs {
		for i := range d.inputs {
			w := weights[o*stride+i]
			l.groups[d.groupsIndex(o, i)] = w
			l.vectors[d.vectorsIndex(o, i)] = w
		}
	}
	l.narrow = d.isNarrow()
}

// isNarrow returns whether, of every 16 inputs of an output, the products of the first
// two of all groups of four add up in 16 bits, and those of the other two.
func (d *Dense) isNarrow() bool {
	const most = math.MaxInt16 / MaxActivation
	for o := range d.outputs {
		for first := 0; first < d.paddedInputs; first += vectorInputs {
			for half := range 2 {
				plus, minus := 0, 0
				for i := range vectorInputs {
					w := int(d.layouts.groups[d.groupsIndex(o, first+i)])
					if i%groupInputs/2 == half {
						plus, minus = plus+max(w, 0), minus+max(-w, 0)
					}
				}
				if plus > most || minus > most {
					return false
				}
			}
		}
	}
	return true
}

func (d *Dense) groupsIndex(output, input int) int {
	block, o := output/blockOutputs, output%blockOutputs
	group := block*d.paddedInputs/groupInputs + input/groupInputs
	return (group*blockOutputs+o)*groupInputs + input%groupInputs
}

func (d *Dense) vectorsIndex(output, input int) int {
	block, o := output/blockOutputs, output%blockOutputs
	vector := block*d.paddedInputs/vectorInputs + input/vectorInputs
	return (vector*blockOutputs+o%4*4+o/4)*vectorInputs + input%vectorInputs
}

func alignedWeights(n int) []int8 { return unsafe.Slice((*int8)(unsafe.Pointer(aligned(n))), n) }

// fusedSize is the most inputs and outputs the hidden layer of a fused tail has.
const fusedSize = 32

// fused is a tail of two layers as its own kernel takes it.
type fused struct {
	blocks     int              // of 16 inputs of the hidden layer
	hiddenBias [fusedSize]int32 // padded with zeros, as all below
	outWeights [fusedSize]int32
	outBias    int32
	weights    []int8 // of the hidden layer, [inputs/4][32 outputs][4 inputs]
}

// fuse returns nil for tails of another shape.
func (t *Tail) fuse() *fused {
	if len(t.layers) != 2 || t.layers[0].inputs > fusedSize || t.layers[0].outputs > fusedSize {
		return nil
	}
	hidden, out := t.layers[0], t.layers[1]
	f := &fused{
		blocks:  roundUp(hidden.inputs, blockOutputs) / blockOutputs,
		outBias: out.bias[0],
		weights: alignedWeights(fusedSize * fusedSize),
	}
	copy(f.hiddenBias[:], hidden.bias)
	for o := range hidden.outputs {
		f.outWeights[o] = int32(out.layouts.groups[out.groupsIndex(0, o)])
		for i := range hidden.inputs {
			f.weights[(i/groupInputs*fusedSize+o)*groupInputs+i%groupInputs] = hidden.layouts.groups[hidden.groupsIndex(o, i)]
		}
	}
	return f
}

// addressOf returns the address of an element of a slice that may be nil.
func addressOf(x []float32, i int) *float32 {
	if x == nil {
		return nil
	}
	return &x[i]
}
