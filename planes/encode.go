package planes

import (
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Shape of the input of a net: plane by plane, row by row.
const (
	Channels = 34            // planes of a position
	Size     = Channels * 64 // numbers of a position
)

// EncoderVersion names the meaning of the planes in a net's metadata.
const EncoderVersion = "crazyara-1"

// First planes of each group. The side to move comes first in those of two sides.
const (
	planePieces     = 0  // 6 + 6: squares of pawns to kings
	planeRepetition = 12 // 2: the position stood on the board once, twice before
	planeHands      = 14 // 5 + 5: pieces in hand, pawns to queens
	planePromoted   = 24 // 1 + 1: squares of promoted pieces
	planeEnPassant  = 26 // the square a pawn of the side to move may capture to
	planeWhite      = 27 // White is to move
	planeMoveNumber = 28
	planeCastling   = 29 // 2 + 2: rights to castle kingside, queenside
	planeClock      = 33 // plies without progress
)

// What counts are divided by: they become small, not bounded.
const (
	handScale       = 32
	moveNumberScale = 500
	clockScale      = 40
)

// Encode writes the planes of p, [Channels, 8, 8], into dst[:Size]. repetitions is
// how often the position occurred earlier in its game ([chess.Line.Repetitions]).
//
// Squares are marked by 1. What belongs to the whole position fills its plane
// ([Constant]): 1 if it is so, pieces in hand divided by 32, the move number by
// 500, the halfmove clock by 40. Nothing is clamped: at move 600 the plane of
// the move number holds 1.2; see [Clamp]. The clock is p's own, which after drops
// depends on how the moves were made; see [search.Advance].
func Encode(dst []float32, p *chess.Position, repetitions int) {
	dst = dst[:Size]
	clear(dst)
	us := p.SideToMove()
	them := us.Other()
	for t := chess.Pawn; t <= chess.King; t++ {
		mark(dst, planePieces+int(t), p.Pieces(us, t), us)
		mark(dst, planePieces+6+int(t), p.Pieces(them, t), us)
	}
	if repetitions > 0 {
		fill(dst, planeRepetition, 1)
	}
	if repetitions > 1 {
		fill(dst, planeRepetition+1, 1)
	}
	encodeHand(dst, planeHands, p.Hand(us))
	encodeHand(dst, planeHands+5, p.Hand(them))
	promoted := p.Promoted()
	mark(dst, planePromoted, promoted&p.ByColor(us), us)
	mark(dst, planePromoted+1, promoted&p.ByColor(them), us)
	mark(dst, planeEnPassant, p.EnPassant().Bitboard(), us)
	if us == chess.White {
		fill(dst, planeWhite, 1)
	}
	fill(dst, planeMoveNumber, float32(p.FullmoveNumber())/moveNumberScale)
	encodeCastling(dst, planeCastling, p, us)
	encodeCastling(dst, planeCastling+2, p, them)
	if clock := p.HalfmoveClock(); clock != 0 {
		fill(dst, planeClock, float32(clock)/clockScale)
	}
}

// mark sets the squares of b on a plane, mirrored for Black.
func mark(dst []float32, plane int, b chess.Bitboard, us chess.Color) {
	if us == chess.Black {
		b = chess.Bitboard(bits.ReverseBytes64(uint64(b)))
	}
	board := (*[64]float32)(dst[plane*64:])
	for ; b != 0; b &= b - 1 {
		board[b.First()&63] = 1
	}
}

// fill sets a whole plane to v.
func fill(dst []float32, plane int, v float32) {
	board := (*[64]float32)(dst[plane*64:])
	for i := range board {
		board[i] = v
	}
}

func encodeHand(dst []float32, plane int, h chess.Hand) {
	if h.Empty() {
		return
	}
	for t := chess.Pawn; t <= chess.Queen; t++ {
		if n := h.Count(t); n != 0 {
			fill(dst, plane+int(t), float32(n)/handScale)
		}
	}
}

func encodeCastling(dst []float32, plane int, p *chess.Position, c chess.Color) {
	king := p.King(c)
	for rooks := p.CastlingRooks() & p.ByColor(c); rooks != 0; rooks &= rooks - 1 {
		side := 0
		if rooks.First() < king {
			side = 1
		}
		fill(dst, plane+side, 1)
	}
}

// Clamp limits the numbers of encoded positions to 1. Nets trained on clamped
// planes say so in their [Meta].
func Clamp(planes []float32) {
	for i, v := range planes {
		planes[i] = min(v, 1)
	}
}

// Constant reports whether Encode always writes the same number to all 64 squares
// of a plane.
func Constant(plane int) bool {
	switch {
	case plane < planeRepetition, plane >= planePromoted && plane <= planeEnPassant:
		return false
	default:
		return true
	}
}

// Name describes a plane in a few words, in which "own" is the side to move.
func Name(plane int) string {
	kinds := [...]string{"pawns", "knights", "bishops", "rooks", "queens", "king"}
	sides := [...]string{"own ", "enemy "}
	switch {
	case plane < planeRepetition:
		return sides[plane/6] + kinds[plane%6]
	case plane < planeHands:
		return [...]string{"seen before", "seen twice before"}[plane-planeRepetition]
	case plane < planePromoted:
		i := plane - planeHands
		return sides[i/5] + "hand: " + kinds[i%5]
	case plane < planeEnPassant:
		return sides[plane-planePromoted] + "promoted"
	case plane >= planeCastling && plane < planeClock:
		i := plane - planeCastling
		return sides[i/2] + [...]string{"kingside", "queenside"}[i%2]
	}
	return map[int]string{
		planeEnPassant: "en passant", planeWhite: "White to move",
		planeMoveNumber: "move number", planeClock: "halfmove clock",
	}[plane]
}
