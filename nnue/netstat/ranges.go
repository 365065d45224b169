package netstat

import "math"

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
