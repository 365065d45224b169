package nnue_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// TestAccumulatorBounds plants rows in the features of two squares of the own
// king, which are never active together.
func TestAccumulatorBounds(t *testing.T) {
	n := random(t, withFeatures("HalfKAv2"), 1)
	const block = 864
	for f := range n.Features().Size() {
		clear(n.FTRow(f))
	}
	n.FTBias[0], n.FTBias[1] = 0, 7
	for i := range 40 { // 32 at most are active
		n.FTRow(2*block + i)[1] = 1000
		n.FTRow(3*block + i)[1] = 1001
		n.FTRow(3*block + 100 + i)[1] = -10
	}
	bounds := n.AccumulatorBounds()
	if want := (nnue.Span{Low: 7 - 320, High: 7 + 32*1001}); bounds[1] != want {
		t.Errorf("found %+v, expected %+v", bounds[1], want)
	}
	if bounds[0] != (nnue.Span{}) {
		t.Errorf("found %+v of a neuron without weights", bounds[0])
	}
}

// TestAccumulatorBoundsTwin compares the bounds with sorted columns.
func TestAccumulatorBoundsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, expression := range []string{
		"All + Hand", "King + H * King", "King * H + PH", "HandHeld * King", "H * V", "HalfKP",
	} {
		a := withFeatures(expression)
		a.PSQT = 0
		a.Width = 48 // more than are bounded at once
		n := random(t, a, rng.Uint64())
		set := n.Features()
		parts := boundsTwin(n, features.Parts(set))
		whole := boundsTwin(n, []features.Part{{Set: set}})
		for i, found := range n.AccumulatorBounds() {
			want := nnue.Span{Low: max(parts[i].Low, whole[i].Low), High: min(parts[i].High, whole[i].High)}
			if found != want {
				t.Fatalf("%s: column %d: found %+v, expected %+v", expression, i, found, want)
			}
		}
	}
}

// boundsTwin adds up, in every column, the largest and the smallest rows of each
// part, in its worst group.
func boundsTwin(n *nnue.Network, parts []features.Part) []nnue.Span {
	bounds := make([]nnue.Span, len(n.FTBias))
	for column, b := range n.FTBias {
		sum := nnue.Span{Low: int64(b), High: int64(b)}
		for _, p := range parts {
			var worst nnue.Span
			groups := features.GroupsOf(p.Set)
			for g := range groups.Count {
				var values []int
				for i := range groups.Size {
					values = append(values, int(n.FTRow(p.First + groups.Feature(g, i))[column]))
				}
				slices.Sort(values)
				var s nnue.Span
				for i := range min(p.Set.MaxActive(), len(values)) {
					s.Low += int64(min(values[i], 0))
					s.High += int64(max(values[len(values)-1-i], 0))
				}
				worst = nnue.Span{Low: min(worst.Low, s.Low), High: max(worst.High, s.High)}
			}
			sum = nnue.Span{Low: sum.Low + worst.Low, High: sum.High + worst.High}
		}
		bounds[column] = sum
	}
	return bounds
}

func withFeatures(expression string) nnue.Architecture {
	a := nnue.Narrow(16)
	a.Features = expression
	return a
}
