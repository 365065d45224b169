package ab

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestQuiesce: without selective rules it is the twin's value, and with all of them it
// is the same whatever was quiesced before.
func TestQuiesce(t *testing.T) {
	plain, usual := fullWidth(true), New(newMaterial, Options{HashMB: 1})
	var first []search.Score
	for _, tc := range minimaxPositions {
		l := chess.NewLine(mustFEN(t, tc.variant, tc.fen))
		if tc.quiet > 0 { // else the twin takes too long
			twin := minimax{tune: &newTuning(tc.variant, nil).early}
			want := twin.leaf(l.Pos(), 0, 0)
			if got := plain.Quiesce(l); int(got) != want {
				t.Errorf("%s: value %d, expected %d", tc.fen, int(got), want)
			}
		}
		first = append(first, New(newMaterial, Options{HashMB: 1}).Quiesce(l))
	}
	for round := range 2 {
		for i, tc := range minimaxPositions {
			if got := usual.Quiesce(chess.NewLine(mustFEN(t, tc.variant, tc.fen))); got != first[i] {
				t.Errorf("%s: value %d in round %d, %d by a fresh engine", tc.fen, int(got), round, int(first[i]))
			}
		}
	}
}
