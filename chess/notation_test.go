package chess

import (
	"errors"
	"strings"
	"testing"
)

// TestMoveFixtures makes the recorded moves and compares text and result.
func TestMoveFixtures(t *testing.T) {
	for _, row := range readTSV(t, "crazyhouse-moves.tsv", 5) {
		p := mustParse(t, Crazyhouse, row[0])
		m, err := p.ParseUCI(row[1])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		if got := p.UCI(m); got != row[1] {
			t.Errorf("%s: UCI = %q, want %q", row[0], got, row[1])
		}
		if got := p.SAN(m); got != row[2] {
			t.Errorf("%s: SAN(%s) = %q, want %q", row[0], row[1], got, row[2])
		}
		if got, err := p.ParseSAN(row[2]); got != m || err != nil {
			t.Errorf("%s: ParseSAN(%q) = %s, %v", row[0], row[2], p.UCI(got), err)
		}
		child := p
		child.Make(m)
		if got := child.FEN(); got != row[3] {
			t.Errorf("%s: after %s FEN = %q, want %q", row[0], row[1], got, row[3])
		}
		if after := mustParse(t, Crazyhouse, row[3]); child != after {
			t.Errorf("%s: after %s the position is not that of %q", row[0], row[1], row[3])
		}
	}
}

// TestNotationRoundTrip reads back every legal move in both notations, and finds
// no two moves with one text.
func TestNotationRoundTrip(t *testing.T) {
	walkPositions(t, 600, func(p *Position) {
		var l MoveList
		p.Legal(&l)
		seen := map[string]bool{}
		for _, m := range l.Slice() {
			uci, san := p.UCI(m), p.SAN(m)
			if got, err := p.ParseUCI(uci); got != m || err != nil {
				t.Fatalf("%s: ParseUCI(%q) = %#x, %v, want %#x", p.FEN(), uci, got, err, m)
			}
			if got, err := p.ParseSAN(san); got != m || err != nil {
				t.Fatalf("%s: ParseSAN(%q) = %#x, %v, want %#x", p.FEN(), san, got, err, m)
			}
			if seen[uci] || seen[san] {
				t.Fatalf("%s: %q or %q stands for two moves", p.FEN(), uci, san)
			}
			seen[uci], seen[san] = true, true
		}
	})
}

func TestParseUCI(t *testing.T) {
	const castle = "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1"
	const castle960 = "r3k2r/8/8/8/8/8/8/R3K2R[] w HAha - 0 1"
	for _, c := range []struct {
		fen, text string
		want      Move
		err       error
	}{
		{castle, "e1g1", NewMove(4, 7, Castle), nil},
		{castle, "e1c1", NewMove(4, 0, Castle), nil},
		{castle, "e1h1", NewMove(4, 7, Castle), nil},
		{castle, "e1f1", NewMove(4, 5, Normal), nil},
		{castle960, "e1h1", NewMove(4, 7, Castle), nil},
		{castle960, "e1g1", NoMove, ErrIllegalMove},
		{"4k3/P7/8/8/8/8/8/4K3[] w - - 0 1", "a7a8q", NewPromotion(48, 56, Queen), nil},
		{"4k3/P7/8/8/8/8/8/4K3[] w - - 0 1", "a7a8", NoMove, ErrIllegalMove},
		{"4k3/P7/8/8/8/8/8/4K3[] w - - 0 1", "a7a8k", NoMove, ErrMoveSyntax},
		{"4k3/P7/8/8/8/8/8/4K3[] w - - 0 1", "a7a8Q", NoMove, ErrMoveSyntax},
		{"4k3/P7/8/8/8/8/8/4K3[] w - - 0 1", "e1e2q", NoMove, ErrIllegalMove},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "P@e4", NewDrop(Pawn, 28), nil},
		{"4k3/8/8/8/8/8/8/4K3[Pn] b - - 0 1", "N@e4", NewDrop(Knight, 28), nil},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "P@e8", NoMove, ErrIllegalMove},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "P@e1", NoMove, ErrIllegalMove},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "N@e4", NoMove, ErrIllegalMove},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "p@e4", NoMove, ErrMoveSyntax},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "@e4", NoMove, ErrMoveSyntax},
		{"4k3/8/8/8/8/8/8/4K3[Pn] w - - 0 1", "K@e4", NoMove, ErrMoveSyntax},
		{castle, "e8e7", NoMove, ErrIllegalMove},
		{castle, "e3e4", NoMove, ErrIllegalMove},
		{castle, "a1a1", NoMove, ErrIllegalMove},
		{castle, "0000", NoMove, ErrMoveSyntax},
		{castle, "", NoMove, ErrMoveSyntax},
		{castle, "e1i1", NoMove, ErrMoveSyntax},
		{castle, "e1g1x", NoMove, ErrMoveSyntax},
		{castle, strings.Repeat("e", 10000), NoMove, ErrMoveSyntax},
	} {
		p := mustParse(t, Crazyhouse, c.fen)
		m, err := p.ParseUCI(c.text)
		checkMove(t, "ParseUCI", c.text, m, c.want, err, c.err)
	}
	p := Chess.Start()
	if got := p.UCI(NoMove); got != "0000" {
		t.Errorf("UCI(NoMove) = %q", got)
	}
}

