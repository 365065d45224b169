package ab

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestQuietWithoutQuiescence: without a quiescence search both values are the static
// evaluation, whatever was searched before.
func TestQuietWithoutQuiescence(t *testing.T) {
	e := New(func() Evaluator { return NewMaterial() }, Options{HashMB: 1, Params: map[string]string{"quiescence": "false"}})
	for _, fen := range []string{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1", "4k3/8/8/3q4/4P3/8/8/4K3[] w - - 0 1"} {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		want := search.Score(NewMaterial().Evaluate(&p))
		if static, settled := e.Quiet(chess.NewLine(p)); static != want || settled != want {
			t.Errorf("%s: static %d, settled %d, expected %d", fen, static, settled, want)
		}
		if _, err := e.Search(t.Context(), chess.NewLine(chess.Crazyhouse.Start()), search.Limits{Nodes: 100}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuiet(t *testing.T) {
	e := New(func() Evaluator { return NewMaterial() }, Options{HashMB: 1})
	for _, tc := range []struct {
		fen   string
		quiet bool
	}{
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1", true},
		{"4k3/8/8/3q4/4P3/8/8/4K3[] w - - 0 1", false}, // wins the queen
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, tc.fen)
		if err != nil {
			t.Fatal(err)
		}
		line := chess.NewLine(p)
		static, settled := e.Quiet(line)
		if want := NewMaterial().Evaluate(&p); int(static) != want {
			t.Errorf("%s: static %d, evaluator says %d", tc.fen, static, want)
		}
		if diff := settled - static; (diff == 0) != tc.quiet || diff < 0 {
			t.Errorf("%s: static %d, settled %d, want quiet %v", tc.fen, static, settled, tc.quiet)
		}
		if again, _ := e.Quiet(line); again != static {
			t.Errorf("%s: static %d, then %d", tc.fen, static, again)
		}
	}
}
