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
// no layer sum int32. The bounds are those of AccumulatorBounds; trained networks
// stay far inside. Exporters call it before a network is published. It also
// checks the lengths of the slices. The error wraps ErrOverflow or
// ErrArchitecture.
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
	err := checkColumns(n.set, "accumulator", n.FTRow, n.FTBias, Span{math.MinInt16, math.MaxInt16})
	if err != nil {
		return err
	}
	// Half the range, for one perspective's sum is subtracted from the other's.
	zero := make([]int32, n.arch.PSQT)
	return checkColumns(n.set, "piece-square sum", n.PSQTRow, zero, Span{math.MinInt32 / 2, math.MaxInt32 / 2})
}

// checkColumns bounds bias + (sum of the active rows) in every column.
func checkColumns[T int16 | int32](set features.Set, what string, row func(feature int) []T, bias []T, allowed Span) error {
	outside := func(s Span) bool { return !s.within(allowed) }
	if !slices.ContainsFunc(quickBounds(set, row, bias), outside) {
		return nil
	}
	bounds := columnBounds(set, row, bias)
	if i := slices.IndexFunc(bounds, outside); i >= 0 {
		return fmt.Errorf("%w: found %s %d between %d and %d, expected %d to %d",
			ErrOverflow, what, i, bounds[i].Low, bounds[i].High, allowed.Low, allowed.High)
	}
	return nil
}

// checkStack bounds the sums of the layers for any activations 0..127.
func (n *Network) checkStack(s *Stack) error {
	for _, l := range n.arch.Layers(s) {
		for o := range l.Bias {
			found := l.Bounds(o)
			if !found.within(Span{math.MinInt32, math.MaxInt32}) {
				return fmt.Errorf("%w: found output %d of %s between %d and %d, expected an int32",
					ErrOverflow, o, l.Name, found.Low, found.High)
			}
		}
	}
	return nil
}