func checkMove(t *testing.T, what, text string, m, want Move, err, wantErr error) {
	t.Helper()
	if m != want || !errors.Is(err, wantErr) {
		t.Errorf("%s(%.20q) = %#x, %v, want %#x, %v", what, text, m, err, want, wantErr)
	}
	var me *MoveError
	if err != nil && (!errors.As(err, &me) || me.Found == "" || me.Expected == "" || len(err.Error()) > 300) {
		t.Errorf("%s(%.20q): error %q, want a *MoveError with what was found and expected", what, text, err)
	}
}

func TestParseSAN(t *testing.T) {
	const castle = "r3k2r/8/8/8/8/8/8/R3K2R[NP] w KQkq - 0 1"
	const knights = "4k3/8/8/8/8/2N3N1/8/2N1K3[] w - - 0 1" // three of them reach e2
	const rooks = "4k3/8/8/R7/8/8/8/R5K1[] w - - 0 1"
	const pawn = "3rk3/P1P5/8/3pP3/8/8/8/4K3[] w - d6 0 1"
	for _, c := range []struct {
		fen, text string
		want      Move
		err       error
	}{
		{castle, "O-O", NewMove(4, 7, Castle), nil},
		{castle, "0-0-0", NewMove(4, 0, Castle), nil},
		{castle, "O-O-O+", NewMove(4, 0, Castle), nil},
		{castle, "O-O!?", NewMove(4, 7, Castle), nil},
		{castle, "N@f3", NewDrop(Knight, 21), nil},
		{castle, "P@e4", NewDrop(Pawn, 28), nil},
		{castle, "@e4", NewDrop(Pawn, 28), nil},
		{castle, "@e8", NoMove, ErrIllegalMove},
		{castle, "Q@e4", NoMove, ErrIllegalMove},
		{castle, "K@e4", NoMove, ErrMoveSyntax},
		{castle, "NN@e4", NoMove, ErrMoveSyntax},
		{castle, "x@e4", NoMove, ErrMoveSyntax},
		{castle, "N@", NoMove, ErrMoveSyntax},
		{castle, "Rxa8+", NewMove(0, 56, Normal), nil},
		{castle, "Ra8", NewMove(0, 56, Normal), nil},
		{castle, "Rxa7", NoMove, ErrIllegalMove},
		{castle, "Rad1", NewMove(0, 3, Normal), nil},
		{castle, "Ra1d1", NewMove(0, 3, Normal), nil},
		{castle, "R1d1", NewMove(0, 3, Normal), nil}, // the other rook is behind the king
		{castle, "Nf3", NoMove, ErrIllegalMove},
		{knights, "N3e2", NoMove, ErrAmbiguousMove},
		{knights, "Ne2", NoMove, ErrAmbiguousMove},
		{knights, "Nge2", NewMove(22, 12, Normal), nil},
		{knights, "N1e2", NewMove(2, 12, Normal), nil},
		{knights, "Nc3e2", NewMove(18, 12, Normal), nil},
		{rooks, "R1a3", NewMove(0, 16, Normal), nil},
		{rooks, "Raa3", NoMove, ErrAmbiguousMove},
		{pawn, "exd6", NewMove(36, 43, EnPassant), nil},
		{pawn, "ed6", NewMove(36, 43, EnPassant), nil},
		{pawn, "d6", NoMove, ErrIllegalMove},
		{pawn, "e6", NewMove(36, 44, Normal), nil},
		{pawn, "a8=Q", NewPromotion(48, 56, Queen), nil},
		{pawn, "a8N", NewPromotion(48, 56, Knight), nil},
		{pawn, "a8", NoMove, ErrIllegalMove},
		{pawn, "cxd8=R+", NewPromotion(50, 59, Rook), nil},
		{pawn, "e6=Q", NoMove, ErrIllegalMove},
		{pawn, "Ke2=Q", NoMove, ErrMoveSyntax},
		{pawn, "", NoMove, ErrMoveSyntax},
		{pawn, "+", NoMove, ErrMoveSyntax},
		{pawn, "Q", NoMove, ErrMoveSyntax},
		{pawn, "=Q", NoMove, ErrMoveSyntax},
		{pawn, "e9", NoMove, ErrMoveSyntax},
		{pawn, "Zf3", NoMove, ErrMoveSyntax},
		{pawn, strings.Repeat("+", 10000), NoMove, ErrMoveSyntax},
	} {
		p := mustParse(t, Crazyhouse, c.fen)
		m, err := p.ParseSAN(c.text)
		checkMove(t, "ParseSAN", c.text, m, c.want, err, c.err)
	}
}

