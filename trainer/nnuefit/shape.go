package nnuefit

// shape holds the sizes of a net and where its parameters lie.
//
// A transformer row is width accumulator columns followed by the PSQT columns.
// Real rows are indexed by feature; virtual rows, the factoriser, by what is
// left of the feature without its king square.
type shape struct {
	features  int
	anchors   int     // features that occur together have one anchor; rows of one lie close in memory
	virtual   int     // virtual rows; 0: no factoriser
	toVirtual []int32 // [features] virtual row of each real row; nil without factoriser
	width     int
	psqt      int // PSQT columns: stacks, or 0
	stacks    int
	l2, l3    int  // outputs of layers 1 and 2; 0: no such layer
	square    bool // the transformer's outputs are squared after clipping
	pairs     bool // they are the clipped sums of the first half times those of the second
}

// row is the length of a transformer row.
func (s *shape) row() int { return s.width + s.psqt }

// stride is the distance of transformer rows in memory: whole cache lines.
func (s *shape) stride() int { return (s.row() + 15) &^ 15 }

// inputs is the number of inputs of the layers: two perspectives.
func (s *shape) inputs() int { return 2 * s.outputs() }

// outputs is the number of the transformer's outputs for a perspective.
func (s *shape) outputs() int {
	if s.pairs {
		return s.width / 2
	}
	return s.width
}

// beside reports whether these lie beside the sums, not in their place: where the
// derivative does not follow from the outputs.
func (s *shape) beside() bool { return s.square || s.pairs }

// last is the number of inputs of the output.
func (s *shape) last() int {
	switch {
	case s.l3 > 0:
		return s.l3
	case s.l2 > 0:
		return s.l2
	}
	return s.inputs()
}

// layout gives the offsets of the dense parameters in one flat vector, biases
// first so that weight decay covers one contiguous part.
//
//	bias [width] b1 [stacks][l2] b2 [stacks][l3] b3 [stacks]
//	fact [inputs][l2] w1 [stacks][inputs][l2] w2 [stacks][l2][l3] w3 [stacks][last]
//
// fact is the part of layer 1 that all stacks share. Weights are input-major.
type layout struct {
	shape
	b1, b2, b3, fact, w1, w2, w3, size int
}

func newLayout(s shape) layout {
	l := layout{shape: s}
	l.b1 = s.width
	l.b2 = l.b1 + s.stacks*s.l2
	l.b3 = l.b2 + s.stacks*s.l3
	l.fact = l.b3 + s.stacks
	l.w1 = l.fact + s.inputs()*s.l2
	l.w2 = l.w1 + s.stacks*s.inputs()*s.l2
	l.w3 = l.w2 + s.stacks*s.l2*s.l3
	l.size = l.w3 + s.stacks*s.last()
	return l
}

// stack is one layer stack inside a flat vector of weights or gradients.
type stack struct{ b1, b2, b3, w1, w2, w3 []float32 }

func (l *layout) stack(x []float32, k int) stack {
	part := func(at, n int) []float32 { return x[at+k*n : at+(k+1)*n : at+(k+1)*n] }
	return stack{
		b1: part(l.b1, l.l2), b2: part(l.b2, l.l3), b3: part(l.b3, 1),
		w1: part(l.w1, l.inputs()*l.l2), w2: part(l.w2, l.l2*l.l3), w3: part(l.w3, l.last()),
	}
}

// each calls f with the parts of a stack.
func (s *stack) each(f func([]float32)) {
	for _, part := range [...][]float32{s.b1, s.b2, s.b3, s.w1, s.w2, s.w3} {
		f(part)
	}
}

func (l *layout) bias(x []float32) []float32     { return x[:l.width:l.width] }
func (l *layout) sharedW1(x []float32) []float32 { return x[l.fact:l.w1:l.w1] }
func (l *layout) stacksW1(x []float32) []float32 { return x[l.w1:l.w2:l.w2] }
func (l *layout) allW2(x []float32) []float32    { return x[l.w2:l.w3:l.w3] }
func (l *layout) allW3(x []float32) []float32    { return x[l.w3:l.size:l.size] }
