package ab

import "github.com/crazyhouse-rl/selfplay/chess"

// Material evaluates by material, on the board and in hand, and by a few
// positional terms that cost a population count each: centre, advanced pawns,
// the king's shelter and the enemies near it. It needs no network and no state,
// so one value may serve any number of threads.
//
// It is the teacher that self-play starts from and a fixed opponent to measure
// progress against. Its evaluations are deterministic, colour-blind (mirroring a
// position and swapping the sides changes nothing) and, with the usual piece
// values, in pawns' hundredths.
type Material struct{}

// NewMaterial returns a Material evaluator.
func NewMaterial() *Material { return &Material{} }

// Reset implements [Evaluator]; there is nothing to reset.
func (*Material) Reset(*chess.Position) {}

// Push implements [Evaluator]; there is nothing to update.
func (*Material) Push(*chess.Position, chess.Move) {}

// Pop implements [Evaluator].
func (*Material) Pop() {}

// Evaluate implements [Evaluator].
func (*Material) Evaluate(p *chess.Position) int {
	w := &materialChess
	if p.Variant().CapturesToHand {
		w = &materialHand
	}
	us := p.SideToMove()
	return w.side(p, us) - w.side(p, us.Other()) + w.tempo
}

// materialWeights are the terms of Material for one family of variants, in
// centipawns.
type materialWeights struct {
	board, hand [7]int // by chess.PieceType
	tempo       int
	centre      int    // minor piece on one of the sixteen central squares
	rim         int    // knight on the edge, taken off
	centrePawn  int    // pawn on d4, e4, d5, e5
	advanced    [3]int // pawn on its fifth, sixth, seventh rank
	shelter     int    // own piece beside the king
	near        int    // enemy piece within two squares of the king, taken off
	hole        int    // empty square beside the king, for each enemy piece in hand (at most maxDroppers), taken off
}

// maxDroppers bounds the pieces in hand that count against a king's shelter.
const maxDroppers = 6

var (
	// materialHand is for variants where captures go to hand. A piece in hand
	// may appear anywhere, so it is worth a little more than on the board;
	// and since every piece traded comes back, long-range pieces lose some of
	// their lead.
	materialHand = materialWeights{
		board:    [7]int{100, 260, 260, 340, 640},
		hand:     [7]int{110, 280, 265, 345, 650},
		tempo:    20,
		centre:   10,
		rim:      12,
		advanced: [3]int{6, 22, 45},
		shelter:  4, near: 48, hole: 2,
		centrePawn: 12,
	}
	materialChess = materialWeights{
		board:      [7]int{100, 320, 330, 500, 950},
		tempo:      10,
		centre:     10,
		rim:        12,
		centrePawn: 15,
		advanced:   [3]int{8, 20, 45},
		shelter:    7, near: 6,
	}
)

const (
	rank1       chess.Bitboard = 0xff
	fileA       chess.Bitboard = 0x0101010101010101
	edge                       = rank1 | rank1<<56 | fileA | fileA<<7
	bigCentre   chess.Bitboard = 0x00003c3c3c3c0000
	smallCentre chess.Bitboard = 0x0000001818000000
)

// side returns what c has in p, its king's dangers taken off.
func (w *materialWeights) side(p *chess.Position, c chess.Color) int {
	v := 0
	own, hand := p.ByColor(c), p.Hand(c)
	for t := chess.Pawn; t < chess.King; t++ {
		v += w.board[t]*(p.ByType(t)&own).Count() + w.hand[t]*hand.Count(t)
	}
	knights, bishops := p.Pieces(c, chess.Knight), p.Pieces(c, chess.Bishop)
	v += w.centre*((knights|bishops)&bigCentre).Count() - w.rim*(knights&edge).Count()
	return v + w.pawns(p.Pieces(c, chess.Pawn), c) + w.king(p, c)
}

// pawns returns the positional terms of the pawns of c.
func (w *materialWeights) pawns(pawns chess.Bitboard, c chess.Color) int {
	v := w.centrePawn * (pawns & smallCentre).Count()
	for i, bonus := range w.advanced {
		rank := 4 + i
		if c == chess.Black {
			rank = 7 - rank
		}
		v += bonus * (pawns & (rank1 << (8 * rank))).Count()
	}
	return v
}

// king returns the terms of the king of c.
func (w *materialWeights) king(p *chess.Position, c chess.Color) int {
	ring := chess.KingAttacks(p.King(c))
	v := w.shelter*(ring&p.ByColor(c)).Count() - w.near*(widen(ring)&p.ByColor(c.Other())).Count()
	if enemy := p.Hand(c.Other()); !enemy.Empty() {
		v -= w.hole * min(enemy.Total(), maxDroppers) * (ring &^ p.Occupied()).Count()
	}
	return v
}

// widen returns b with every square beside one of b.
func widen(b chess.Bitboard) chess.Bitboard {
	b |= b<<1&^fileA | b>>1&^(fileA<<7)
	return b | b<<8 | b>>8
}
