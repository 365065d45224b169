package features

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Set is a set of features of one variant. Sets are values: two made alike are
// equal (==) and may be used by many goroutines at once.
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
	MaxActive() int

	// Describe returns a short description in words.
	Describe() string

	// Active appends the active features of p to dst, each once, in no
	// particular order.
	Active(p *chess.Position, perspective chess.Color, dst []int32) []int32

	// Anchors returns 64 if every feature hangs on the square of the own king,
	// so that a move of that king changes them all, and 1 if none does.
	Anchors() int

	// Anchor returns the anchor of p, 0 to Anchors()-1. Positions with the same
	// anchor are worth a Difference.
	Anchor(p *chess.Position, perspective chess.Color) int

	// Difference appends to added the features active in to and not in from, and
	// to removed those active in from and not in to, each once. The two
	// positions may be far apart, but must have the same anchor; in the zero
	// Position, which from may be, nothing is active.
	Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32)
}

// Linear is a set whose features each follow from one man on the board or one
// step of a hand, and the own king's square where it has anchors. What a move
// changes is then known without looking at a position.
type Linear interface {
	Set

	// Append appends the features that c switches on to added and those it
	// switches off to removed. A feature may be in both, when a piece castles
	// on its place; then it stays on. In a set with anchors the own king stands
	// on king before and after the move; otherwise king has no meaning.
	Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32)
}

// Room returns the room that the slices given to a set's methods need so that
// no method allocates in legal games: what may be appended, and as much again
// for intermediate results.
func Room(s Set) int { return 2*s.MaxActive() + 8 }

// kingAnchors is the number of anchors of a set that hangs on the own king.
const kingAnchors = 64

// kingAnchor is the oriented square of the own king.
func kingAnchor(p *chess.Position, perspective chess.Color) int {
	return int(p.King(perspective)) ^ int(perspective)*rankMirror
}
