package features

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// What a set may have at most, in order that hostile expressions cannot use up
// memory or overflow an index.
const (
	MaxSize        = 10_000_000 // features
	MaxActiveLimit = 1 << 16    // features active at once
)

// Sum returns the sum of sets: their features side by side, the first set's
// first. Sums among them are taken apart, so that sums of the same blocks in the
// same order are equal. The sum is Linear if all sets are. The error wraps
// ErrTooLarge; there must be one set at least.
func Sum(sets ...Set) (Set, error) {
	if len(sets) == 0 {
		return nil, fmt.Errorf("features: %w: found no sets to add", ErrSyntax)
	}
	total := sets[0] // a sum already has the shape wanted
	for _, s := range sets[1:] {
		for _, part := range Parts(s) {
			var err error
			if total, err = newSum(total, part.Set); err != nil {
				return nil, err
			}
		}
	}
	return total, nil
}

// Part is a summand of a set and the number of its first feature.
type Part struct {
	First int
	Set   Set
}

// Parts returns the summands of a sum in order, or the set itself.
func Parts(s Set) []Part {
	var before sum
	switch s := s.(type) {
	case linearSum:
		before = s.sum
	case sum:
		before = s
	default:
		return []Part{{Set: s}}
	}
	return append(Parts(before.a), Part{First: before.offset, Set: before.b})
}

// sum is the sum of a, itself perhaps a sum, and b, which is none.
type sum struct {
	a, b   Set
	offset int // size of a
}

// linearSum is the sum of two linear sets.
type linearSum struct{ sum }

func newSum(a, b Set) (Set, error) {
	s := sum{a: a, b: b, offset: a.Size()}
	if err := checkLimits(int64(s.Size()), int64(s.MaxActive())); err != nil {
		return nil, err
	}
	_, linearA := a.(Linear)
	_, linearB := b.(Linear)
	if linearA && linearB {
		return linearSum{s}, nil
	}
	return s, nil
}

// limitError says which limit a set exceeds. It wraps ErrTooLarge.
type limitError struct{ found, expected string }

func (e *limitError) Error() string {
	return fmt.Sprintf("features: %v: found %s, expected %s", ErrTooLarge, e.found, e.expected)
}

func (e *limitError) Unwrap() error { return ErrTooLarge }

// checkLimits refuses what MaxSize and MaxActiveLimit do not allow.
func checkLimits(size, active int64) error {
	switch {
	case size > MaxSize:
		return &limitError{fmt.Sprintf("%d features", size), fmt.Sprintf("at most %d", MaxSize)}
	case active > MaxActiveLimit:
		return &limitError{fmt.Sprintf("%d features active at once", active), fmt.Sprintf("at most %d", MaxActiveLimit)}
	}
	return nil
}

func (s sum) String() string { return s.a.String() + " + " + s.b.String() }

func (s sum) Describe() string { return s.a.Describe() + "; " + s.b.Describe() }

func (s sum) Size() int             { return s.offset + s.b.Size() }
func (s sum) MaxActive() int        { return maxActiveOf(s.bound) }
func (s sum) bound(onBoard int) int { return s.a.bound(onBoard) + s.b.bound(onBoard) }
func (s sum) room() int             { return s.a.room() + s.b.room() }
func (s sum) Anchors() int          { return max(s.a.Anchors(), s.b.Anchors()) }

func (s sum) Anchor(p *chess.Position, perspective chess.Color) int {
	if s.Anchors() == kingAnchors {
		return kingAnchor(p, perspective)
	}
	return 0
}

func (s sum) dead(feature, king int) bool {
	if feature < s.offset {
		return s.a.dead(feature, king)
	}
	return s.b.dead(feature-s.offset, king)
}

func (s sum) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	dst = s.a.Active(p, perspective, dst)
	n := len(dst)
	dst = s.b.Active(p, perspective, dst)
	shift(dst[n:], s.offset)
	return dst
}

func (s sum) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	added, removed = s.a.Difference(from, to, perspective, added, removed)
	n, m := len(added), len(removed)
	added, removed = s.b.Difference(from, to, perspective, added, removed)
	shift(added[n:], s.offset)
	shift(removed[m:], s.offset)
	return added, removed
}

// Step is Difference for two positions one legal move apart, with the same anchor,
// where c is what the move changes: the linear summands of s do not look at the
// positions. As with Append, a feature that stays on may be in both slices.
func Step(s Set, c *Change, from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	switch s := s.(type) {
	case Linear:
		return s.Append(c, perspective, to.King(perspective), added, removed)
	case sum:
		added, removed = Step(s.a, c, from, to, perspective, added, removed)
		n, m := len(added), len(removed)
		added, removed = Step(s.b, c, from, to, perspective, added, removed)
		shift(added[n:], s.offset)
		shift(removed[m:], s.offset)
		return added, removed
	default:
		return s.Difference(from, to, perspective, added, removed)
	}
}

func (s linearSum) Append(c *Change, perspective chess.Color, king chess.Square, added, removed []int32) ([]int32, []int32) {
	added, removed = s.a.(Linear).Append(c, perspective, king, added, removed)
	n, m := len(added), len(removed)
	added, removed = s.b.(Linear).Append(c, perspective, king, added, removed)
	shift(added[n:], s.offset)
	shift(removed[m:], s.offset)
	return added, removed
}

func shift(list []int32, by int) {
	for i := range list {
		list[i] += int32(by)
	}
}

// factors returns the factors of a product in order, or the set itself.
func factors(s Set) []Set {
	switch s := s.(type) {
	case linearAnchored:
		return s.factors()
	case anchored:
		return s.factors()
	case product:
		return append([]Set{s.a}, factors(s.b)...)
	default:
		return []Set{s}
	}
}

// productString writes the product of sets, sums in parentheses.
func productString(sets ...Set) string {
	var out []string
	for _, s := range sets {
		for _, f := range factors(s) {
			switch f.(type) {
			case sum, linearSum:
				out = append(out, "("+f.String()+")")
			default:
				out = append(out, f.String())
			}
		}
	}
	return strings.Join(out, " * ")
}
