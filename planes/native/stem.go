package native

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
)

const (
	side    = kernel.ImageSide
	squares = side * side
)

// stem is the convolution of a net's input, which is special: more than half of
// its planes are constant, and of the others' squares nearly all are zero. A
// constant plane adds the same to all squares but those near the edge, whose
// windows reach over it; other planes add one column of weights for each square
// that is not zero, as in an NNUE accumulator.
type stem struct {
	channels int // of a square, padded
	reach    int // of the window, to each side
	// Rows of channels: of the constant planes [plane][edge case], and of all
	// planes [plane][row of the window][column].
	constant, columns []float32
	seen              [squares][]place // where the windows are that see a square
	bias              []float32
	bounds            kernel.Bounds
	activate          *kernel.FloatDepthwise
}

// place is a square and which column of a plane's weights it adds for another square
// of that plane.
type place struct{ to, column int32 }

// isStem reports whether an operation can be a stem.
func (o *op) isStem() bool {
	return o.kind == convolve && o.add == nil && o.size <= 5 && o.in[0].maker.kind == load
}

// onlyStems reports whether no operation but stems reads what o makes.
func onlyStems(o *op, all []*op) bool {
	return !slices.ContainsFunc(all, func(p *op) bool { return slices.Contains(p.reads(), o) && !p.isStem() })
}

// stem turns a convolution of the input into a step.
func (p *program) stem(o *op) step {
	s := &stem{channels: o.channels(), reach: o.size / 2, bounds: o.bounds}
	s.bias = make([]float32, s.channels)
	copy(s.bias, o.bias)
	for square := range s.seen {
		s.seen[square] = windows(square, s.reach)
	}
	s.arrange(o.weights, o.dims[0], o.size)
	s.activate = kernel.NewFloatDepthwise(repeat(1, s.channels), nil, s.channels, 1)
	p.stemWindow, p.stemChannels = max(p.stemWindow, o.size*o.size), max(p.stemChannels, s.channels)
	dst := o.slot
	return func(w *worker, n int) {
		m := w.images[dst]
		for i := range n {
			s.compute(w.stem, m, i, w.in[i*planes.Size:(i+1)*planes.Size])
		}
		s.activate.Apply(m, m, kernel.FloatImages{}, n, s.bounds)
	}
}

// arrange fills the tables from weights [output][plane][row][column].
func (s *stem) arrange(weights []float32, out, size int) {
	window := size * size
	s.columns = make([]float32, planes.Channels*window*s.channels)
	s.constant = make([]float32, planes.Channels*window*s.channels)
	for plane := range planes.Channels {
		for o := range out {
			w := weights[(o*planes.Channels+plane)*window:][:window]
			for k := range window {
				s.columns[(plane*window+k)*s.channels+o] = w[k]
				s.constant[(plane*window+k)*s.channels+o] = inside(w, size, k/size, k%size)
			}
		}
	}
}

// inside sums the weights of a window on the squares of the board, for windows in
// an edge case by row and by column: case reach is that of the middle of the board,
// case 0 that of its first row, and so on to the last.
func inside(w []float32, size, rowCase, columnCase int) float32 {
	sum := 0.0
	for k, x := range w {
		if onBoard(k/size, rowCase, size/2) && onBoard(k%size, columnCase, size/2) {
			sum += float64(x)
		}
	}
	return float32(sum)
}

// onBoard reports whether place k of a window is on the board in an edge case.
func onBoard(k, edge, reach int) bool { return k+edge >= reach && k+edge <= 3*reach }

// edge returns the edge case of a row or column.
func (s *stem) edge(at int) int { return max(min(at, s.reach), at-(side-1)+2*s.reach) }

// stemScratch is what a worker needs for stems: room for any input.
type stemScratch struct {
	cases []float32        // what squares of each edge case start with
	rows  [squares][]int32 // of columns to add to each square
	other []weighted       // what is not constant, and neither 0 nor 1
}

// weighted is a square of a plane and its number.
type weighted struct {
	plane, square int
	by            float32
}

// newStemScratch is for windows of up to this many squares, and as many rows of
// channels or fewer.
func newStemScratch(window, channels int) *stemScratch {
	t := &stemScratch{cases: make([]float32, window*channels), other: make([]weighted, 0, planes.Size)}
	for i := range t.rows {
		t.rows[i] = make([]int32, 0, window*planes.Channels)
	}
	return t
}

// compute writes the sums of one position to image i.
func (s *stem) compute(t *stemScratch, m kernel.FloatImages, i int, in []float32) {
	s.startCases(t, in)
	s.list(t, in)
	size := 2*s.reach + 1
	for square := range squares {
		at := m.At(i, square/side, square%side)
		dst := m.Data[at : at+s.channels]
		from := s.edge(square/side)*size + s.edge(square%side)
		kernel.FloatGatherSum(dst, t.cases[from*s.channels:][:s.channels], s.columns, s.channels, t.rows[square])
	}
	for _, o := range t.other {
		for _, p := range s.seen[o.square] {
			at, column := m.At(i, int(p.to)/side, int(p.to)%side), o.plane*size*size+int(p.column)
			kernel.FloatMix(m.Data[at:at+s.channels], s.columns[column*s.channels:][:s.channels], 1, o.by)
		}
	}
}

// startCases adds the bias and the constant planes.
func (s *stem) startCases(t *stemScratch, in []float32) {
	size := 2*s.reach + 1
	each := size * size * s.channels
	cases := t.cases[:each]
	for c := 0; c < each; c += s.channels {
		copy(cases[c:], s.bias)
	}
	for plane := range planes.Channels {
		if v := in[plane*squares]; v != 0 && planes.Constant(plane) {
			kernel.FloatMix(cases, s.constant[plane*each:(plane+1)*each], 1, v)
		}
	}
}

// list finds what the other planes mark.
func (s *stem) list(t *stemScratch, in []float32) {
	for square := range t.rows {
		t.rows[square] = t.rows[square][:0]
	}
	t.other = t.other[:0]
	size := 2*s.reach + 1
	for plane := range planes.Channels {
		if planes.Constant(plane) {
			continue
		}
		for square, v := range in[plane*squares : (plane+1)*squares] {
			switch v {
			case 0:
			case 1:
				first := int32(plane * size * size)
				for _, p := range s.seen[square] {
					t.rows[p.to] = append(t.rows[p.to], first+p.column)
				}
			default:
				t.other = append(t.other, weighted{plane, square, v})
			}
		}
	}
}

// windows returns the squares whose windows see a square, and where in them it is.
func windows(square, reach int) (all []place) {
	size := 2*reach + 1
	row, column := square/side, square%side
	for r := max(row-reach, 0); r <= min(row+reach, side-1); r++ {
		for c := max(column-reach, 0); c <= min(column+reach, side-1); c++ {
			all = append(all, place{int32(r*side + c), int32((row-r+reach)*size + column - c + reach)})
		}
	}
	return all
}
