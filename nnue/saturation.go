package nnue

import "math"

// Saturation is four weights of a hidden layer whose products can leave int16
// when they are added, which builds of Fairy-Stockfish for x86 without VNNI do
// with saturation: with the right activations their evaluation would differ
// from ours, which is exact.
type Saturation struct {
	Stack  int    `json:"stack"`  // index of the stack
	Layer  int    `json:"layer"`  // 1 or 2
	Output int    `json:"output"` // of the layer
	Inputs [4]int `json:"inputs"` // whose products are added in 16 bits
	// Lowest and Highest bound the sum of the products; one is outside int16.
	Lowest  int `json:"lowest"`
	Highest int `json:"highest"`
}

// saturating are the places, among eight inputs in a row, of the weights whose
// products are added in 16 bits. Source: Fairy-Stockfish c19b5f6c,
// src/nnue/layers/affine_transform.h.
var saturating = [2][4]int{{0, 1, 4, 5}, {2, 3, 6, 7}}

// Saturations returns all groups of weights that can saturate, by stack, layer,
// output and input. Weights within ±64 never do, nor does the output layer.
func (n *Network) Saturations() (found []Saturation) {
	for stack := range n.Stacks {
		layers := n.arch.Layers(&n.Stacks[stack])
		for i, l := range layers[:len(layers)-1] {
			for o := range l.Bias {
				for _, s := range saturations(l.Row(o)) {
					s.Stack, s.Layer, s.Output = stack, i+1, o
					found = append(found, s)
				}
			}
		}
	}
	return found
}

// saturations returns the groups of one row that can saturate.
func saturations(row []int8) (found []Saturation) {
	for first := 0; first < len(row); first += 8 {
		for _, places := range saturating {
			var s Saturation
			var weights []int8
			for i, place := range places {
				s.Inputs[i] = first + place
				if s.Inputs[i] < len(row) {
					weights = append(weights, row[s.Inputs[i]])
				}
			}
			sum := reach(weights)
			if s.Lowest, s.Highest = int(sum.Low), int(sum.High); !sum.within(Span{math.MinInt16, math.MaxInt16}) {
				found = append(found, s)
			}
		}
	}
	return found
}
