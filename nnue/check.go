package nnue

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrOverflow says that a network's parameters allow a sum that leaves its
// integer type.
var ErrOverflow = errors.New("network can overflow")

// Check reports whether the network can be evaluated without overflow in any
// legal position: no accumulator entry can leave int16, no piece-square sum and
// no layer sum int32. The bound takes, for every square of the own king, the
// most active features at their worst values; trained networks stay far inside.
// Exporters call it before a network is published. It also checks the lengths
// of the slices. The error wraps ErrOverflow or ErrArchitecture.
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
	size := n.set.Size()
	check := func(name string, found, expected int) error {
		if found != expected {
			return fmt.Errorf("%w: found %d values in %s, expected %d", ErrArchitecture, found, name, expected)
		}
		return nil
	}
	errs := []error{
		check("FTBias", len(n.FTBias), a.Width),
		check("FTWeights", len(n.FTWeights), size*a.Width),
		check("PSQT", len(n.PSQT), size*a.Stacks),
		check("Stacks", len(n.Stacks), a.Stacks),
	}
	for i := range n.Stacks {
		s := &n.Stacks[i]
		errs = append(errs,
			check("L1Bias", len(s.L1Bias), a.L2),
			check("L1Weights", len(s.L1Weights), a.L2*2*a.Width),
			check("L2Bias", len(s.L2Bias), a.L3),
			check("L2Weights", len(s.L2Weights), a.L3*a.L2Stride()),
			check("OutWeights", len(s.OutWeights), a.L3Stride()))
	}
	return errors.Join(errs...)
}

// checkTransformer bounds the accumulators and the piece-square sums, block by
// block: all active features belong to one square of the own king.
func (n *Network) checkTransformer() error {
	block := n.set.Block()
	zero := make([]int32, n.arch.Stacks)
	for first := 0; first < n.set.Size(); first += block {
		weights := n.FTWeights[first*n.arch.Width:][:block*n.arch.Width]
		if err := checkColumns(n, "accumulator", weights, n.FTBias, math.MinInt16, math.MaxInt16); err != nil {
			return fmt.Errorf("own king on oriented square %d: %w", first/block, err)
		}
		psqt := n.PSQT[first*n.arch.Stacks:][:block*n.arch.Stacks]
		// Half the range, for one perspective's sum is subtracted from the
		// other's.
		if err := checkColumns(n, "piece-square sum", psqt, zero, math.MinInt32/2, math.MaxInt32/2); err != nil {
			return fmt.Errorf("own king on oriented square %d: %w", first/block, err)
		}
	}
	return nil
}

// checkColumns bounds bias + (sum of any MaxActive rows) in every column of a
// block of rows.
func checkColumns[T int16 | int32](n *Network, what string, rows, bias []T, least, most int64) error {
	width := len(bias)
	low, high := make([]T, width), make([]T, width) // at most and at least 0: an absent feature adds 0
	for r := rows; len(r) > 0; r = r[width:] {
		for i, w := range r[:width] {
			low[i], high[i] = min(low[i], w), max(high[i], w)
		}
	}
	active := int64(n.set.MaxActive())
	for i, b := range bias {
		lowest, highest := int64(b)+active*int64(low[i]), int64(b)+active*int64(high[i])
		if lowest < least || highest > most {
			// The quick bound fails; take the worst rows one by one.
			lowest, highest = extremes(rows, width, i, int(active))
			lowest, highest = lowest+int64(b), highest+int64(b)
		}
		if lowest < least || highest > most {
			return fmt.Errorf("%w: found %s %d between %d and %d, expected %d to %d",
				ErrOverflow, what, i, lowest, highest, least, most)
		}
	}
	return nil
}

// extremes returns the sums of the active lowest negative and highest positive
// entries of one column.
func extremes[T int16 | int32](rows []T, width, column, active int) (lowest, highest int64) {
	var values []T
	for i := column; i < len(rows); i += width {
		values = append(values, rows[i])
	}
	slices.Sort(values)
	for i := range min(active, len(values)) {
		lowest += min(int64(values[i]), 0)
		highest += max(int64(values[len(values)-1-i]), 0)
	}
	return lowest, highest
}

// checkStack bounds the sums of the layers for any activations 0..127.
func (n *Network) checkStack(s *Stack) error {
	a := n.arch
	check := func(layer string, weights []int8, stride, inputs int, bias []int32) error {
		for o, b := range bias {
			lowest, highest := int64(b), int64(b)
			for _, w := range weights[o*stride:][:inputs] {
				lowest += 127 * min(int64(w), 0)
				highest += 127 * max(int64(w), 0)
			}
			if lowest < math.MinInt32 || highest > math.MaxInt32 {
				return fmt.Errorf("%w: found output %d of %s between %d and %d, expected an int32",
					ErrOverflow, o, layer, lowest, highest)
			}
		}
		return nil
	}
	return errors.Join(
		check("layer 1", s.L1Weights, 2*a.Width, 2*a.Width, s.L1Bias),
		check("layer 2", s.L2Weights, a.L2Stride(), a.L2, s.L2Bias),
		check("the output layer", s.OutWeights, a.L3Stride(), a.L3, []int32{s.OutBias}))
}
