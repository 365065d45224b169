package netstat

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func TestMobility(t *testing.T) {
	var m Mobility
	p := chess.Crazyhouse.Start()
	for range 999 {
		m.Add(&p)
	}
	lone, err := chess.ParseFEN(chess.Crazyhouse, "k7/8/8/8/3Q4/8/8/7K b - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	m.Add(&lone)
	for kind, want := range map[chess.PieceType][65]int{
		chess.Pawn:   {0: 2, 16: 2 * 999},
		chess.Knight: {0: 2, 4: 2 * 999},
		chess.Queen:  {0: 2*999 + 1, 27: 1},
		chess.King:   {0: 2 * 999, 3: 2},
	} {
		if m.Count[kind] != want {
			t.Errorf("%v: found %v, expected %v", kind, m.Count[kind], want)
		}
	}
	if m.Positions != 1000 || m.Count[chess.Knight][0] != 2 || m.positive(chess.Knight) != 1998 || m.largest(chess.Queen) != 27 {
		t.Errorf("found %d positions, %d counts of 0 and %d above, largest %d", m.Positions, m.Count[chess.Knight][0], m.positive(chess.Knight), m.largest(chess.Queen))
	}

	m = Mobility{}
	m.Count[chess.Rook] = [65]int{0: 1e6, 1: 500, 2: 490, 9: 9, 14: 1}
	for share, want := range map[float64]int{0.5: 1, 0.501: 2, 0.99: 2, 0.999: 9, 0.9991: 14, 1: 14} {
		if got := m.Cover(chess.Rook, share); got != want {
			t.Errorf("share %g: found %d, expected %d", share, got, want)
		}
	}
	if got := m.Cover(chess.Queen, 0.999); got != 0 {
		t.Errorf("a kind never seen: found %d, expected 0", got)
	}
}
