package dataset

import (
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Mirror reflects samples left to right, each with the given probability, but for
// those with a right to castle left.
func Mirror(rng *rand.Rand, probability float64, samples []sample.Sample) {
	if probability == 0 {
		return
	}
	for i := range samples {
		if rng.Float64() < probability {
			mirror(&samples[i])
		}
	}
}

// mirrors reports whether a position may be mirrored: it may not while a right to
// castle is left, which has no mirror image.
func mirrors(p *chess.Position) bool { return p.CastlingRooks() == 0 }

// mirror reflects a sample left to right if that may be done, and reports whether
// it did.
func mirror(s *sample.Sample) bool {
	p := &s.Pos
	if !mirrors(p) {
		return false
	}
	setup := chess.Setup{
		Hands: [2]chess.Hand{p.Hand(chess.White), p.Hand(chess.Black)}, SideToMove: p.SideToMove(),
		EnPassant: p.EnPassant(), HalfmoveClock: uint16(p.HalfmoveClock()), FullmoveNumber: uint16(p.FullmoveNumber()),
	}
	if setup.EnPassant != chess.NoSquare {
		setup.EnPassant ^= flip
	}
	for square := chess.A1; square <= chess.H8; square++ {
		setup.Board[square^flip] = p.PieceAt(square)
		if p.Promoted()&square.Bitboard() != 0 {
			setup.Promoted |= (square ^ flip).Bitboard()
		}
	}
	mirrored, err := setup.Position(p.Variant())
	if err != nil { // more in hand than a FEN can say
		return false
	}
	s.Pos, s.Move = mirrored, mirrorMove(s.Move)
	if s.Policy != nil {
		policy := sample.Policy{Moves: slices.Clone(s.Policy.Moves), Surprise: s.Policy.Surprise}
		for i := range policy.Moves {
			policy.Moves[i].Move = mirrorMove(policy.Moves[i].Move)
		}
		s.Policy = &policy
	}
	return true
}

// mirrorMove reflects a move of a position without rights to castle.
func mirrorMove(m chess.Move) chess.Move {
	switch {
	case m == chess.NoMove:
		return m
	case m.IsDrop():
		return chess.NewDrop(m.DropType(), m.To()^flip)
	}
	return chess.NewMove(m.From()^flip, m.To()^flip, m.Kind())
}

// flip exchanges the files of a square.
const flip = 7
