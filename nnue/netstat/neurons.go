package netstat

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Bound is what a neuron of the transformer can reach before clipping, in
// stored integers, in any position with at most MaxActive features of each part
// of the set: for the worst square of the own king.
type Bound struct{ Low, High int64 }

// Bounds returns the bounds of all neurons of the transformer.
func Bounds(n *nnue.Network) []Bound {
	width := n.Architecture().Width
	bounds := make([]Bound, width)
	for i := range bounds {
		bounds[i] = Bound{Low: math.MaxInt64, High: math.MinInt64}
	}
	parts := features.Parts(n.Features())
	v := variant(n)
	for king := range chess.Square(64) {
		sum := make([]Bound, width)
		for i, b := range n.FTBias {
			sum[i] = Bound{int64(b), int64(b)}
		}
		for _, part := range parts {
			addExtremes(sum, n, part, v, king)
		}
		for i, b := range sum {
			bounds[i].Low, bounds[i].High = min(bounds[i].Low, b.Low), max(bounds[i].High, b.High)
		}
		if n.Features().Anchors() == 1 {
			break
		}
	}
	return bounds
}

// variant returns the variant a network plays.
func variant(n *nnue.Network) *chess.Variant {
	v, err := chess.ParseVariant(n.Architecture().Variant)
	if err != nil {
		panic("netstat: a network of an unknown variant: " + err.Error())
	}
	return v
}

// addExtremes adds to every neuron's bound the least and the most that the
// features of a part add which can be active with the own king on a square.
func addExtremes(sum []Bound, n *nnue.Network, part features.Part, v *chess.Variant, king chess.Square) {
	first, stride, count := block(part.Set, v, king)
	active := min(part.Set.MaxActive(), count)
	if active == 0 {
		return
	}
	low, high := newLargest(len(sum), active), newLargest(len(sum), active)
	for j := range count {
		row := n.FTRow(part.First + first + j*stride)
		low.note(row, -1)
		high.note(row, 1)
	}
	for i := range sum {
		sum[i].Low -= low.sum(i)
		sum[i].High += high.sum(i)
	}
}

// largest keeps the few largest positive values of every column of a table.
type largest struct {
	few    int
	values []int32 // [column][few], rising, zeros first: a feature that is not active adds 0
}

func newLargest(columns, few int) *largest {
	return &largest{few: few, values: make([]int32, columns*few)}
}

func (l *largest) column(i int) []int32 { return l.values[i*l.few:][:l.few] }

// note takes a row of the table, times sign.
func (l *largest) note(row []int16, sign int32) {
	for i, w := range row {
		v, kept := sign*int32(w), l.column(i)
		if v <= kept[0] {
			continue
		}
		at := 1
		for ; at < len(kept) && kept[at] < v; at++ {
			kept[at-1] = kept[at]
		}
		kept[at-1] = v
	}
}

func (l *largest) sum(i int) (sum int64) {
	for _, v := range l.column(i) {
		sum += int64(v)
	}
	return sum
}

// block returns the features of a set that can be active with the own king on a
// square, as count numbers from first on. If the set's numbering is not known,
// these are all.
func block(set features.Set, v *chess.Variant, king chess.Square) (first, stride, count int) {
	size := set.Size()
	if set.Anchors() == 1 {
		return 0, 1, size
	}
	// The own king's square is the first factor of the number or the last.
	leading, trailing := true, true
	for _, square := range []chess.Square{0, 12, 63} {
		p := setup{own: square, enemy: farFrom(square, square)}.position(v)
		for _, f := range set.Active(p, chess.White, nil) {
			leading = leading && int(f)/(size/64) == int(square)
			trailing = trailing && int(f)%64 == int(square)
		}
	}
	switch {
	case leading:
		return int(king) * (size / 64), 1, size / 64
	case trailing:
		return int(king), 64, size / 64
	}
	return 0, 1, size
}

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
	constant    = "always the same"
	unheard     = "no weights out of it"
)

// DeadByWeights lists the neurons that the weights leave nothing to do, whatever
// the position: the output cannot differ from 0, or from the limit, or no neuron
// of the next layer listens. The sums are bounded as by Check, so that a neuron
// may be dead without being found here.
func DeadByWeights(n *nnue.Network) []Neuron {
	var dead []Neuron
	for i, b := range Bounds(n) {
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
