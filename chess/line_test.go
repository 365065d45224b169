package chess

import (
	"slices"
	"strings"
	"testing"
)

// playLine makes moves in UCI form from a FEN.
func playLine(t *testing.T, v *Variant, fen, moves string) *Line {
	t.Helper()
	l := NewLine(mustParse(t, v, fen))
	for _, text := range strings.Fields(moves) {
		m, err := l.Pos().ParseUCI(text)
		if err != nil {
			t.Fatalf("%s: %v", l.Pos().FEN(), err)
		}
		l.Push(m)
	}
	return l
}

func TestOutcome(t *testing.T) {
	const shuffle = "g1f3 g8f6 f3g1 f6g8 "
	const captures = "a1a8 b8a8 R@a1 R@b8 "
	for _, c := range []struct {
		name, fen, moves string
		v                *Variant
		outcome          Outcome
		reason           Reason
	}{
		{"start", Crazyhouse.StartFEN, "", Crazyhouse, Ongoing, NoReason},
		{"fool's mate", Crazyhouse.StartFEN, "f2f3 e7e5 g2g4 d8h4", Crazyhouse, BlackWins, Checkmate},
		{"back rank", "6k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", "a1a8", Crazyhouse, WhiteWins, Checkmate},
		{"back rank with a pawn in hand", "6k1/5ppp/8/8/8/8/8/R5K1[p] w - - 0 1", "a1a8", Crazyhouse, WhiteWins, Checkmate},
		{"back rank with a knight in hand", "6k1/5ppp/8/8/8/8/8/R5K1[n] w - - 0 1", "a1a8", Crazyhouse, Ongoing, NoReason},
		{"stalemate", "7k/8/6Q1/8/8/8/8/K7[] b - - 0 1", "", Crazyhouse, Draw, Stalemate},
		{"no stalemate with a pawn in hand", "7k/8/6Q1/8/8/8/8/K7[p] b - - 0 1", "", Crazyhouse, Ongoing, NoReason},
		{"twice", Crazyhouse.StartFEN, shuffle, Crazyhouse, Ongoing, NoReason},
		{"three times", Crazyhouse.StartFEN, shuffle + shuffle, Crazyhouse, Draw, Repetition},
		{"three times across captures and drops", "rr5k/8/8/8/8/8/8/R6K[] w - - 0 1", captures + captures, Crazyhouse, Draw, Repetition},
		{"castling rights differ once", "4k2r/8/8/8/8/8/8/4K3[] b k - 0 1", "h8h7 e1e2 h7h8 e2e1 h8h7 e1e2 h7h8 e2e1", Crazyhouse, Ongoing, NoReason},
		{"fifty moves in chess", "4k3/8/8/8/8/8/8/4K2R w - - 99 80", "h1h2", Chess, Draw, FiftyMoves},
		{"not yet", "4k3/8/8/8/8/8/8/4K2R w - - 98 80", "h1h2", Chess, Ongoing, NoReason},
		{"mate on the hundredth ply", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 80", "a1a8", Chess, WhiteWins, Checkmate},
		{"no fifty moves in crazyhouse", "4k3/8/8/8/8/8/8/4K2R[] w - - 99 80", "h1h2", Crazyhouse, Ongoing, NoReason},
		{"bare kings", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "", Chess, Draw, InsufficientMaterial},
		{"knight", "4k3/8/8/8/8/8/8/4K1N1 w - - 0 1", "", Chess, Draw, InsufficientMaterial},
		{"two knights", "4k1n1/8/8/8/8/8/8/4K1N1 w - - 0 1", "", Chess, Ongoing, NoReason},
		{"bishops on one colour", "4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", "", Chess, Draw, InsufficientMaterial},
		{"bishops on both colours", "2b1k3/8/8/8/8/8/8/2B1K3 w - - 0 1", "", Chess, Ongoing, NoReason},
		{"bishop and knight", "4k1n1/8/8/8/8/8/8/2B1K3 w - - 0 1", "", Chess, Ongoing, NoReason},
		{"pawn", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "", Chess, Ongoing, NoReason},
		{"bare kings in crazyhouse", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1", "", Crazyhouse, Ongoing, NoReason},
	} {
		l := playLine(t, c.v, c.fen, c.moves)
		if o, r := l.Outcome(); o != c.outcome || r != c.reason {
			t.Errorf("%s: %v by %v, want %v by %v", c.name, o, r, c.outcome, c.reason)
		}
	}
}

func TestRepetitions(t *testing.T) {
	l := playLine(t, Crazyhouse, Crazyhouse.StartFEN, strings.Repeat("g1f3 g8f6 f3g1 f6g8 ", 4))
	if n := l.Repetitions(); n != 4 {
		t.Errorf("Repetitions = %d, want 4", n)
	}
	// The marks tell a promoted queen from another.
	l = playLine(t, Crazyhouse, "4k3/8/8/8/8/8/8/Q~6K[] w - - 0 1", "a1a2 e8e7 a2a1 e7e8")
	if n := l.Repetitions(); n != 1 {
		t.Errorf("with a promoted queen Repetitions = %d, want 1", n)
	}
	// A pawn that is pinned, or another check, makes an en passant square mean nothing; a
	// pawn that may capture makes it another position.
	for fen, want := range map[string]int{
		"3k2n1/8/8/8/3p4/8/4P3/3RK1N1 w - - 0 1":      2,
		"3k2n1/8/8/8/3p4/8/4P3/2R1K1N1 w - - 0 1":     1,
		"3k2n1/8/8/8/3pP3/8/8/3RK1N1 b - e3 0 1":      2,
		"6n1/8/8/8/1k1p4/8/4P3/4K1N1[] w - - 0 1":     1,
		"r2k2n1/8/8/8/3p4/8/4P3/3RK1N1[Qq] w - - 0 1": 2,
	} {
		v, moves := Chess, "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1"
		if strings.Contains(fen, "[") {
			v = Crazyhouse
		}
		if strings.Contains(fen, " e3 ") {
			_, moves, _ = strings.Cut(moves, " ")
		}
		if n := playLine(t, v, fen, moves).Repetitions(); n != want {
			t.Errorf("%s: Repetitions = %d, want %d", fen, n, want)
		}
	}
	p, q := mustParse(t, Crazyhouse, "4k3/8/8/8/8/8/8/Q~6K[] w - - 0 1"), mustParse(t, Crazyhouse, "4k3/8/8/8/8/8/8/Q6K[] w - - 0 1")
	if p.Key() == q.Key() {
		t.Error("the promoted mark is no part of the key")
	}
}

func TestLinePushPop(t *testing.T) {
	l := playLine(t, Crazyhouse, Crazyhouse.StartFEN, "e2e4 d7d5 e4d5 d8d5")
	clone := l.Clone()
	for range 2 {
		l.Pop()
	}
	m, err := l.Pos().ParseUCI("g1f3")
	if err != nil {
		t.Fatal(err)
	}
	l.Push(m)
	if got := playLine(t, Crazyhouse, Crazyhouse.StartFEN, "e2e4 d7d5 g1f3"); !slices.Equal(got.Keys(), l.Keys()) ||
		!slices.Equal(got.Moves(), l.Moves()) || *got.Pos() != *l.Pos() {
		t.Errorf("after Pop and Push: %s, want %s", l.Pos().FEN(), got.Pos().FEN())
	}
	again := playLine(t, Crazyhouse, Crazyhouse.StartFEN, "e2e4 d7d5 e4d5 d8d5")
	if !slices.Equal(clone.Moves(), again.Moves()) || *clone.Pos() != *again.Pos() || clone.Len() != 4 {
		t.Errorf("the clone changed with its original: %s", clone.Pos().FEN())
	}
	if keys := clone.Keys(); len(keys) != 5 || keys[0] != clone.Start().Key() || keys[4] != clone.Pos().Key() {
		t.Errorf("Keys = %x", keys)
	}
}

func TestOutcomeStrings(t *testing.T) {
	if s := Win(White).String() + Win(Black).String() + Draw.String() + Ongoing.String(); s != "1-00-11/2-1/2*" {
		t.Errorf("results %q", s)
	}
	if s := InsufficientMaterial.String() + ", " + Reason(16).String(); s != "insufficient material, other" {
		t.Errorf("reasons %q", s)
	}
}
