package netstat

import (
	"math"
	"slices"

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
	active := part.Set.MaxActive()
	column := make([]int16, count)
	for i := range sum {
		for j := range column {
			column[j] = n.FTRow(part.First + first + j*stride)[i]
		}
		slices.Sort(column)
		for j := range min(active, count) {
			sum[i].Low += int64(min(column[j], 0))
			sum[i].High += int64(max(column[count-1-j], 0))
		}
	}
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
