//go:build (amd64 || arm64) && !purego

package kernel

import "testing"

// TestNarrow looks at the bound, 127 * 258 = 32766, in every pair of every group of 16
// inputs, with either sign.
func TestNarrow(t *testing.T) {
	rest := []layer{randomLayer(testRand(), 32, 16), randomLayer(testRand(), 1, 32)}
	tail := NewTail(6, rest[0].dense(), rest[1].dense())
	const lanes = 32
	us, in := make([]int16, lanes), make([]uint8, 2*lanes)
	for i := range us {
		us[i], in[i], in[lanes+i] = MaxActivation, MaxActivation, MaxActivation
	}
	atEveryLevel(t, func(t *testing.T) {
		for at := range 2 * lanes {
			for _, sign := range []int8{-1, 1} {
				l := layer{outputs: 16, inputs: 2 * lanes, stride: 2 * lanes, weights: make([]int8, 16*2*lanes), bias: make([]int32, 16)}
				row := l.weights[7*l.stride:]
				for i := range 2 * lanes {
					if i/vectorInputs == at/vectorInputs && i%groupInputs/2 == at%groupInputs/2 {
						row[i] = largestNarrow * sign // eight of them
					}
				}
				row[at] += 2 * sign
				d := l.dense()
				if !d.layouts.narrow {
					t.Fatalf("input %d: weights of 258 in all are not narrow", at)
				}
				want := slowTail(6, rest, l.slowMul(in))
				if got := tail.EvalAccumulators(d, us, us, make([]uint8, 2*lanes), make([]int32, 16)); got != want {
					t.Fatalf("input %d: got %d, want %d", at, got, want)
				}
				row[at] += sign
				if l.dense().layouts.narrow {
					t.Fatalf("input %d: weights of 259 in all are narrow", at)
				}
			}
		}
	})
}
