package netstat

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Neuron is a neuron that does nothing.
type Neuron struct {
	Layer string `json:"layer"` // "transformer", "stack 3 layer 1"
	Index int    `json:"index"`
	Why   string `json:"why"`
}

// The reasons why a neuron is dead.
const (
	neverActive = "always 0"
	alwaysFull  = "always at its limit"
	unheard     = "no weights out of it"
)

// DeadByWeights lists the neurons that the weights leave nothing to do, whatever
// the position: the output cannot differ from 0, or from the limit, or no neuron
// of the next layer listens. bounds are the network's AccumulatorBounds; as they
// are not tight, a neuron may be dead without being found here.
func DeadByWeights(n *nnue.Network, bounds []nnue.Span) []Neuron {
	var dead []Neuron
	for i, b := range bounds {
		switch {
		case b.High <= 0:
			dead = append(dead, Neuron{"transformer", i, neverActive})
		case b.Low >= nnue.ActivationScale:
			dead = append(dead, Neuron{"transformer", i, alwaysFull})
		case !heard(n, i):
			dead = append(dead, Neuron{"transformer", i, unheard})
		}
	}
	return append(dead, deadHidden(n)...)
}

// heard reports whether some neuron of the first layers has a weight for the
// output that a sum of the transformer goes to, in either perspective.
func heard(n *nnue.Network, neuron int) bool {
	a := n.Architecture()
	output := neuron % a.Outputs()
	for i := range n.Stacks {
		first := a.Layers(&n.Stacks[i])[0]
		if listens(&first, output) || listens(&first, a.Outputs()+output) {
			return true
		}
	}
	return false
}

// listens reports whether a layer has a weight for an input.
func listens(l *nnue.Layer, input int) bool {
	for o := range l.Bias {
		if l.Row(o)[input] != 0 {
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
		list := n.Architecture().Layers(&n.Stacks[i])
		for j := range list[:len(list)-1] {
			l := &list[j]
			name := fmt.Sprintf("stack %d %s", i, l.Name)
			for o := range l.Bias {
				sum := l.Bounds(o)
				limit := int64(l.BiasOne)
				switch {
				case sum.High < limit/nnue.ActivationScale: // less than one step above 0
					dead = append(dead, Neuron{name, o, neverActive})
				case sum.Low >= limit:
					dead = append(dead, Neuron{name, o, alwaysFull})
				case !listens(&list[j+1], o):
					dead = append(dead, Neuron{name, o, unheard})
				}
			}
		}
	}
	return dead
}
