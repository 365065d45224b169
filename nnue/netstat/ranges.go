package netstat

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Range says how the parameters of one layer are spread, as the file stores
// them: in integers of which One make 1.0.
type Range struct {
	Layer string  `json:"layer"` // "transformer weights", "layer 1 biases"
	Count int     `json:"count"` // padding left out
	One   float64 `json:"one"`
	Min   int64   `json:"min"`
	Max   int64   `json:"max"`
	Mean  float64 `json:"mean_abs"` // of the magnitudes
	// Limit is the magnitude at which layer weights are clipped, and that of
	// transformer parameters up to which no accumulator can overflow; 0 where
	// there is none. AtLimit is the share there or beyond.
	Limit   int64   `json:"limit,omitempty"`
	AtLimit float64 `json:"at_limit"`
}

// collector adds up the values of a layer.
type collector struct {
	Range
	sum     float64
	limited int
}

func newCollector(layer string, one float64, limit int64) *collector {
	return &collector{Range: Range{Layer: layer, One: one, Limit: limit, Min: math.MaxInt64, Max: math.MinInt64}}
}

func add[T int8 | int16 | int32](c *collector, values []T) {
	for _, v := range values {
		w := int64(v)
		c.Count++
		c.Min, c.Max = min(c.Min, w), max(c.Max, w)
		c.sum += math.Abs(float64(w))
		if c.Limit > 0 && max(w, -w) >= c.Limit {
			c.limited++
		}
	}
}

func (c *collector) done() Range {
	if c.Count == 0 {
		c.Min, c.Max = 0, 0
		return c.Range
	}
	c.Mean = c.sum / float64(c.Count)
	c.AtLimit = float64(c.limited) / float64(c.Count)
	return c.Range
}

// Ranges measures all parameters of a network, the stacks together.
func Ranges(n *nnue.Network) []Range {
	a := n.Architecture()
	// Sums of the most active rows at once and a bias stay within int16 if no
	// value is larger than this.
	safe := int64(math.MaxInt16 / (n.Features().MaxActive() + 1))
	biases := newCollector("transformer biases", nnue.ActivationScale, safe)
	add(biases, n.FTBias)
	weights := newCollector("transformer weights", nnue.ActivationScale, safe)
	psqt := newCollector("piece-square values", float64(a.OutputScale*a.Units), 0)
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
		for j, l := range a.Layers(&n.Stacks[i]) {
			if i == 0 {
				dense = append(dense, newCollector(l.Name+" biases", l.BiasOne, 0), newCollector(l.Name+" weights", l.WeightOne, math.MaxInt8))
			}
			add(dense[2*j], l.Bias)
			for o := range l.Bias {
				add(dense[2*j+1], l.Row(o))
			}
		}
	}
	for _, c := range dense {
		list = append(list, c.done())
	}
	return list
}
