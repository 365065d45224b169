package ab

import "github.com/crazyhouse-rl/selfplay/chess"

const (
	correctionBits  = 12 // of a slot number: all slots fit into a second-level cache
	correctionSlots = 1 << correctionBits
	correctionMax   = 1024 // bound of every value
)

// corrections remember by how much searches differed from the static evaluation in
// positions that share a trait, by the side to move and a hash of the trait. Values
// lie within ±correctionMax, which stands for Numbers.CorrectWeight centipawns.
type corrections struct {
	pawns, hands, moves [2][correctionSlots]int16
	men                 [2][2][correctionSlots]int16 // by the colour of the men too
}

func (c *corrections) clear() { *c = corrections{} }

// odd are odd numbers whose bits are as good as random: the first multiples of 2^64
// over the golden ratio, made odd. A sum of products with them hashes several words.
var odd = [5]uint64{0x9e3779b97f4a7c15, 0x3c6ef372fe94f82b, 0xdaa66d2c7ddf743f, 0x78dde6e5fd29f055, 0x1715609f7c746c69}

// slotOf spreads the bits of a hash over a slot number.
func slotOf(h uint64) int { return int((h ^ h>>32) * 0x94d049bb133111eb >> (64 - correctionBits)) }

// menOf hashes the pieces of c but for pawns.
func menOf(p *chess.Position, c chess.Color) uint64 {
	own := p.ByColor(c)
	return uint64(p.ByType(chess.Knight)&own)*odd[0] + uint64(p.ByType(chess.Bishop)&own)*odd[1] + uint64(p.ByType(chess.Rook)&own)*odd[2] +
		uint64(p.ByType(chess.Queen)&own)*odd[3] + uint64(p.ByType(chess.King)&own)*odd[4]
}

// corrected are the values that apply to one position; those of rules that are off
// are nil.
type corrected [5]*int16

// corrections returns the values for the position at ply.
func (w *worker) corrected(ply int) (c corrected) {
	t, p := w.tune, &w.stack[ply].pos
	us := p.SideToMove()
	if t.CorrectPawns {
		pawns := p.ByType(chess.Pawn)
		c[0] = &w.corrections.pawns[us][slotOf(uint64(pawns&p.ByColor(chess.White))*odd[0]+uint64(pawns&p.ByColor(chess.Black))*odd[1])]
	}
	if t.CorrectMen {
		c[1] = &w.corrections.men[us][chess.White][slotOf(menOf(p, chess.White))]
		c[2] = &w.corrections.men[us][chess.Black][slotOf(menOf(p, chess.Black))]
	}
	if t.CorrectHands {
		c[3] = &w.corrections.hands[us][slotOf(uint64(p.Hand(chess.White))*odd[0]+uint64(p.Hand(chess.Black))*odd[1])]
	}
	if t.CorrectMoves {
		one, two := w.trail[ply+trailBefore-1], w.trail[ply+trailBefore-2]
		c[4] = &w.corrections.moves[us][slotOf(uint64(one)*odd[0]+uint64(two)*odd[1])]
	}
	return c
}

// correction returns what experience adds to the static evaluation of the position at
// ply, in centipawns.
func (w *worker) correction(ply int) int {
	sum := 0
	for _, v := range w.corrected(ply) {
		if v != nil {
			sum += int(*v)
		}
	}
	return sum * w.tune.CorrectWeight / correctionMax
}

// learn notes that a search of the given depth found score in the position at ply,
// which evaluates to eval.
func (w *worker) learn(ply, depth, score, eval int) {
	bonus := (score - eval) * depth / w.tune.CorrectDivisor
	bonus = max(-correctionMax/4, min(bonus, correctionMax/4))
	for _, v := range w.corrected(ply) {
		if v != nil {
			*v += int16(bonus - int(*v)*max(bonus, -bonus)/correctionMax)
		}
	}
}
