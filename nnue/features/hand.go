package features

import "github.com/crazyhouse-rl/selfplay/chess"

// gamePieces is how many pieces of a kind, pawn to queen, a hand can have in a game:
// promoted pieces return to the hand as pawns, so there are never more.
var gamePieces = [handKinds]int{16, 4, 4, 4, 2}

// handBlock has features for the number of pieces of a kind in a hand: a
// thermometer, whose first features are active, as many as there are pieces, or
// the one feature of the exact number. Larger numbers than its cap count as the cap.
type handBlock struct{ *handTable }

type handTable struct {
	block
	caps  [handKinds]int
	exact bool
	first [2][handKinds]int32 // by side (own, enemy) and kind; feature of the number 1
}

var (
	handSet = newHandBlock("Hand", "pieces in hand by kind, a thermometer",
		[handKinds]int{handSteps, handSteps, handSteps, handSteps, handSteps}, false)
	handCapped = newHandBlock("HandCapped", "pieces in hand by kind, a thermometer up to the most in a game", gamePieces, false)
	handExact  = newHandBlock("HandExact", "number of pieces in hand by kind", gamePieces, true)
	handHeld   = newHandBlock("HandHeld", "kinds in hand", [handKinds]int{1, 1, 1, 1, 1}, false)
)

func newHandBlock(name, describe string, caps [handKinds]int, exact bool) handBlock {
	t := &handTable{caps: caps, exact: exact}
	size, most := 0, 0
	for kind := range caps {
		for side := range t.first {
			t.first[side][kind] = int32(size)
			size += caps[kind]
			most += min(caps[kind], gamePieces[kind])
		}
	}
	t.block = block{name: name, describe: describe, size: size}
	switch {
	case exact:
		t.most = heldKinds
	default:
		t.most = func(onBoard int) int { return min(totalPieces-onBoard, most) }
	}
	t.never = func(f, _ int) bool {
		for kind, n := range caps {
			if f < 2*n {
				return f%n >= gamePieces[kind]
			}
			f -= 2 * n
		}
		return false
	}
	return handBlock{t}
}

// count returns how many pieces of a kind in a hand count.
func (b handBlock) count(hand chess.Hand, kind int) int {
	return min(hand.Count(chess.PieceType(kind)), b.caps[kind])
}

// appendChange appends what is on with a number to and off with from.
func (b handBlock) appendChange(dst []int32, first int32, from, to int) []int32 {
	if b.exact {
		if to != from && to > 0 {
			dst = append(dst, first+int32(to)-1)
		}
		return dst
	}
	for n := from; n < to; n++ {
		dst = append(dst, first+int32(n))
	}
	return dst
}

func (b handBlock) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	for c := range 2 {
		hand := p.Hand(chess.Color(c))
		if hand.Empty() {
			continue
		}
		for kind, first := range &b.first[c^int(perspective)] {
			dst = b.appendChange(dst, first, 0, b.count(hand, kind))
		}
	}
	return dst
}

func (b handBlock) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	for c := range 2 {
		old, now := from.Hand(chess.Color(c)), to.Hand(chess.Color(c))
		if old == now {
			continue
		}
		for kind, first := range &b.first[c^int(perspective)] {
			o, n := b.count(old, kind), b.count(now, kind)
			added = b.appendChange(added, first, o, n)
			removed = b.appendChange(removed, first, n, o)
		}
	}
	return added, removed
}

func (b handBlock) Append(c *Change, perspective chess.Color, _ chess.Square, added, removed []int32) ([]int32, []int32) {
	for _, e := range c.added[:c.nAdded] {
		if e&inHand != 0 {
			first, few, many := b.step(e, perspective)
			added = b.appendChange(added, first, few, many)
			removed = b.appendChange(removed, first, many, few)
		}
	}
	for _, e := range c.removed[:c.nRemoved] {
		if e&inHand != 0 {
			first, few, many := b.step(e, perspective)
			added = b.appendChange(added, first, many, few)
			removed = b.appendChange(removed, first, few, many)
		}
	}
	return added, removed
}

// step returns the numbers below and above a step of a hand, as they count.
func (b handBlock) step(e element, perspective chess.Color) (first int32, few, many int) {
	kind := e.kind()
	first = b.first[e.color()^int(perspective)][kind]
	return first, min(e.step(), b.caps[kind]), min(e.step()+1, b.caps[kind])
}
