package chess

import "fmt"

// Warnings says what in p cannot come about in a game, though the rules still
// have a meaning for it and ParseFEN accepts it: more material than a game has,
// or a check that no move gives. It is nil for most positions.
func (p *Position) Warnings() []string {
	var w []string
	if p.Variant().CapturesToHand {
		w = p.warnSharedMaterial(w)
	} else {
		w = p.warnOwnMaterial(w)
	}
	checkers := p.Checkers()
	if n := checkers.Count(); n > 2 {
		return append(w, fmt.Sprintf("impossible check: %d pieces give check, at most 2 can", n))
	} else if n == 2 {
		a, b := checkers.First(), last(checkers)
		if king := p.King(p.side); Between(a, b).Has(king) {
			w = append(w, fmt.Sprintf("impossible check: from both sides along one line, by %v and %v", a, b))
		}
	}
	return w
}

// warnSharedMaterial counts board and hands of both sides together, since
// captures change sides.
func (p *Position) warnSharedMaterial(w []string) []string {
	for t, most := range [...]int{Pawn: 16, Knight: 4, Bishop: 4, Rook: 4, Queen: 2} {
		if n := p.material(PieceType(t)); n > most {
			w = append(w, fmt.Sprintf("too much material: %d of kind %v, at most %d", n, PieceType(t), most))
		}
	}
	return w
}

// warnOwnMaterial counts the pieces of each side, all beyond the first set being
// promoted pawns.
func (p *Position) warnOwnMaterial(w []string) []string {
	for c := White; c <= Black; c++ {
		pawns := p.Pieces(c, Pawn).Count()
		for t, first := range [...]int{Knight: 2, Bishop: 2, Rook: 2, Queen: 1} {
			if PieceType(t) != Pawn {
				pawns += max(0, p.Pieces(c, PieceType(t)).Count()-first)
			}
		}
		if pawns > 8 {
			w = append(w, fmt.Sprintf("too much material: %v has %d pawns and promoted pawns, at most 8", c, pawns))
		}
	}
	return w
}
