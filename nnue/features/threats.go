package features

import "github.com/crazyhouse-rl/selfplay/chess"

// threatSet has a feature for a piece, the victim, on a square, which pieces of a kind
// and side attack, or defend where it is their own. Kings are neither attackers nor
// victims.
//
//	feature = 64*(10*(attackers' plane) + victim's plane) + victim's square
type threatSet struct{ *block }

const threatPlanes = planes - 2

var threats = threatSet{&block{
	name: "Threats", describe: "attacked and defended pieces on squares, by kind of attacker", size: threatPlanes * threatPlanes * 64,
	// No piece attacks more than eight others.
	most: func(onBoard int) int { return 8 * (onBoard - 2) },
	never: func(f, king int) bool {
		attacker, victim, square := f/(64*threatPlanes), f/64%threatPlanes, f%64
		switch {
		case square == king, victim < 2 && !pawnRank(square):
			return true
		case attacker == 0:
			return square/8 < 2
		case attacker == 1:
			return square/8 > 5
		default:
			return false
		}
	},
}}

// victims returns the squares with pieces other than kings.
func victims(p *chess.Position) chess.Bitboard { return p.Occupied() &^ p.ByType(chess.King) }

// appendThreats appends the features of attackers on a set of squares, where pieces
// other than kings stand.
func (b threatSet) appendThreats(dst []int32, p *chess.Position, attackers, enemy int, squares chess.Bitboard) []int32 {
	plane := &planeOfPiece[enemy]
	mirror := enemy * rankMirror
	for ; squares != 0; squares &= squares - 1 {
		s := squares.First()
		victim := int(plane[p.PieceAt(s)&15])
		dst = append(dst, int32(64*(threatPlanes*attackers+victim)+(int(s)^mirror)))
	}
	return dst
}

func (b threatSet) Active(p *chess.Position, perspective chess.Color, dst []int32) []int32 {
	enemy, occupied, all := int(perspective), p.Occupied(), victims(p)
	for c := chess.White; c <= chess.Black; c++ {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			set := attacked(p.Pieces(c, t), c, t, occupied) & all
			dst = b.appendThreats(dst, p, planeOf(int(t), int(c), enemy), enemy, set)
		}
	}
	return dst
}

// Difference works out anew what the attackers of a kind and side attack where they
// have changed, or where a square has been filled or emptied on their lines. Others
// attack what they did: only pieces that have changed there matter.
func (b threatSet) Difference(from, to *chess.Position, perspective chess.Color, added, removed []int32) ([]int32, []int32) {
	enemy := int(perspective)
	before, after := from.Occupied(), to.Occupied()
	oldVictims, newVictims := victims(from), victims(to)
	changed := changedSquares(from, to)
	diagonal, straight := seenFrom(before^after, before)
	for c := chess.White; c <= chess.Black; c++ {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			pieces, moved := from.Pieces(c, t), to.Pieces(c, t)
			var then, now chess.Bitboard
			switch {
			case pieces != moved, slides(t, pieces, diagonal, straight):
				then = attacked(pieces, c, t, before)
				now = attacked(moved, c, t, after)
			case pieces == 0 || t > chess.Knight && changed&^(before^after) == 0:
				continue // sliders see no square that has been filled or emptied
			default:
				then = attacked(pieces, c, t, before) & changed
				now = then
			}
			then &= oldVictims
			now &= newVictims
			differ := then ^ now | then&changed
			attackers := planeOf(int(t), int(c), enemy)
			added = b.appendThreats(added, to, attackers, enemy, now&differ)
			removed = b.appendThreats(removed, from, attackers, enemy, then&differ)
		}
	}
	return added, removed
}

// seenFrom returns what bishops and rooks on a set of squares would attack.
func seenFrom(squares, occupied chess.Bitboard) (diagonal, straight chess.Bitboard) {
	return attacked(squares, chess.White, chess.Bishop, occupied), attacked(squares, chess.White, chess.Rook, occupied)
}

// slides reports whether one of the pieces of kind t is among those that look along
// diagonals, or ranks and files, onto squares from which these are seen.
func slides(t chess.PieceType, pieces, diagonal, straight chess.Bitboard) bool {
	switch t {
	case chess.Bishop:
		return pieces&diagonal != 0
	case chess.Rook:
		return pieces&straight != 0
	case chess.Queen:
		return pieces&(diagonal|straight) != 0
	default:
		return false
	}
}
