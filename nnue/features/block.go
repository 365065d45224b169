package features

import "github.com/crazyhouse-rl/selfplay/chess"

const (
	planes      = 12                   // kinds of pieces times sides: 2*kind + 0 own, 1 enemy
	totalPieces = 32                   // on the board and in the hands, in a game
	noKing      = -1                   // the own king's square is not known
	handKinds   = int(chess.Queen) + 1 // kinds that can be in hand: pawn … queen
)

// block is what the blocks, the sets that expressions are made of, have in
// common. Its fields do not change, so that equal blocks are equal pointers.
type block struct {
	name, describe string
	size           int

	// most gives the most features active with onBoard pieces on the board and
	// the rest of the 32 in hands.
	most func(onBoard int) int

	// never reports whether no legal game can have a feature active, where the
	// own king stands on the oriented square king, or anywhere if it is noKing.
	never func(feature, king int) bool
}

func (b *block) String() string   { return b.name }
func (b *block) Describe() string { return b.describe }
func (b *block) Size() int        { return b.size }
func (b *block) MaxActive() int   { return maxActiveOf(b.most) }
func (b *block) Anchors() int     { return 1 }

func (b *block) Anchor(*chess.Position, chess.Color) int { return 0 }

func (b *block) bound(onBoard int) int { return b.most(onBoard) }
func (b *block) room() int             { return b.MaxActive() }

func (b *block) dead(feature, king int) bool {
	return b.never != nil && b.never(feature, king)
}

// maxActiveOf returns the largest bound over all ways of dividing the pieces
// between the board, where both kings are, and the hands.
func maxActiveOf(bound func(onBoard int) int) int {
	most := 0
	for onBoard := 2; onBoard <= totalPieces; onBoard++ {
		most = max(most, bound(onBoard))
	}
	return most
}

// Bounds of blocks.
func always(n int) func(int) int { return func(int) int { return n } }
func perPiece(onBoard int) int   { return onBoard }
func heldKinds(onBoard int) int  { return min(totalPieces-onBoard, planes-2) }

// planeOf returns the plane of a kind of a colour, where enemy is 0 if White is
// the own side, else 1.
func planeOf(kind, color, enemy int) int { return 2*kind + (color ^ enemy) }

func pawnRank(square int) bool { return square >= 8 && square < 56 }

func adjacent(a, b int) bool {
	return chess.KingAttacks(chess.Square(a)).Has(chess.Square(b))
}
