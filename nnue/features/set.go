package features

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Set is a set of features of one variant. Sets are values: two made alike are
// equal (==) and may be used by many goroutines at once. Parse, Sum and Product
// make them.
//
// A perspective is the side the position is seen from; positions must be legal
// and of the set's variant. No method allocates if the slices it appends to
// have room for Room(s) more.
type Set interface {
	// String returns the canonical expression, which Parse reads back and
	// network files store.
	fmt.Stringer

	// Size returns the number of features, dead ones included.
	Size() int

	// MaxActive returns a bound of the features active at once in a legal game.
	// Set-up positions with more than 32 pieces may exceed it.
	MaxActive() int

	// Describe returns a short description in words.
	Describe() string

	// Active appends the active features of p to dst, each once, in no
	// particular order.
	Active(p *chess.Position, perspective chess.Color, dst []int32) []int32

	// Anchors returns 64 if features depend on the square of the own king, so
	// that a move of that king changes them all, and 1 if none does.
	Anchors() int

	// Anchor returns the anchor of p, 0 to Anchors()-1: the oriented square of
	// the own king, or 0.
	Anchor(p *chess.Position, perspective chess.Color) int

	// Difference appends to added the features active in to and not in from, and
	// to removed those active in from and not in to, each once. The two
	// positions may be far apart, but must have the same anchor; in the zero
	// Position, which from may be, nothing is active.
	Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32)

	// bound returns the most features active in a game with onBoard pieces on the
	// board and the rest in hands.
	bound(onBoard int) int
	// room returns the room that Active and Difference need in each slice.
	room() int
	// dead reports whether a feature can never be active, where the own king
	// stands on the oriented square king, or anywhere if it is noKing.
	dead(feature, king int) bool
}

// Linear is a set whose features each follow from one piece on the board or one
// kind in one hand, and the own king's square where it has anchors. What a move
// changes is then known without looking at a position.
type Linear interface {
	Set

	// Append appends the features that c switches on to added and those it
	// switches off to removed. A feature may be in both, when a piece castles
	// on its place; then it stays on. In a set with anchors the own king stands
	// on king before and after the move; otherwise king has no meaning. Each
	// block of a sum grows a slice by two at most.
	Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32)
}

// Room returns the room that the slices given to a set's methods need, so that
// in legal games nothing is allocated: what may be appended and intermediate
// results.
func Room(s Set) int { return s.room() }

// Dead returns, ascending, the features of a set that no legal game can have
// active: pawns on the first and last rank, a second own king, more pieces of a
// kind in hand than there are, unused numbers. Products are judged factor by
// factor, with regard to the own king's square where that is a factor; beyond
// that, what two factors exclude together is not found.
func Dead(s Set) []int32 {
	var list []int32
	for f := range s.Size() {
		if s.dead(f, noKing) {
			list = append(list, int32(f))
		}
	}
	return list
}

// Groups is a division of a set's features such that only one group has active
// features at a time, seen from one perspective: those of one place of a king, or
// all features in one group.
type Groups struct {
	Count int // groups
	Size  int // features in each

	step, stride int // between groups, and between features of a group
}

// Feature returns feature i of a group.
func (g Groups) Feature(group, i int) int { return group*g.step + i*g.stride }

// GroupsOf returns the groups of HalfKAv2, of products with King, and of products that
// begin or end with another block of kings' places. Other sets have one group.
func GroupsOf(s Set) Groups {
	switch s := s.(type) {
	case HalfKAv2:
		return Groups{Count: kingAnchors, Size: s.Block(), step: s.Block(), stride: 1}
	case linearAnchored:
		return s.groups()
	case anchored:
		return s.groups()
	case product:
		switch {
		case isPartition(s.a):
			return Groups{Count: s.a.Size(), Size: s.stride, step: s.stride, stride: 1}
		case isPartition(s.b):
			return Groups{Count: s.stride, Size: s.a.Size(), step: 1, stride: s.stride}
		}
	}
	return Groups{Count: 1, Size: s.Size(), stride: 1}
}

// isPartition reports whether a set is a block of which one feature is always active.
func isPartition(s Set) bool {
	b, ok := s.(valueBlock)
	return ok && b.partition
}

// kingAnchors is the number of anchors of a set that depends on the own king's
// square.
const kingAnchors = 64

// kingAnchor is the oriented square of the own king.
func kingAnchor(p *chess.Position, perspective chess.Color) int {
	return int(p.King(perspective)) ^ int(perspective)*rankMirror
}
