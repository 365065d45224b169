package features

import "github.com/crazyhouse-rl/selfplay/chess"

// HalfKAv2Name is the canonical name of the set HalfKAv2.
const HalfKAv2Name = "HalfKAv2"

// Layout of a block, the features that share one square of the own king.
// Planes alternate own and enemy: pawns 0 and 1, knights 2 and 3, … queens 8
// and 9. Both kings share plane 10, for they never stand on one square.
const (
	kingPlane  = 10
	kingOffset = kingPlane * 64
	handOffset = (kingPlane + 1) * 64             // 704, the size of a block without hands
	handSteps  = 16                               // features per hand plane
	fullBlock  = handOffset + kingPlane*handSteps // 864
	rankMirror = 56                               // square XOR 56 exchanges rank 1 and rank 8
	rotation   = 63                               // square XOR 63 turns the board by 180 degrees
	virtualGap = 64                               // size of the enemy king's own plane among virtual features
)

// HalfKAv2 is the feature set of Fairy-Stockfish: own king square times (piece
// kind, side, square), and in variants with hands own king square times (kind,
// side, how many of them are in hand).
//
// From the perspective of a side, with o(s) = s for White and s XOR 56 for
// Black, and K = o(square of the own king) * block, where a block has 864
// features with hands and 704 without:
//
//	a piece on square s         K + 64*plane + o(s)
//	c pieces of a kind in hand  K + 704 + 16*plane + j   for every j < c
//
// The hand code is a thermometer: the third pawn in hand switches on a third
// feature. At most 16 pieces of a kind count, more than a legal game can yield.
// Promoted pieces count as what they have become.
//
// The zero value is the set for variants without hands. Source of the
// numbering: Fairy-Stockfish, src/nnue/features/half_ka_v2_variants.cpp.
type HalfKAv2 struct {
	hands bool
}

// NewHalfKAv2 returns the set for a variant: 55,296 features for crazyhouse,
// 45,056 for chess.
func NewHalfKAv2(v *chess.Variant) HalfKAv2 { return HalfKAv2{hands: v.CapturesToHand} }

// String returns HalfKAv2Name.
func (h HalfKAv2) String() string { return HalfKAv2Name }

// Describe describes the set.
func (h HalfKAv2) Describe() string {
	if h.hands {
		return "own king square times pieces and hands, as in Fairy-Stockfish"
	}
	return "own king square times pieces, as in Fairy-Stockfish"
}

// Size returns the number of features: 64 times Block, as Fairy-Stockfish's
// Variant::conclude in src/variant.cpp reckons.
func (h HalfKAv2) Size() int { return kingAnchors * h.Block() }

// Block returns the number of features that share one square of the own king.
// Feature f belongs to the own king on the oriented square f / Block().
func (h HalfKAv2) Block() int {
	if h.hands {
		return fullBlock
	}
	return handOffset
}

// MaxActive returns the most features that are active at once in a legal game:
// all 32 pieces are on the board or in a hand. Set-up positions may have more.
func (h HalfKAv2) MaxActive() int { return totalPieces }

// Active appends the active features of p seen from perspective to dst, in no
// particular order. It does not allocate if dst has room for MaxActive more.
func (h HalfKAv2) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	n, v := len(dst), h.view(p, perspective)
	dst = appendPieces(dst, p, p.Occupied(), &halfKAPlanes[perspective], int32(v.mirror))
	if h.hands {
		m := len(dst)
		dst = handSet.Active(p, perspective, dst)
		shift(dst[m:], handOffset)
	}
	shift(dst[n:], v.base)
	return dst
}

// halfKAPlanes is the first feature of a piece in a block, by perspective.
var halfKAPlanes = byPiece([2][6]int32{{0, 128, 256, 384, 512, kingOffset}, {64, 192, 320, 448, 576, kingOffset}})

func (h HalfKAv2) bound(onBoard int) int {
	if h.hands {
		return totalPieces
	}
	return onBoard
}

