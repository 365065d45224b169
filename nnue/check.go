package nnue

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// ErrOverflow says that a network's parameters allow a sum that leaves its
// integer type.
var ErrOverflow = errors.New("network can overflow")

// Check reports whether the network can be evaluated without overflow in any
// legal position: no accumulator entry can leave int16, no piece-square sum and
// no layer sum int32. The bound takes the worst of as many rows as can be
// active, of the feature set and of its summands, for HalfKAv2 with the own king
// on one square; trained networks stay far inside. Exporters call it before a network
// is published. It also checks the lengths of the slices. The error wraps
// ErrOverflow or ErrArchitecture.
func (n *Network) Check() error {
	if err := n.checkLengths(); err != nil {
		return err
	}
	if err := n.checkTransformer(); err != nil {
		return err
	}
	for i := range n.Stacks {
		if err := n.checkStack(&n.Stacks[i]); err != nil {
			return fmt.Errorf("stack %d: %w", i, err)
		}
	}
	return nil
}

// checkLengths compares every slice with the architecture.
func (n *Network) checkLengths() error {
	a := n.arch
	check := func(name string, found, expected int) error {
		if found != expected {
			return fmt.Errorf("%w: found %d values in %s, expected %d", ErrArchitecture, found, name, expected)
		}
		return nil
	}
	errs := []error{
		check("FTBias", len(n.FTBias), a.Width),
		check("Stacks", len(n.Stacks), a.Stacks),
	}
	for i := range n.Stacks {
		s := &n.Stacks[i]
		errs = append(errs,
			check("L1Bias", len(s.L1Bias), a.L2),
			check("L1Weights", len(s.L1Weights), a.L2*a.Inputs()),
			check("L2Bias", len(s.L2Bias), a.L3),
			check("L2Weights", len(s.L2Weights), a.L3*a.L2Stride()),
			check("OutWeights", len(s.OutWeights), a.OutStride()))
	}
	return errors.Join(errs...)
}

// checkTransformer bounds the accumulators and the piece-square sums.
func (n *Network) checkTransformer() error {
	err := checkColumns(n.set, "accumulator", n.FTRow, n.FTBias, span{math.MinInt16, math.MaxInt16})
	if err != nil {
		return err
	}
	// Half the range, for one perspective's sum is subtracted from the other's.
	zero := make([]int32, n.arch.PSQT)
	return checkColumns(n.set, "piece-square sum", n.PSQTRow, zero, span{math.MinInt32 / 2, math.MaxInt32 / 2})
}

// span is the range a sum can take.
type span struct{ low, high int64 }

func (s span) plus(t span) span   { return span{s.low + t.low, s.high + t.high} }
func (s span) meet(t span) span   { return span{max(s.low, t.low), min(s.high, t.high)} }
func (s span) within(t span) bool { return s.low >= t.low && s.high <= t.high }

// checkColumns bounds bias + (sum of the active rows) in every column.
func checkColumns[T int16 | int32](set features.Set, what string, row func(feature int) []T, bias []T, allowed span) error {
	ways := groupings(set)
	quick := make([][]span, len(ways))
	for i, parts := range ways {
		quick[i] = quickSpans(parts, row, bias)
	}
	for column, b := range bias {
		found := quick[0][column]
		for _, spans := range quick[1:] {
			found = found.meet(spans[column])
		}
		if found.within(allowed) {
			continue
		}
		// The quick bound fails; take the worst rows one by one.
		for _, parts := range ways {
			exact := span{int64(b), int64(b)}
			for _, p := range parts {
				exact = exact.plus(exactSpan(p, func(f int) int64 { return int64(row(f)[column]) }))
			}
			found = found.meet(exact)
		}
		if !found.within(allowed) {
			return fmt.Errorf("%w: found %s %d between %d and %d, expected %d to %d",
				ErrOverflow, what, column, found.low, found.high, allowed.low, allowed.high)
		}
	}
	return nil
}

