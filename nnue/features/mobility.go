package features

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Destinations returns the squares to which pieces of colour c and kind t may go by
// a pseudo-legal move: the squares they attack, less those of own pieces; for pawns
// the enemy pieces they attack and the squares they push to, double steps
// included. Castling, en passant and drops are left out.
//
// Pseudo-legal rather than legal moves are taken because those of both sides
// exist at once and do not jump with every check: a legal move belongs to the
// side to move alone.
func Destinations(p *chess.Position, c chess.Color, t chess.PieceType) chess.Bitboard {
	pieces, occupied := p.Pieces(c, t), p.Occupied()
	if t == chess.Pawn {
		return pawnPushes(pieces, c, occupied) | attacked(pieces, c, t, occupied)&p.ByColor(c.Other())
	}
	return attacked(pieces, c, t, occupied) &^ p.ByColor(c)
}

// attacked returns the squares that pieces of colour c and kind t attack, occupied
// ones included, the first on each line of a slider.
func attacked(pieces chess.Bitboard, c chess.Color, t chess.PieceType, occupied chess.Bitboard) chess.Bitboard {
	const notA, notH chess.Bitboard = 0xfefefefefefefefe, 0x7f7f7f7f7f7f7f7f
	switch {
	case t != chess.Pawn:
	case c == chess.White:
		return pieces&notA<<7 | pieces&notH<<9
	default:
		return pieces&notA>>9 | pieces&notH>>7
	}
	var set chess.Bitboard
	for m := uint64(pieces); m != 0; m &= m - 1 {
		s := chess.Square(bits.TrailingZeros64(m))
		switch t {
		case chess.Knight:
			set |= chess.KnightAttacks(s)
		case chess.Bishop:
			set |= chess.BishopAttacks(s, occupied)
		case chess.Rook:
			set |= chess.RookAttacks(s, occupied)
		case chess.Queen:
			set |= chess.QueenAttacks(s, occupied)
		default:
			set |= chess.KingAttacks(s)
		}
	}
	return set
}

// pawnPushes returns the squares that pawns may push to.
func pawnPushes(pawns chess.Bitboard, c chess.Color, occupied chess.Bitboard) chess.Bitboard {
	if c == chess.White {
		push := pawns << 8 &^ occupied
		return push | (push&0x0000000000ff0000)<<8&^occupied
	}
	push := pawns >> 8 &^ occupied
	return push | (push&0x0000ff0000000000)>>8&^occupied
}

// Mobility returns the number of Destinations: squares, each counted once
// however many pieces may go there.
func Mobility(p *chess.Position, c chess.Color, t chess.PieceType) int {
	return Destinations(p, c, t).Count()
}

var mobilityBits = setBlock{&setTable{
	block: block{
		name: "MB", describe: "squares pieces may go to", size: planes * 64,
		// Pawns never go below their third rank, a king goes to eight squares, and
		// the four other kinds of a side to 63 each at most.
		most: always(2 * (48 + 8 + 4*63)),
		never: func(f, _ int) bool {
			switch plane, rank := f/64, f%64/8; plane {
			case 0:
				return rank < 2
			case 1:
				return rank > 5
			default:
				return false
			}
		},
	},
	each: 64,
	sets: func(p *chess.Position, perspective chess.Color) (sets [planes]uint64) {
		for c := range 2 {
			for t := range planes / 2 {
				sets[planeOf(t, c, int(perspective))] = oriented(Destinations(p, chess.Color(c), chess.PieceType(t)), perspective)
			}
		}
		return sets
	},
}}

// mobilityTop is the largest mobility with a feature of its own, by kind from
// pawn to king: the largest that at least one in a thousand of positions and
// sides reaches or exceeds. Networks whose features include MC depend on it.
//
// Crazyhouse: 1,000,000 positions of self-play by networks. Chess: 100,000
// positions of games of the material evaluation against itself.
var mobilityTop = struct{ chess, crazyhouse [6]int }{
	chess:      [6]int{15, 14, 20, 24, 33, 8},
	crazyhouse: [6]int{16, 18, 19, 20, 27, 8},
}

// MobilityTop returns the largest Mobility of pieces of kind t that has a feature
// of its own in MC; larger ones share it.
func MobilityTop(v *chess.Variant, t chess.PieceType) int {
	if v.CapturesToHand {
		return mobilityTop.crazyhouse[t]
	}
	return mobilityTop.chess[t]
}

var (
	mobilityChess      = newMobilityCounts(mobilityTop.chess)
	mobilityCrazyhouse = newMobilityCounts(mobilityTop.crazyhouse)
)

// newMobilityCounts returns MC: for every kind and side one feature per
// mobility from 1 to top, above which all count as top. 0 has none.
func newMobilityCounts(top [6]int) valueBlock {
	var first [planes]int
	size := 0
	for plane := range planes {
		first[plane] = size
		size += top[plane/2]
	}
	return valueBlock{&valueTable{
		block: block{name: "MC", describe: "number of squares pieces may go to, by kind", size: size, most: always(planes)},
		values: func(p *chess.Position, perspective chess.Color) quantities {
			q := nothing
			for c := range 2 {
				for t := range top {
					n := min(Mobility(p, chess.Color(c), chess.PieceType(t)), top[t])
					if n > 0 {
						plane := planeOf(t, c, int(perspective))
						q[plane] = int32(first[plane] + n - 1)
					}
				}
			}
			return q
		},
	}}
}
