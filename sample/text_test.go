package sample

import (
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestCheckMove tries every move that sixteen bits can express in some positions.
// Those that pass are written and read as the same, and every legal one passes.
func TestCheckMove(t *testing.T) {
	for _, c := range []struct {
		v   *chess.Variant
		fen string
	}{
		{chess.Crazyhouse, "r3k2r/P6P/8/3pP3/8/8/p6p/R3K2R[QRBNPqrbnp] w KQkq d6 0 1"},
		{chess.Crazyhouse, "r3k2r/P6P/8/8/3pP3/8/p6p/R3K2R[QRBNPqrbnp] b KQkq e3 0 1"},
		{chess.Crazyhouse, "bqnbrkrn/8/8/8/8/8/8/BQNBRKRN[P] w GEge - 0 1"},
		{chess.Crazyhouse, "1r2kr2/8/8/8/8/8/8/1R2KR2[P] b FBfb - 0 1"},
		{chess.Crazyhouse, "K6k/8/8/8/8/8/8/8[] w - - 0 1"},
		{chess.Chess, "r3k2r/P6P/8/3pP3/8/8/p6p/R3K2R w KQkq d6 0 1"},
	} {
		pos, err := chess.ParseFEN(c.v, c.fen)
		if err != nil {
			t.Fatal(err)
		}
		for m := chess.NoMove; ; m++ {
			if err := CheckMove(&pos, m); err != nil {
				if pos.IsLegal(m) || !errors.Is(err, ErrRecord) {
					t.Fatalf("%s: %s: %v", c.fen, pos.UCI(m), err)
				}
			} else {
				text := AppendMove(nil, &pos, m, false)
				if back, partial, err := ParseMove(&pos, text); err != nil || back != m || partial {
					t.Fatalf("%s: %s of kind %d is read as kind %d, %v", c.fen, text, m.Kind(), back.Kind(), err)
				}
			}
			if m == 1<<16-1 {
				break
			}
		}
	}
}

func TestPartialMoves(t *testing.T) {
	pos, err := chess.ParseFEN(chess.Crazyhouse, "r3k2r/P6P/8/3pP3/8/8/p6p/R3K2R[QRBNPqrbnp] w KQkq d6 0 1")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]chess.Move{
		"?@d3": chess.NewDrop(chess.Pawn, 19), "?@d1": chess.NewDrop(chess.Pawn, 3), "a7a8?": chess.NewPromotion(48, 56, chess.Queen),
	} {
		m, partial, err := ParseMove(&pos, []byte(text))
		if got := string(AppendMove(nil, &pos, m, partial)); m != want || !partial || err != nil || got != text {
			t.Errorf("%s is read as %s, %v", text, got, err)
		}
	}
	s := Sample{Pos: pos, Move: chess.NewMove(36, 44, chess.Normal), Partial: true}
	if err := s.Check(); !errors.Is(err, ErrRecord) {
		t.Errorf("a step whose piece is unknown: %v", err)
	}
}