// groupings returns ways to bound the sum of a set's active rows. A sum of sets
// is bounded as a whole, for its parts are not at their most at once, and part
// by part, for each has its own number of rows.
func groupings(set features.Set) [][]features.Part {
	ways := [][]features.Part{features.Parts(set)}
	if len(ways[0]) > 1 {
		ways = append(ways, []features.Part{{Set: set}})
	}
	return ways
}

// quickSpans bounds every column of bias + (sum of the active rows of parts),
// with all active rows of a part as its worst.
func quickSpans[T int16 | int32](parts []features.Part, row func(feature int) []T, bias []T) []span {
	spans := make([]span, len(bias))
	for i, b := range bias {
		spans[i] = span{int64(b), int64(b)}
	}
	low, high := make([]T, len(bias)), make([]T, len(bias))
	for _, p := range parts {
		clear(low) // an absent feature adds 0
		clear(high)
		for f := range p.Set.Size() {
			for i, w := range row(p.First + f)[:len(low)] {
				low[i], high[i] = min(low[i], w), max(high[i], w)
			}
		}
		active := int64(p.Set.MaxActive())
		for i := range spans {
			spans[i] = spans[i].plus(span{active * int64(low[i]), active * int64(high[i])})
		}
	}
	return spans
}

// exactSpan bounds the sum of as many values of a part's features as can be
// active, in the worst of its blocks.
func exactSpan(p features.Part, value func(feature int) int64) span {
	block, active := blockOf(p.Set), p.Set.MaxActive()
	values := make([]int64, block)
	var worst span
	for first := 0; first < p.Set.Size(); first += block {
		for i := range values {
			values[i] = value(p.First + first + i)
		}
		slices.Sort(values)
		var s span
		for i := range min(active, block) {
			s.low += min(values[i], 0)
			s.high += max(values[block-1-i], 0)
		}
		worst = span{min(worst.low, s.low), max(worst.high, s.high)}
	}
	return worst
}

// blockOf returns how many features in a row can be active together: those of
// one square of the own king if the set numbers them that way, or all.
func blockOf(set features.Set) int {
	if s, ok := set.(interface{ Block() int }); ok {
		return s.Block()
	}
	return set.Size()
}

// layer is one dense layer of a stack, with the name errors give it.
type layer struct {
	name           string
	weights        []int8 // one row of stride per output, the first inputs of it used
	stride, inputs int
	bias           []int32
}

// layersOf returns the layers of a stack that the architecture has, the output
// layer last.
func (a Architecture) layersOf(s *Stack) (all []layer) {
	if a.L2 != 0 {
		all = append(all, layer{"layer 1", s.L1Weights, a.Inputs(), a.Inputs(), s.L1Bias})
	}
	if a.L3 != 0 {
		all = append(all, layer{"layer 2", s.L2Weights, a.L2Stride(), a.L2, s.L2Bias})
	}
	return append(all, layer{"the output layer", s.OutWeights, a.OutStride(), a.OutInputs(), []int32{s.OutBias}})
}

// row returns the weights of an output.
func (l *layer) row(output int) []int8 { return l.weights[output*l.stride:][:l.inputs] }

// checkStack bounds the sums of the layers for any activations 0..127.
func (n *Network) checkStack(s *Stack) error {
	for _, l := range n.arch.layersOf(s) {
		for o, b := range l.bias {
			found := reach(l.row(o)).plus(span{int64(b), int64(b)})
			if !found.within(span{math.MinInt32, math.MaxInt32}) {
				return fmt.Errorf("%w: found output %d of %s between %d and %d, expected an int32",
					ErrOverflow, o, l.name, found.low, found.high)
			}
		}
	}
	return nil
}

// reach bounds the sum of products of weights with activations 0..127.
func reach(weights []int8) (s span) {
	for _, w := range weights {
		s.low += ActivationScale * min(int64(w), 0)
		s.high += ActivationScale * max(int64(w), 0)
	}
	return s
}
