package netstat

import (
	"math"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

const (
	kinds     = 6  // pawn to king
	handKinds = 5  // pawn to queen
	handSteps = 16 // pieces of a kind in hand that are looked at
)

// atlas says which features stand for a piece on a square and for a piece in hand,
// seen from White's perspective. It is found by asking the set: from positions
// of two kings and from the same with one piece more. So it knows any set whose
// features follow from single pieces, and tells which sets those are.
type atlas struct {
	pieces [2][kinds][64]effect // own, enemy
	hands  [2][handKinds][handSteps]effect
	dead   map[int32]bool // features that no game has, whatever their weights
}

// effect is the features that something adds to the active ones and removes
// from them, over a number of squares of the own king.
type effect struct {
	added, removed []int32
	kings          int
}

// newAtlas asks a set of a variant. Sets that depend on the own king's square are
// asked with the king on each square, for the mean, or with it on king alone if
// that is not chess.NoSquare.
func newAtlas(set features.Set, v *chess.Variant, king chess.Square) *atlas {
	a := &atlas{dead: deadOf(set)}
	squares := []chess.Square{king}
	switch {
	case set.Anchors() == 1:
		squares = []chess.Square{3, 60} // d1, e8: where one stands in the way the other does not
	case king == chess.NoSquare:
		squares = squares[:0]
		for s := range chess.Square(64) {
			squares = append(squares, s)
		}
	}
	for _, own := range squares {
		a.lookFrom(set, v, own)
	}
	if set.Anchors() == 1 { // the own king may stand anywhere
		for s := range chess.Square(64) {
			a.lookAtKings(set, v, s)
		}
	}
	return a
}

// deadOf returns the features that no game has.
func deadOf(set features.Set) map[int32]bool {
	dead := map[int32]bool{}
	for _, f := range features.Dead(set) {
		dead[f] = true
	}
	return dead
}

// lookFrom notes what pieces and hands add with the own king on a square.
func (a *atlas) lookFrom(set features.Set, v *chess.Variant, own chess.Square) {
	for s := range chess.Square(64) {
		enemy := farFrom(own, s)
		for kind := chess.Pawn; kind < chess.King; kind++ {
			for side := chess.White; side <= chess.Black; side++ {
				a.compare(&a.pieces[side][kind][s], set,
					setup{own: own, enemy: enemy, side: side}.position(v),
					setup{own: own, enemy: enemy, piece: chess.MakePiece(side, kind), on: s, side: side}.position(v))
			}
		}
	}
	if set.Anchors() != 1 {
		a.lookAtKings(set, v, own)
	}
	if !v.CapturesToHand {
		return
	}
	for kind := range chess.King {
		for side := chess.White; side <= chess.Black; side++ {
			at := setup{own: own, enemy: farFrom(own, own), held: chess.MakePiece(side, kind)}
			for n := range handSteps {
				before := at.position(v)
				at.count = n + 1
				a.compare(&a.hands[side][kind][n], set, before, at.position(v))
			}
		}
	}
}

// lookAtKings notes what the kings add with the own one on a square: the enemy's
// is what changes as it moves, the own what stays then.
func (a *atlas) lookAtKings(set features.Set, v *chess.Variant, own chess.Square) {
	for s := range chess.Square(64) {
		here := setup{own: own, enemy: s}.position(v)
		e := &a.pieces[1][chess.King][s]
		a.compare(e, set, setup{own: own, enemy: farFrom(own, s)}.position(v), here)
		e.removed = nil // the enemy king's elsewhere
	}
	first, second := farFrom(own, own), farFrom(own, farFrom(own, own))
	p, q := setup{own: own, enemy: first}.position(v), setup{own: own, enemy: second}.position(v)
	if p == nil || q == nil {
		return
	}
	e := &a.pieces[0][chess.King][own]
	e.kings++
	moved, _ := set.Difference(q, p, chess.White, nil, nil)
	for _, f := range set.Active(p, chess.White, nil) {
		if !slices.Contains(moved, f) {
			e.added = append(e.added, f)
		}
	}
}

// compare notes what leads from one position to another. A position that cannot
// be is nil.
func (a *atlas) compare(e *effect, set features.Set, from, to *chess.Position) {
	if from == nil || to == nil {
		return
	}
	e.kings++
	n, m := len(e.added), len(e.removed)
	e.added, e.removed = set.Difference(from, to, chess.White, e.added, e.removed)
	e.added, e.removed = a.withoutDead(e.added, n), a.withoutDead(e.removed, m)
}

// withoutDead removes the dead features from first on.
func (a *atlas) withoutDead(list []int32, first int) []int32 {
	alive := slices.DeleteFunc(list[first:], func(f int32) bool { return a.dead[f] })
	return list[:first+len(alive)]
}

// farFrom returns a square for the enemy king that is on no line with either of
// two squares.
func farFrom(a, b chess.Square) chess.Square {
	apart := func(s, t chess.Square) bool {
		file, rank := s.File()-t.File(), s.Rank()-t.Rank()
		return file != 0 && rank != 0 && file != rank && file != -rank
	}
	for s := chess.Square(63); s < 64; s-- { // until it wraps
		if apart(s, a) && apart(s, b) {
			return s
		}
	}
	panic("netstat: two squares cover the board")
}

// setup describes a position of two kings and at most one piece, on the board or
// several times in a hand.
type setup struct {
	own, enemy chess.Square // White's king and Black's
	piece      chess.Piece  // on the square on
	on         chess.Square
	held       chess.Piece // in hand
	count      int         // of held
	side       chess.Color // the side whose piece it is: the other is to move
}

// position returns the position, or nil if there cannot be one.
func (s setup) position(v *chess.Variant) *chess.Position {
	if s.own == s.enemy || s.piece != chess.NoPiece && (s.on == s.own || s.on == s.enemy) {
		return nil
	}
	var fen strings.Builder
	for rank := 7; rank >= 0; rank-- {
		for file := range 8 {
			switch square := chess.NewSquare(file, rank); {
			case square == s.own:
				fen.WriteByte('K')
			case square == s.enemy:
				fen.WriteByte('k')
			case s.piece != chess.NoPiece && square == s.on:
				fen.WriteString(s.piece.String())
			default:
				fen.WriteByte('1')
			}
		}
		if rank > 0 {
			fen.WriteByte('/')
		}
	}
	if s.count > 0 {
		fen.WriteString("[" + strings.Repeat(s.held.String(), s.count) + "]")
	}
	fen.WriteString(" b - - 0 1")
	text := fen.String()
	if s.side == chess.Black {
		text = strings.Replace(text, " b ", " w ", 1)
	}
	p, err := chess.ParseFEN(v, text)
	if err != nil {
		return nil
	}
	return &p
}

// single reports whether the set's features follow from single pieces: whether pieces
// and hands account for at least half of its features, and none for more than
// a few at once. king is as newAtlas was given it.
func (a *atlas) single(set features.Set, king chess.Square) bool {
	const few = 4
	met := map[int32]bool{}
	note := func(e *effect) bool {
		for _, f := range e.added {
			met[f] = true
		}
		return len(e.added) <= few*max(e.kings, 1)
	}
	for side := range a.pieces {
		for kind := range a.pieces[side] {
			for s := range a.pieces[side][kind] {
				if !note(&a.pieces[side][kind][s]) {
					return false
				}
			}
		}
		for kind := range a.hands[side] {
			for n := range a.hands[side][kind] {
				note(&a.hands[side][kind][n])
			}
		}
	}
	alive := set.Size() - len(a.dead)
	if set.Anchors() != 1 && king != chess.NoSquare {
		alive /= set.Anchors()
	}
	return 2*len(met) >= alive
}

// picture is what a neuron adds up for pieces on squares, a1 first, and in hand:
// hand i is the piece i+1 of a kind. NaN is where no feature is. Own side first,
// then the enemy.
type picture struct {
	Pieces [2][kinds][64]float64
	Hands  [2][handKinds][handSteps]float64
}

// picture fills in a weight for every feature, the mean over the squares of the
// own king.
func (a *atlas) picture(weight func(feature int) float64) *picture {
	p := new(picture)
	for side := range a.pieces {
		for kind := range a.pieces[side] {
			for s := range a.pieces[side][kind] {
				p.Pieces[side][kind][s] = a.pieces[side][kind][s].mean(weight)
			}
		}
		for kind := range a.hands[side] {
			for n := range a.hands[side][kind] {
				p.Hands[side][kind][n] = a.hands[side][kind][n].mean(weight)
			}
		}
	}
	return p
}

func (e *effect) mean(weight func(feature int) float64) float64 {
	if len(e.added)+len(e.removed) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, f := range e.added {
		sum += weight(int(f))
	}
	for _, f := range e.removed {
		sum -= weight(int(f))
	}
	return sum / float64(e.kings)
}
