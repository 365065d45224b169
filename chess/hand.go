package chess

// Hand counts the pieces one side holds in hand, by kind from pawn to queen,
// six bits each; kings are never in hand. A position made by ParseFEN and legal
// moves cannot overflow it: no kind has more than 63 pieces in all.
type Hand uint32

// maxHand is the largest count of one kind that a Hand can hold.
const maxHand = 63

// handMask covers the counts of all five kinds.
const handMask Hand = 1<<30 - 1

func handShift(t PieceType) uint { return uint(t) * 6 & 31 }

// Count returns the number of pieces of kind t in hand.
func (h Hand) Count(t PieceType) int { return int(h >> handShift(t) & maxHand) }

// Has reports whether at least one piece of kind t is in hand.
func (h Hand) Has(t PieceType) bool { return h>>handShift(t)&maxHand != 0 }

// Add returns h with one more piece of kind t.
func (h Hand) Add(t PieceType) Hand { return h + 1<<handShift(t) }

// Remove returns h with one piece of kind t less; there must be one.
func (h Hand) Remove(t PieceType) Hand { return h - 1<<handShift(t) }

// Empty reports whether nothing is in hand.
func (h Hand) Empty() bool { return h == 0 }

// Total returns the number of pieces in hand.
func (h Hand) Total() int {
	n := 0
	for ; h != 0; h >>= 6 {
		n += int(h & maxHand)
	}
	return n
}
