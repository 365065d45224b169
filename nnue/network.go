package nnue

import (
	"sync"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Network is an architecture and its integer parameters.
//
// The exported slices have the lengths given and may be filled by a trainer.
// Once an Accumulator exists for the network its parameters must not change.
// A network that does not change may be shared between goroutines.
type Network struct {
	// Description is free text stored in the file, any bytes.
	Description string

	// FTBias [Width] is where both perspectives' accumulators begin.
	// Unit: 1/127 of an activation of 1.
	FTBias []int16
	// FTWeights [feature][Width] holds the rows an active feature adds to an
	// accumulator. Unit: 1/127.
	FTWeights []int16
	// PSQT [feature][Stacks] holds what an active feature adds to the
	// piece-square sums, own side positive. Unit: 1/16 of a raw unit.
	PSQT []int32
	// Stacks [Stacks] holds the layers, one stack per bucket.
	Stacks []Stack

	arch     Architecture
	set      features.HalfKAv2
	packOnce sync.Once
	packed   []layers
}

// Stack is the layers of one bucket. Matrices are stored row by row, one row
// per output; the first Width inputs of layer 1 are the side to move's. Padding
// has no meaning but is kept, so that files are copied byte for byte.
type Stack struct {
	L1Bias     []int32 // [L2], unit 1/(64*127)
	L1Weights  []int8  // [L2][2*Width], unit 1/64
	L2Bias     []int32 // [L3], unit 1/(64*127)
	L2Weights  []int8  // [L3][L2Stride()], the first L2 of each row used, unit 1/64
	OutBias    int32   // unit 1/16 of a raw unit
	OutWeights []int8  // [L3Stride()], the first L3 used: raw units per 127/16
}

// New returns a network with all parameters zero. It fails if the architecture
// is not valid.
func New(a Architecture) (*Network, error) {
	set, err := a.resolve()
	if err != nil {
		return nil, err
	}
	n := &Network{
		arch: a, set: set,
		FTBias:    make([]int16, a.Width),
		FTWeights: make([]int16, set.Size()*a.Width),
		PSQT:      make([]int32, set.Size()*a.Stacks),
		Stacks:    make([]Stack, a.Stacks),
	}
	for i := range n.Stacks {
		n.Stacks[i] = Stack{
			L1Bias:     make([]int32, a.L2),
			L1Weights:  make([]int8, a.L2*2*a.Width),
			L2Bias:     make([]int32, a.L3),
			L2Weights:  make([]int8, a.L3*a.L2Stride()),
			OutWeights: make([]int8, a.L3Stride()),
		}
	}
	return n, nil
}

// Architecture returns the network's shape.
func (n *Network) Architecture() Architecture { return n.arch }

// Features returns the network's feature set.
func (n *Network) Features() features.HalfKAv2 { return n.set }

// row returns the transformer weights of a feature.
func (n *Network) row(feature int32) []int16 {
	return n.FTWeights[int(feature)*n.arch.Width:][:n.arch.Width]
}

// psqtRow returns the piece-square values of a feature.
func (n *Network) psqtRow(feature int32) []int32 {
	return n.PSQT[int(feature)*n.arch.Stacks:][:n.arch.Stacks]
}

// layers is a Stack arranged for fast evaluation.
type layers struct {
	stack  *Stack
	l1, l2 *kernel.Matrix
	out    []int8 // without padding
}

// pack arranges the stacks for evaluation, once.
func (n *Network) pack() []layers {
	n.packOnce.Do(func() {
		a := n.arch
		for i := range n.Stacks {
			s := &n.Stacks[i]
			n.packed = append(n.packed, layers{
				stack: s,
				l1:    kernel.NewMatrix(s.L1Weights, a.L2, 2*a.Width, 2*a.Width),
				l2:    kernel.NewMatrix(s.L2Weights, a.L3, a.L2, a.L2Stride()),
				out:   s.OutWeights[:a.L3],
			})
		}
	})
	return n.packed
}