func (h HalfKAv2) room() int { return totalPieces }

func (h HalfKAv2) dead(feature, king int) bool {
	square, f := feature/h.Block(), feature%h.Block()
	switch {
	case king != noKing && king != square:
		return true
	case f >= handOffset:
		return handSet.dead(f-handOffset, noKing)
	case f >= kingOffset && f-kingOffset != square: // the enemy king
		return allPieces.dead(f+virtualGap, square)
	default:
		return allPieces.dead(f, square)
	}
}

// Anchors returns 64.
func (h HalfKAv2) Anchors() int { return kingAnchors }

// Anchor returns the square of the own king, from a1 = 0, mirrored for Black.
func (h HalfKAv2) Anchor(p *chess.Position, perspective chess.Color) int {
	return kingAnchor(p, perspective)
}

// Append implements Linear. Each slice grows by two at most.
func (h HalfKAv2) Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32) {
	v := h.viewFrom(perspective, king)
	for _, e := range c.added[:c.nAdded] {
		added = append(added, v.feature(e))
	}
	for _, e := range c.removed[:c.nRemoved] {
		removed = append(removed, v.feature(e))
	}
	return added, removed
}

// Difference implements Set.
func (h HalfKAv2) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	n, m, v := len(added), len(removed), h.view(to, perspective)
	if h.hands {
		added, removed = handSet.Difference(from, to, perspective, added, removed)
		shift(added[n:], v.base+handOffset)
		shift(removed[m:], v.base+handOffset)
	}
	for changed := changedSquares(from, to); changed != 0; changed &= changed - 1 {
		s := changed.First()
		if piece := to.PieceAt(s); piece != chess.NoPiece {
			added = append(added, v.piece(int(piece.Color()), int(piece.Type()), int(s)))
		}
		if piece := from.PieceAt(s); piece != chess.NoPiece {
			removed = append(removed, v.piece(int(piece.Color()), int(piece.Type()), int(s)))
		}
	}
	return added, removed
}

// view turns pieces and hands into features of one perspective with its king in
// place.
type view struct {
	base   int // first feature of the own king's block
	mirror int // XORed to squares
	enemy  int // XORed to the colour: 0 if White is the own side
}

func (h HalfKAv2) view(p *chess.Position, perspective chess.Color) view {
	return h.viewFrom(perspective, p.King(perspective))
}

func (h HalfKAv2) viewFrom(perspective chess.Color, king chess.Square) view {
	mirror := int(perspective) * rankMirror
	return view{base: (int(king) ^ mirror) * h.Block(), mirror: mirror, enemy: int(perspective)}
}

// piece returns the feature of a piece of colour c and kind t on a square.
func (v view) piece(c, t, square int) int32 {
	plane := kingPlane
	if t < handKinds {
		plane = 2*t + (c ^ v.enemy)
	}
	return int32(v.base + plane*64 + (square ^ v.mirror))
}

// feature returns the feature of an element.
func (v view) feature(e element) int32 {
	if e&inHand != 0 {
		return int32(v.base + handOffset + (2*e.kind()+(e.color()^v.enemy))*handSteps + e.step())
	}
	return v.piece(e.color(), e.kind(), e.square())
}

// Virtual returns the feature of the factoriser that belongs to a real one:
// the same piece or hand step without the own king's square. A network is
// trained with the sum of both rows, so that what is learned with the king on
// one square serves all others, and stored with the sums.
//
// Virtual features are numbered like a block, except that the enemy king has a
// plane of its own, 11, and the hands come 64 later.
func (h HalfKAv2) Virtual(feature int) int {
	king, offset := feature/h.Block(), feature%h.Block()
	switch {
	case offset < kingOffset, offset == kingOffset+king:
		return offset
	default:
		return offset + virtualGap
	}
}

// VirtualSize returns the number of virtual features: 928 with hands, 768
// without.
func (h HalfKAv2) VirtualSize() int { return h.Block() + virtualGap }
