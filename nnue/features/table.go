package features

import "github.com/crazyhouse-rl/selfplay/chess"

// Table is a linear set in which a piece on a square, or a step of a hand, has one feature
// at most, whose number depends on the own king only by a sum:
//
//	feature = base of the own king's square + number of the piece or step
//
// It turns changes into features without asking the blocks that the set is made of.
type Table struct {
	base   [2][64]int32       // by perspective and own king's square
	number [2][elements]int32 // by perspective; -1: no feature
}

// elements is one more than the greatest element.
const elements = 1 << 12

// NewTable returns the table of a set, or nil if the set is not of that form.
func NewTable(s Linear) *Table {
	switch s := s.(type) {
	case HalfKAv2:
	case linearAnchored:
		if s.inner.Anchors() > 1 {
			return nil
		}
	default:
		if s.Anchors() > 1 {
			return nil
		}
	}
	t := &Table{}
	for c := range t.number {
		perspective := chess.Color(c)
		for e := range t.number[c] {
			t.number[c][e] = -1
		}
		var some element // that has a feature
		for _, e := range allElements() {
			n, ok := numberOf(s, e, perspective, 0)
			if !ok {
				return nil
			}
			if t.number[c][e] = n; n >= 0 {
				some = e
			}
		}
		for king := range t.base[c] {
			n, _ := numberOf(s, some, perspective, chess.Square(king))
			t.base[c][king] = n - t.number[c][some]
		}
	}
	return t
}

// allElements lists the pieces on squares and the steps of hands.
func allElements() (all []element) {
	for c := range chess.Color(2) {
		for t := chess.Pawn; t <= chess.King; t++ {
			for s := range chess.Square(64) {
				all = append(all, pieceElement(c, t, s), pieceElement(c, t, s)|promoted)
			}
		}
		for t := range handKinds {
			for step := range handSteps {
				all = append(all, handStep(c, chess.PieceType(t), step))
			}
		}
	}
	return all
}

// numberOf returns the one feature of an element, with the own king on a square, or -1; ok
// is false if it has several, or does more than to switch that one on and off.
func numberOf(s Linear, e element, perspective chess.Color, king chess.Square) (n int32, ok bool) {
	on, off := s.Append(&Change{added: [2]element{e}, nAdded: 1}, perspective, king, nil, nil)
	gone, back := s.Append(&Change{removed: [2]element{e}, nRemoved: 1}, perspective, king, nil, nil)
	switch {
	case len(off) > 0 || len(on) > 1 || len(gone) > 0 || len(back) != len(on):
		return 0, false
	case len(on) == 0:
		return -1, true
	}
	return on[0], back[0] == on[0]
}

// Append appends what Append of the set does.
func (t *Table) Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32) {
	base, number := t.base[perspective][king&63], &t.number[perspective]
	for _, e := range c.added[:c.nAdded] {
		if n := number[e%elements]; n >= 0 {
			added = append(added, base+n)
		}
	}
	for _, e := range c.removed[:c.nRemoved] {
		if n := number[e%elements]; n >= 0 {
			removed = append(removed, base+n)
		}
	}
	return added, removed
}
