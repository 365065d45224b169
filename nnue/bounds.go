package nnue

import "github.com/crazyhouse-rl/selfplay/nnue/features"

// Span is the values from Low to High.
type Span struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

func (s Span) plus(t Span) Span   { return Span{s.Low + t.Low, s.High + t.High} }
func (s Span) meet(t Span) Span   { return Span{max(s.Low, t.Low), min(s.High, t.High)} }
func (s Span) within(t Span) bool { return s.Low >= t.Low && s.High <= t.High }

// AccumulatorBounds returns what every entry of an accumulator [Width] can reach
// in any legal position: the bias and the worst of as many rows as can be
// active, of the feature set and of its summands, and where features depend on the
// own king's square, of those of one square.
func (n *Network) AccumulatorBounds() []Span { return columnBounds(n.set, n.FTRow, n.FTBias) }

// columnBounds bounds bias + (sum of the active rows) in every column.
func columnBounds[T int16 | int32](set features.Set, row func(feature int) []T, bias []T) []Span {
	return overGroupings(set, bias, func(spans []Span, p features.Part) {
		for at := 0; at < len(spans); at += columnsAtOnce {
			some := spans[at:min(at+columnsAtOnce, len(spans))]
			addWorst(some, p, func(feature int) []T { return row(feature)[at:][:len(some)] })
		}
	})
}

// quickBounds are wider than columnBounds, and quick to find: they take a
// part's worst row for all of its active ones.
func quickBounds[T int16 | int32](set features.Set, row func(feature int) []T, bias []T) []Span {
	low, high := make([]T, len(bias)), make([]T, len(bias))
	return overGroupings(set, bias, func(spans []Span, p features.Part) {
		clear(low) // an absent feature adds 0
		clear(high)
		for f := range p.Set.Size() {
			for i, w := range row(p.First + f)[:len(low)] {
				low[i], high[i] = min(low[i], w), max(high[i], w)
			}
		}
		active := int64(p.Set.MaxActive())
		for i := range spans {
			spans[i] = spans[i].plus(Span{active * int64(low[i]), active * int64(high[i])})
		}
	})
}

// overGroupings bounds the sums of biases and of what add adds for the parts of
// a set. A sum of sets is bounded part by part, for each has its own number of
// active rows, and as a whole, for its parts are not at their most at once.
func overGroupings[T int16 | int32](set features.Set, bias []T, add func(spans []Span, p features.Part)) []Span {
	ways := [][]features.Part{features.Parts(set)}
	if len(ways[0]) > 1 {
		ways = append(ways, []features.Part{{Set: set}})
	}
	var bounds []Span
	for i, parts := range ways {
		spans := make([]Span, len(bias))
		for j, b := range bias {
			spans[j] = Span{int64(b), int64(b)}
		}
		for _, p := range parts {
			add(spans, p)
		}
		if i == 0 {
			bounds = spans
		}
		for j, s := range spans {
			bounds[j] = bounds[j].meet(s)
		}
	}
	return bounds
}

// columnsAtOnce is how many columns are bounded in one pass over the rows: a
// cache line of int16, so that what is kept of them stays in the cache.
const columnsAtOnce = 32

// addWorst adds to the spans of at most columnsAtOnce columns the least and the
// most that as many rows of a part as can be active add, in the worst of the
// part's groups.
func addWorst[T int16 | int32](spans []Span, p features.Part, row func(feature int) []T) {
	groups := features.GroupsOf(p.Set)
	few := min(p.Set.MaxActive(), groups.Size)
	if few == 0 {
		return
	}
	low, high := newLargest(len(spans), few), newLargest(len(spans), few)
	var worst [columnsAtOnce]Span
	for g := range groups.Count {
		low.reset()
		high.reset()
		for i := range groups.Size {
			for column, w := range row(p.First + groups.Feature(g, i)) {
				low.note(column, -int64(w))
				high.note(column, int64(w))
			}
		}
		for i := range spans {
			worst[i] = Span{min(worst[i].Low, -low.sum(i)), max(worst[i].High, high.sum(i))}
		}
	}
	for i := range spans {
		spans[i] = spans[i].plus(worst[i])
	}
}

// largest keeps the few largest values above 0 of every column of a table.
type largest struct {
	few   int
	heaps []int64              // [column][few], the smallest first; zeros for what is not there
	least [columnsAtOnce]int64 // the first of each heap
}

func newLargest(columns, few int) *largest {
	return &largest{few: few, heaps: make([]int64, columns*few)}
}

func (l *largest) reset() {
	clear(l.heaps)
	clear(l.least[:])
}

func (l *largest) column(i int) []int64 { return l.heaps[i*l.few:][:l.few] }

func (l *largest) note(column int, v int64) {
	if v > l.least[column] {
		l.replace(column, v)
	}
}

// replace puts v into a column's heap in place of the smallest value.
func (l *largest) replace(column int, v int64) {
	heap := l.column(column)
	at := 0
	for {
		child := 2*at + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[child] >= v {
			break
		}
		heap[at] = heap[child]
		at = child
	}
	heap[at] = v
	l.least[column] = heap[0]
}

func (l *largest) sum(column int) (sum int64) {
	for _, v := range l.column(column) {
		sum += v
	}
	return sum
}
