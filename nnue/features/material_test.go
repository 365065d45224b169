package features

import (
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// testValues tell any material from any other of a game: no side has more than
// 31 pieces of a kind.
var testValues = [5]float32{1, 1 << 5, 1 << 10, 1 << 15, 1 << 20}

// counted is the material that a set gives: pieces on the board by kind, and up to
// a number of each kind in a hand.
type counted struct {
	board [5]bool
	held  [5]int
}

// of is the material of p, counted piece by piece.
func (c counted) of(p *chess.Position, perspective chess.Color) float32 {
	var total float32
	for color, sign := range map[chess.Color]float32{perspective: 1, perspective.Other(): -1} {
		for kind, value := range testValues {
			t := chess.PieceType(kind)
			if c.board[kind] {
				total += sign * value * float32(p.Pieces(color, t).Count())
			}
			total += sign * value * float32(min(p.Hand(color).Count(t), c.held[kind]))
		}
	}
	return total
}

var (
	board     = [5]bool{true, true, true, true, true}
	nothingOf = counted{}
	onBoard   = counted{board: board}
	inHands   = counted{held: [5]int{16, 16, 16, 16, 16}}
	all       = counted{board: board, held: inHands.held}
)

// materialSets are sets with what they can tell.
var materialSets = []struct {
	hands      bool
	expression string
	counted    counted
}{
	{false, "All", onBoard},
	{false, "P", onBoard},
	{false, "KingAll", onBoard},
	{false, "HalfKP", onBoard},
	{false, "King * P", onBoard},
	{false, "All * King", onBoard},
	{false, "King * King * All", onBoard},
	{false, "EnemyKing * All", onBoard},
	{false, "P * KingZone", onBoard},
	{false, "KingHalf * AllHalf", onBoard},
	{false, "KingHalf * KingZone * AllHalf", onBoard},
	{false, "AllHalf + KingZone * All", onBoard},
	{true, "KingHalf * (AllHalf + Hand)", all},
	{false, "All + PH + MC", onBoard},
	{false, "H + V + D1 + D2 + P", onBoard},
	{false, "P + All", onBoard},
	{false, "HalfKP + KingAll + HalfKAv2", all},
	{false, "All + H * All", onBoard},
	{false, "King", nothingOf},
	{false, "H + V + D1 + D2", nothingOf},
	{false, "PH + PV + MB + MC", nothingOf},
	{false, "All * All", nothingOf},
	{false, "H * King * All", nothingOf},
	{true, "HalfKAv2", all},
	{true, "All + Hand", all},
	{true, "Hand + All", all},
	{true, "All + HandExact", all},
	{true, "All + HandCapped", all},
	{true, "King * (All + Hand)", all},
	{true, "(P + Hand) * King", all},
	{true, "King * P + PH + King * HandExact", all},
	{true, "All + HalfKAv2", all},
	{true, "HalfKAv2 + All + Hand", all},
	{true, "All + Hand + HandExact + King * HandCapped", all},
	{true, "All + HandHeld + Hand", all},
	{true, "All + HandHeld + HandExact", all},
	{true, "All + HandExact + HandHeld", all},
	{true, "Promoted + All + HandHeld * All + Hand + HandPairs + HandTotal", all},
	{true, "All + HandHeld", counted{board: board, held: [5]int{1, 1, 1, 1, 1}}},
	{true, "Hand", inHands},
	{true, "HandExact", inHands},
	{true, "All + HandHeld * Hand", onBoard},
	{true, "HandPairs + HandTotal + Promoted + DropChecks + DropMoves", nothingOf},
}

// TestMaterial follows random games: the weights of the active features sum to
// what the set can tell of the material, piece by piece.
func TestMaterial(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, start := range starts {
		if start.name == "large hand" {
			continue // caps of a game's pieces do not hold there
		}
		hands := start.variant.CapturesToHand
		for _, s := range materialSets {
			if s.hands && !hands {
				continue
			}
			set := mustParse(t, s.expression, start.variant)
			weights := Material(set, testValues)
			if len(weights) != set.Size() {
				t.Fatalf("%s: %d weights for %d features", set, len(weights), set.Size())
			}
			want := s.counted
			if !hands {
				want.held = [5]int{}
			}
			p, uneven := parse(t, start.variant, start.fen, start.chess960), false
			for range 60 {
				for _, c := range []chess.Color{chess.White, chess.Black} {
					var sum float32
					for _, f := range set.Active(&p, c, nil) {
						sum += weights[f]
					}
					uneven = uneven || sum != 0
					if material := want.of(&p, c); sum != material {
						t.Fatalf("%s, %s, perspective %v: weights sum to %v, want %v", set, p.FEN(), c, sum, material)
					}
				}
				m := randomMove(rng, &p)
				if m == chess.NoMove {
					break
				}
				p.Make(m)
			}
			if start.name == "crazyhouse" && want != nothingOf && !uneven {
				t.Errorf("%s: no position with uneven material among a random game's", set)
			}
		}
	}
}
