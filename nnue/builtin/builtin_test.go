package builtin

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// maxPacked is what the network may add to the program.
const maxPacked = 4 << 20

// evaluate returns the network's centipawns for the side to move.
func evaluate(t *testing.T, fen string) int {
	t.Helper()
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	a := nnue.NewAccumulator(Net(chess.Crazyhouse))
	a.Reset(&p)
	return int(a.Evaluate(&p))
}

func TestNetworkKnowsWhatPiecesAreWorth(t *testing.T) {
	const (
		start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
		hand  = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[N] w KQkq - 0 1"
		queen = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Q] w KQkq - 0 1"
		lost  = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Q] b KQkq - 0 1"
	)
	a, b, c, d := evaluate(t, start), evaluate(t, hand), evaluate(t, queen), evaluate(t, lost)
	if a < -100 || a > 200 {
		t.Errorf("start position: %+d centipawns", a)
	}
	if !(a+100 < b && b+200 < c && d < -500) {
		t.Errorf("start %+d, with a knight in hand %+d, with the other's queen in hand %+d, and for the other %+d centipawns", a, b, c, d)
	}
}

func TestSizeAndVariants(t *testing.T) {
	if len(crazyhouse) > maxPacked {
		t.Errorf("%d bytes, expected at most %d", len(crazyhouse), maxPacked)
	}
	if v := Net(chess.Crazyhouse).Architecture().Variant; v != chess.Crazyhouse.Name {
		t.Errorf("network is for %s", v)
	}
	if len(ID(chess.Crazyhouse)) != 64 {
		t.Errorf("id %q", ID(chess.Crazyhouse))
	}
	if Net(chess.Chess) != nil || ID(chess.Chess) != "" {
		t.Error("a network for chess, which has none")
	}
}

func TestDamagedNetworkIsRefused(t *testing.T) {
	for _, n := range []int{0, 5, len(crazyhouse) / 2, len(crazyhouse) - 1} {
		if _, err := unpack(crazyhouse[:n]); err == nil {
			t.Errorf("the first %d of %d bytes: no error", n, len(crazyhouse))
		}
	}
}
