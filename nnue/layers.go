package nnue

// Layer is a view of one dense layer of a stack.
type Layer struct {
	Name    string // layer 1, layer 2 or output layer
	Inputs  int
	Stride  int     // length of an output's row in Weights, of which the first Inputs are used
	Weights []int8  // output by output
	Bias    []int32 // one per output
	// WeightOne and BiasOne are what 1.0 of the float network is stored as.
	WeightOne, BiasOne float64
}

// Layers returns the layers of a stack that the architecture has, the output
// layer last. They share the stack's memory.
func (a Architecture) Layers(s *Stack) []Layer {
	hidden := float64(a.LayerScale)
	output := float64(a.OutputScale * a.Units)
	var all []Layer
	if a.L2 != 0 {
		all = append(all, Layer{"layer 1", a.Inputs(), a.Inputs(), s.L1Weights, s.L1Bias, hidden, hidden * ActivationScale})
	}
	if a.L3 != 0 {
		all = append(all, Layer{"layer 2", a.L2, a.L2Stride(), s.L2Weights, s.L2Bias, hidden, hidden * ActivationScale})
	}
	return append(all, Layer{"output layer", a.OutInputs(), a.OutStride(), s.OutWeights, []int32{s.OutBias}, output / ActivationScale, output})
}

// Row returns the weights of an output.
func (l *Layer) Row(output int) []int8 { return l.Weights[output*l.Stride:][:l.Inputs] }

// Bounds returns what the sum of an output can reach for any inputs 0..127.
func (l *Layer) Bounds(output int) Span {
	b := int64(l.Bias[output])
	return reach(l.Row(output)).plus(Span{b, b})
}

// reach bounds the sum of products of weights with activations 0..127.
func reach(weights []int8) (s Span) {
	for _, w := range weights {
		s.Low += ActivationScale * min(int64(w), 0)
		s.High += ActivationScale * max(int64(w), 0)
	}
	return s
}
