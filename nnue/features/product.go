package features

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Product returns the product of two sets: a feature for every pair of theirs,
// active while both are. The pair (i, j) has number i*b.Size() + j. Products
// among the two are taken apart, so that products of the same sets in the same
// order are equal. A product with King or KingZone depends on the own king's square, and
// is Linear if the rest is. The error wraps ErrTooLarge.
func Product(a, b Set) (Set, error) {
	all := append(factors(a), factors(b)...)
	last := len(all) - 1
	total := all[last]
	for _, f := range slices.Backward(all[:last]) {
		var err error
		if total, err = newProduct(f, total); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func newProduct(a, b Set) (Set, error) {
	// Both factors are within the limits, so that 64 bits hold the products.
	if err := checkLimits(int64(a.Size())*int64(b.Size()), int64(a.MaxActive())*int64(b.MaxActive())); err != nil {
		return nil, err
	}
	if king, zones, ok := placesOfKing(a); ok {
		return newAnchored(anchored{king: king, zones: zones, inner: b, kingStride: b.Size(), stride: 1, size: king.Size() * b.Size(), mirror: rankMirror}), nil
	}
	if king, zones, ok := placesOfKing(b); ok {
		return newAnchored(anchored{king: king, zones: zones, inner: a, kingStride: 1, stride: king.Size(), size: king.Size() * a.Size(), mirror: rankMirror}), nil
	}
	return product{a: a, b: b, stride: b.Size()}, nil
}

// placesOfKing reports whether a set says where the own king stands and nothing else, and
// which of its features each square has; nil: the feature of the square's number.
func placesOfKing(s Set) (king Set, zones *[kingAnchors]uint8, ok bool) {
	switch s {
	case Set(ownKing):
		return ownKing, nil, true
	case Set(kingZone):
		return kingZone, &zoneOfSquare, true
	}
	return nil, nil, false
}

// anchored is the product of the own king's place and another set, in either order:
//
//	feature = kingStride*(own king's place) + offset + stride*(feature of inner)
//
// The place is the own king's square, oriented by mirror, or its zone.
type anchored struct {
	king               Set                 // whose features the places are
	zones              *[kingAnchors]uint8 // of squares; nil: the squares themselves
	inner              Set
	kingStride, stride int
	offset             int
	size, mirror       int
	name, describe     string // of a product that is a block of its own
}

// linearAnchored is the product of the own king's place and a linear set.
type linearAnchored struct{ anchored }

func newAnchored(a anchored) Set {
	if _, ok := a.inner.(Linear); ok {
		return linearAnchored{a}
	}
	return a
}

// The blocks that are products. HalfKP leaves feature 0 of every own king's
// square unused, as its file format does.
var (
	kingAll = newAnchored(anchored{
		name: "KingAll", describe: "own king square times pieces",
		king: ownKing, inner: allPieces, kingStride: allPieces.size, stride: 1, size: kingAnchors * allPieces.size, mirror: rankMirror,
	})
	halfKP = newAnchored(anchored{
		name: "HalfKP", describe: "own king square times pieces other than kings, as in Stockfish 12",
		king: ownKing, inner: rotatedPieces, kingStride: 1 + rotatedPieces.size, stride: 1, offset: 1,
		size: kingAnchors * (1 + rotatedPieces.size), mirror: rotation,
	})
)

func (a anchored) factors() []Set {
	switch {
	case a.name != "":
		return []Set{newAnchored(a)}
	case a.kingStride == 1:
		return append(factors(a.inner), a.king)
	default:
		return append([]Set{a.king}, factors(a.inner)...)
	}
}

func (a anchored) String() string {
	if a.name != "" {
		return a.name
	}
	return productString(a.factors()...)
}

func (a anchored) Describe() string {
	if a.name != "" {
		return a.describe
	}
	return a.king.Describe() + " times (" + a.inner.Describe() + ")"
}

func (a anchored) Size() int             { return a.size }
func (a anchored) MaxActive() int        { return a.inner.MaxActive() }
func (a anchored) bound(onBoard int) int { return a.inner.bound(onBoard) }
func (a anchored) room() int             { return a.inner.room() }
func (a anchored) Anchors() int          { return kingAnchors }

func (a anchored) Anchor(p *chess.Position, perspective chess.Color) int {
	return kingAnchor(p, perspective)
}

// place returns the own king's place of its oriented square.
func (a anchored) place(square int) int {
	if a.zones == nil {
		return square
	}
	return int(a.zones[square])
}

// groups has the unused numbers of a square among its features.
func (a anchored) groups() Groups {
	n := a.king.Size()
	return Groups{Count: n, Size: a.size / n, step: a.kingStride, stride: a.stride}
}

func (a anchored) dead(feature, king int) bool {
	place, f := feature/a.kingStride, feature%a.kingStride-a.offset
	if a.kingStride == 1 {
		place, f = feature%a.stride, feature/a.stride
	}
	if f < 0 {
		return true
	}
	if king != noKing && a.mirror == rankMirror && a.place(king) != place {
		return true
	}
	if a.zones == nil {
		king = place
	}
	return a.inner.dead(f, king)
}

// move turns features of inner into features of the product.
func (a anchored) move(list []int32, perspective chess.Color, king chess.Square) {
	first := a.kingStride*a.place(int(king)^int(perspective)*a.mirror) + a.offset
	for i, f := range list {
		list[i] = int32(first + a.stride*int(f))
	}
}

func (a anchored) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	n := len(dst)
	dst = a.inner.Active(p, perspective, dst)
	a.move(dst[n:], perspective, p.King(perspective))
	return dst
}

func (a anchored) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	n, m := len(added), len(removed)
	added, removed = a.inner.Difference(from, to, perspective, added, removed)
	king := to.King(perspective)
	a.move(added[n:], perspective, king)
	a.move(removed[m:], perspective, king)
	return added, removed
}

