package netstat

import (
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// layer is one dense layer of a stack, without padding.
type layer struct {
	name            string
	inputs, outputs int
	stride          int // of weights, output by output
	weights         []int8
	bias            []int32
	// weightOne and biasOne are what 1.0 is stored as.
	weightOne, biasOne float64
}

// row returns the weights of an output.
func (l *layer) row(output int) []int8 { return l.weights[output*l.stride:][:l.inputs] }

// layers lists the layers of a stack that the architecture has; the last one has
// the one output.
func layers(a nnue.Architecture, s *nnue.Stack) (list []layer) {
	hidden, sum := float64(a.LayerScale), float64(a.LayerScale*nnue.ActivationScale)
	if a.L2 != 0 {
		list = append(list, layer{"layer 1", a.Inputs(), a.L2, a.Inputs(), s.L1Weights, s.L1Bias, hidden, sum})
	}
	if a.L3 != 0 {
		list = append(list, layer{"layer 2", a.L2, a.L3, a.L2Stride(), s.L2Weights, s.L2Bias, hidden, sum})
	}
	one := outputOne(a)
	return append(list, layer{
		"output layer", a.OutInputs(), 1, a.OutStride(), s.OutWeights, []int32{s.OutBias},
		one / nnue.ActivationScale, one,
	})
}

// outputOne is what 1.0 of the output is stored as.
func outputOne(a nnue.Architecture) float64 { return float64(a.OutputScale * a.Units) }

// Ranges measures all parameters of a network, the stacks together.
func Ranges(n *nnue.Network) []Range {
	// Sums of the most active rows at once and a bias stay within int16 if no
	// value is larger than this.
	safe := int64(math.MaxInt16 / (n.Features().MaxActive() + 1))
	biases := newCollector("transformer biases", nnue.ActivationScale, safe)
	add(biases, n.FTBias)
	weights := newCollector("transformer weights", nnue.ActivationScale, safe)
	psqt := newCollector("piece-square values", outputOne(n.Architecture()), 0)
	for f := range n.Features().Size() {
		add(weights, n.FTRow(f))
		add(psqt, n.PSQTRow(f))
	}
	list := []Range{biases.done(), weights.done()}
	if psqt.Count > 0 {
		list = append(list, psqt.done())
	}
	var dense []*collector
	for i := range n.Stacks {
		for j, l := range layers(n.Architecture(), &n.Stacks[i]) {
			if i == 0 {
				dense = append(dense, newCollector(l.name+" biases", l.biasOne, 0), newCollector(l.name+" weights", l.weightOne, math.MaxInt8))
			}
			add(dense[2*j], l.bias)
			for o := range l.outputs {
				add(dense[2*j+1], l.row(o))
			}
		}
	}
	for _, c := range dense {
		list = append(list, c.done())
	}
	return list
}

// heard reports whether some neuron of the first layers has a weight for an
// output of the transformer, in either perspective.
func heard(n *nnue.Network, neuron int) bool {
	a := n.Architecture()
	for i := range n.Stacks {
		first := layers(a, &n.Stacks[i])[0]
		if listens(&first, neuron) || listens(&first, a.Width+neuron) {
			return true
		}
	}
	return false
}

// listens reports whether a layer has a weight for an input.
func listens(l *layer, input int) bool {
	for o := range l.outputs {
		if l.row(o)[input] != 0 {
			return true
		}
	}
	return false
}

// deadHidden lists the neurons of the hidden layers that their weights leave
// nothing to do.
func deadHidden(n *nnue.Network) []Neuron {
	var dead []Neuron
	for i := range n.Stacks {
		list := layers(n.Architecture(), &n.Stacks[i])
		for j := range list[:len(list)-1] {
			l := &list[j]
			name := fmt.Sprintf("stack %d %s", i, l.name)
			for o, b := range l.bias {
				low, high := int64(b), int64(b)
				for _, w := range l.row(o) {
					low += nnue.ActivationScale * min(int64(w), 0)
					high += nnue.ActivationScale * max(int64(w), 0)
				}
				limit := int64(l.biasOne)
				switch {
				case high < limit/nnue.ActivationScale: // less than one step above 0
					dead = append(dead, Neuron{name, o, neverActive})
				case low >= limit:
					dead = append(dead, Neuron{name, o, alwaysFull})
				case !listens(&list[j+1], o):
					dead = append(dead, Neuron{name, o, unheard})
				}
			}
		}
	}
	return dead
}
