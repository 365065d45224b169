package nnue

import (
	"sync"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Network is an architecture and its integer parameters.
//
// The exported slices have the lengths given and, like the rows of the
// transformer, may be filled by a trainer. Once an Accumulator exists for the
// network its parameters must not change. A network that does not change may be
// shared between goroutines.
type Network struct {
	// Description is free text stored in the file, any bytes.
	Description string

	// FTBias [Width] is where both perspectives' accumulators begin.
	// Unit: 1/127 of an activation of 1.
	FTBias []int16
	// Stacks [Stacks] holds the layers, one stack per bucket.
	Stacks []Stack

	arch    Architecture
	variant *chess.Variant
	set     features.Set
	rows    *kernel.Rows // transformer weights and piece-square values, one row per feature

	packOnce sync.Once
	packed   []layers
}

// Stack is the layers of one bucket. Matrices are stored row by row, one row
// per output; the first half of the inputs of layer 1 are the side to move's. A layer
// that the architecture lacks has slices of length 0. Padding has no meaning
// but is kept, so that files are copied byte for byte.
type Stack struct {
	L1Bias     []int32 // [L2], unit 1/(LayerScale*127)
	L1Weights  []int8  // [L2][Inputs()], unit 1/LayerScale
	L2Bias     []int32 // [L3], unit 1/(LayerScale*127)
	L2Weights  []int8  // [L3][L2Stride()], the first L2 of each row used, unit 1/LayerScale
	OutBias    int32   // unit 1/OutputScale of a raw unit
	OutWeights []int8  // [OutStride()], the first OutInputs() used: raw units per 127/OutputScale
}

// New returns a network with all parameters zero. It fails if the architecture
// is not valid.
func New(a Architecture) (*Network, error) {
	set, err := a.Set()
	if err != nil {
		return nil, err
	}
	v, err := chess.ParseVariant(a.Variant)
	if err != nil {
		return nil, err
	}
	n := &Network{
		arch: a, variant: v, set: set,
		FTBias: make([]int16, a.Width),
		Stacks: make([]Stack, a.Stacks),
		rows:   kernel.NewRows(set.Size(), a.Width, a.PSQT),
	}
	for i := range n.Stacks {
		n.Stacks[i] = Stack{
			L1Bias:     make([]int32, a.L2),
			L1Weights:  make([]int8, a.L2*a.Inputs()),
			L2Bias:     make([]int32, a.L3),
			L2Weights:  make([]int8, a.L3*a.L2Stride()),
			OutWeights: make([]int8, a.OutStride()),
		}
	}
	return n, nil
}

// Architecture returns the network's shape.
func (n *Network) Architecture() Architecture { return n.arch }

// Variant returns the variant the network plays.
func (n *Network) Variant() *chess.Variant { return n.variant }

// Features returns the network's feature set.
func (n *Network) Features() features.Set { return n.set }

// FTRow returns the transformer's row of a feature, [Width]: what the feature
// adds to an accumulator while it is active. Unit: 1/127. Writing to it changes
// the network.
func (n *Network) FTRow(feature int) []int16 { return n.rows.LanesOf(feature) }

// PSQTRow returns the piece-square values of a feature, [PSQT]: what it adds to
// the piece-square sums, own side positive. Unit: 1/OutputScale of a raw unit.
// Writing to it changes the network.
func (n *Network) PSQTRow(feature int) []int32 { return n.rows.SumsOf(feature) }

// layers is a Stack arranged for evaluation: its first layer, whose inputs are
// the transformer's, and the rest.
type layers struct {
	first *kernel.Dense
	tail  *kernel.Tail
}

// pack arranges the stacks for evaluation, once.
func (n *Network) pack() []layers {
	n.packOnce.Do(func() {
		for i := range n.Stacks {
			n.packed = append(n.packed, n.arch.pack(&n.Stacks[i]))
		}
	})
	return n.packed
}

func (a Architecture) pack(s *Stack) layers {
	var all []*kernel.Dense
	for _, l := range a.Layers(s) {
		all = append(all, kernel.NewDense(l.Weights, l.Bias, len(l.Bias), l.Inputs, l.Stride))
	}
	return layers{first: all[0], tail: kernel.NewTail(a.shift(), all[1:]...)}
}