func (a linearAnchored) Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32) {
	n, m := len(added), len(removed)
	added, removed = a.inner.(Linear).Append(c, perspective, king, added, removed)
	a.move(added[n:], perspective, king)
	a.move(removed[m:], perspective, king)
	return added, removed
}

// product is the product of two sets of which neither is King or KingZone. a is no product.
type product struct {
	a, b   Set
	stride int // size of b
}

func (x product) String() string { return productString(x.a, x.b) }

func (x product) Describe() string {
	return "(" + x.a.Describe() + ") times (" + x.b.Describe() + ")"
}

func (x product) Size() int             { return x.a.Size() * x.stride }
func (x product) MaxActive() int        { return maxActiveOf(x.bound) }
func (x product) bound(onBoard int) int { return x.a.bound(onBoard) * x.b.bound(onBoard) }
func (x product) room() int             { return x.MaxActive() + 2*(x.a.room()+x.b.room()) }
func (x product) Anchors() int          { return max(x.a.Anchors(), x.b.Anchors()) }

func (x product) Anchor(p *chess.Position, perspective chess.Color) int {
	if x.Anchors() == kingAnchors {
		return kingAnchor(p, perspective)
	}
	return 0
}

func (x product) dead(feature, king int) bool {
	return x.a.dead(feature/x.stride, king) || x.b.dead(feature%x.stride, king)
}

// Active appends the features of both factors, then their pairs, and moves the
// pairs forward.
func (x product) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	n := len(dst)
	dst = x.a.Active(p, perspective, dst)
	m := len(dst)
	dst = x.b.Active(p, perspective, dst)
	end := len(dst)
	dst = x.appendPairs(dst, dst[n:m], dst[m:end])
	return slices.Delete(dst, n, end)
}

func (x product) appendPairs(dst, a, b []int32) []int32 {
	for _, i := range a {
		for _, j := range b {
			dst = append(dst, int32(int(i)*x.stride+int(j)))
		}
	}
	return dst
}

// Difference: where factor a goes from A to A' and b from B to B', with K the
// features that A and A' share,
//
//	added   = K × (B' \ B)  ∪  (A' \ A) × B'
//	removed = K × (B \ B')  ∪  (A \ A') × B
//
// The lists of the factors are made in the same slices as the results, which are
// moved forward at the end.
func (x product) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	n, m := len(added), len(removed)
	added, removed = x.a.Difference(from, to, perspective, added, removed)
	newA, oldA := len(added), len(removed)
	added = x.a.Active(to, perspective, added)
	added = without(added, newA, added[n:newA])
	kept := len(added)
	added, removed = x.b.Difference(from, to, perspective, added, removed)
	newB, oldB := len(added), len(removed)
	keptA := added[newA:kept]
	if newA > n {
		added = x.b.Active(to, perspective, added)
	}
	allB := len(added)
	added = x.appendPairs(added, keptA, added[kept:newB])
	added = x.appendPairs(added, added[n:newA], added[newB:allB])

	if oldA > m {
		removed = x.b.Active(from, perspective, removed)
	}
	allOld := len(removed)
	removed = x.appendPairs(removed, keptA, removed[oldA:oldB])
	removed = x.appendPairs(removed, removed[m:oldA], removed[oldB:allOld])
	return slices.Delete(added, n, allB), slices.Delete(removed, m, allOld)
}

// without deletes from list[first:] the features in not.
func without(list []int32, first int, not []int32) []int32 {
	if len(not) == 0 {
		return list
	}
	kept := list[:first]
	for _, f := range list[first:] {
		if !slices.Contains(not, f) {
			kept = append(kept, f)
		}
	}
	return kept
}