// TestSAN writes origins as short as they are unambiguous.
func TestSAN(t *testing.T) {
	for _, c := range []struct{ fen, uci, want string }{
		{"4k3/8/8/8/8/2N3N1/8/2N1K3[] w - - 0 1", "g3e2", "Nge2"},
		{"4k3/8/8/8/8/2N3N1/8/2N1K3[] w - - 0 1", "c1e2", "N1e2"},
		{"4k3/8/8/8/8/2N3N1/8/2N1K3[] w - - 0 1", "c3e2", "Nc3e2"},
		{"4k3/8/8/8/8/2N5/8/4K3[N] w - - 0 1", "c3e2", "Ne2"},
		{"4k3/8/8/8/8/2N5/8/4K3[N] w - - 0 1", "N@e2", "N@e2"},
		{"4k3/8/8/8/1b6/2N5/8/4K1N1[] w - - 0 1", "g1e2", "Ne2"}, // the other is pinned
		{"6k1/5ppp/8/8/8/8/6PP/R5K1[] w - - 0 1", "a1a8", "Ra8#"},
		{"6k1/5ppp/8/8/8/8/6PP/R5K1[n] w - - 0 1", "a1a8", "Ra8+"},
		{"7k/5P2/8/8/8/8/8/6K1[] w - - 0 1", "f7f8n", "f8=N"},
	} {
		p := mustParse(t, Crazyhouse, c.fen)
		m, err := p.ParseUCI(c.uci)
		if got := p.SAN(m); err != nil || got != c.want {
			t.Errorf("%s: SAN(%s) = %q, %v, want %q", c.fen, c.uci, got, err, c.want)
		}
	}
}

func TestMoveParts(t *testing.T) {
	for code := range 1 << 16 {
		m := Move(code)
		if NewMove(m.From(), m.To(), m.Kind()) != m {
			t.Fatalf("move %#x falls apart into %v %v %v", code, m.From(), m.To(), m.Kind())
		}
		if m.IsDrop() != (m.DropType() != NoPieceType) || m.IsPromotion() != (m.PromotionType() != NoPieceType) {
			t.Fatalf("move %#x: drop of %v, promotion to %v", code, m.DropType(), m.PromotionType())
		}
	}
	for t0 := Pawn; t0 <= Queen; t0++ {
		if got := NewDrop(t0, H8); !got.IsDrop() || got.DropType() != t0 || got.To() != H8 {
			t.Errorf("NewDrop(%v) = %#x", t0, got)
		}
	}
}

func TestHand(t *testing.T) {
	var h Hand
	for n := 1; n <= maxHand; n++ {
		for kind := Pawn; kind <= Queen; kind++ {
			h = h.Add(kind)
			if h.Count(kind) != n || !h.Has(kind) || h.Empty() {
				t.Fatalf("after %d of kind %v the hand counts %d", n, kind, h.Count(kind))
			}
		}
	}
	if h.Total() != 5*maxHand {
		t.Errorf("Total = %d, want %d", h.Total(), 5*maxHand)
	}
	for kind := Pawn; kind <= Queen; kind++ {
		for range maxHand {
			h = h.Remove(kind)
		}
	}
	if !h.Empty() || h.Total() != 0 {
		t.Errorf("emptied hand is %#x", h)
	}
}
