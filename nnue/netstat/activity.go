package netstat

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Watch runs positions through a network and notes what its neurons do.
type Watch struct {
	net       *nnue.Network
	positions int
	buckets   []int // positions by stack
	layers    []watched
}

// watched is the outputs of one layer.
type watched struct {
	name    string
	bucket  int // -1: the transformer, which serves all
	outputs int // counted for each neuron
	neurons []tally
}

type tally struct {
	active, full int
	least, most  uint8
}

// NewWatch returns a watch of a network.
func NewWatch(n *nnue.Network) *Watch {
	a := n.Architecture()
	w := &Watch{net: n, buckets: make([]int, a.Stacks)}
	w.add("transformer", -1, a.Outputs())
	for i := range n.Stacks {
		list := a.Layers(&n.Stacks[i])
		for _, l := range list[:len(list)-1] {
			w.add(fmt.Sprintf("stack %d %s", i, l.Name), i, len(l.Bias))
		}
	}
	return w
}

func (w *Watch) add(name string, bucket, neurons int) {
	l := watched{name: name, bucket: bucket, neurons: make([]tally, neurons)}
	for i := range l.neurons {
		l.neurons[i].least = 255
	}
	w.layers = append(w.layers, l)
}

// Add runs one position through the network.
func (w *Watch) Add(p *chess.Position) {
	t := w.net.Trace(p)
	w.positions++
	w.buckets[t.Bucket]++
	outputs := w.net.Architecture().Outputs()
	stack := &t.Stacks[t.Bucket]
	hidden := [][]uint8{stack.Out1, stack.Out2} // as far as there are such layers
	for i := range w.layers {
		switch l := &w.layers[i]; l.bucket {
		case -1: // each neuron twice, once a perspective
			l.note(t.Transformed[:outputs])
			l.note(t.Transformed[outputs:])
		case t.Bucket:
			l.note(hidden[0])
			hidden = hidden[1:]
		}
	}
}

func (l *watched) note(outputs []uint8) {
	l.outputs++
	for i, v := range outputs {
		t := &l.neurons[i]
		t.least, t.most = min(t.least, v), max(t.most, v)
		if v > 0 {
			t.active++
		}
		if v == nnue.ActivationScale {
			t.full++
		}
	}
}

// Activity is what a Watch has seen.
type Activity struct {
	Positions int          `json:"positions"`
	Buckets   []int        `json:"buckets"` // positions by stack
	Layers    []LayerRates `json:"layers"`  // those that saw a position
	Dead      []Neuron     `json:"dead"`    // of these layers
}

// LayerRates is how often the neurons of a layer were above 0 and at their limit, as
// shares of Outputs.
type LayerRates struct {
	Layer   string    `json:"layer"`
	Outputs int       `json:"outputs"` // seen of each neuron
	Active  []float64 `json:"active"`
	Full    []float64 `json:"full"`
}

// Activity returns what was seen so far. Neurons are dead whose output was
// always the same.
func (w *Watch) Activity() Activity {
	a := Activity{Positions: w.positions, Buckets: w.buckets}
	for _, l := range w.layers {
		if l.outputs == 0 {
			continue
		}
		r := LayerRates{Layer: l.name, Outputs: l.outputs}
		for i, t := range l.neurons {
			r.Active = append(r.Active, float64(t.active)/float64(l.outputs))
			r.Full = append(r.Full, float64(t.full)/float64(l.outputs))
			switch {
			case t.most == 0:
				a.Dead = append(a.Dead, Neuron{l.name, i, neverActive})
			case t.least == nnue.ActivationScale:
				a.Dead = append(a.Dead, Neuron{l.name, i, alwaysFull})
			case t.least == t.most && l.outputs > 1:
				a.Dead = append(a.Dead, Neuron{l.name, i, fmt.Sprintf("always %d", t.least)})
			}
		}
		a.Layers = append(a.Layers, r)
	}
	return a
}
