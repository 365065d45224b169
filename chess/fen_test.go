package chess

import (
	"errors"
	"strings"
	"testing"
)

func TestStartPositions(t *testing.T) {
	for _, v := range Variants() {
		p := v.Start()
		if got := p.FEN(); got != v.StartFEN {
			t.Errorf("%s: FEN = %q, want %q", v, got, v.StartFEN)
		}
		if w := p.Warnings(); w != nil {
			t.Errorf("%s: warnings %q", v, w)
		}
	}
}

// TestFENRoundTrip writes back every FEN of the fixtures; those of the moves are
// in the dialect written here.
func TestFENRoundTrip(t *testing.T) {
	for _, row := range readTSV(t, "crazyhouse-moves.tsv", 5) {
		for _, fen := range []string{row[0], row[3]} {
			p := mustParse(t, Crazyhouse, fen)
			if got := p.FEN(); got != fen {
				t.Errorf("FEN(%q) = %q", fen, got)
			}
		}
	}
	for _, row := range readTSV(t, "crazyhouse960-perft.tsv", 3) {
		p := mustParse(t, Crazyhouse, row[0])
		checkRebuilt(t, &p)
	}
}

func TestFENDialects(t *testing.T) {
	const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
	for _, c := range []struct {
		name, in, want string
	}{
		{"brackets in any order", "4k3/8/8/8/8/8/8/4K3[pPnQPp] w - - 0 1", "4k3/8/8/8/8/8/8/4K3[QPPnpp] w - - 0 1"},
		{"ninth rank", "4k3/8/8/8/8/8/8/4K3/QNPpp b - - 3 7", "4k3/8/8/8/8/8/8/4K3[QNPpp] b - - 3 7"},
		{"counted hands", "r1bq1b1r/ppppk1pp/5n2/6N1/1P2P2n/8/P1P2P1P/R1BQ1K1R[N3Pbp] w - -",
			"r1bq1b1r/ppppk1pp/5n2/6N1/1P2P2n/8/P1P2P1P/R1BQ1K1R[NPPPbp] w - - 0 1"},
		{"counted hands, ninth rank", "4k3/8/8/8/8/8/8/4K3/2p1N10P w - - 0 1", "4k3/8/8/8/8/8/8/4K3[NPPPPPPPPPPpp] w - - 0 1"},
		{"empty ninth rank", start + "/ w KQkq - 0 1", start + "[] w KQkq - 0 1"},
		{"pocket missing", start + " w KQkq - 0 1", start + "[] w KQkq - 0 1"},
		{"[-]", start + "[-] w KQkq - 0 1", start + "[] w KQkq - 0 1"},
		{"/-", start + "/- w KQkq - 0 1", start + "[] w KQkq - 0 1"},
		{"board only", start, start + "[] w - - 0 1"},
		{"clocks missing", start + "[] b kq -", start + "[] b kq - 0 1"},
		{"move number 0", start + "[] w - - 0 0", start + "[] w - - 0 1"},
		{"spaces", "  " + start + "[]   w  KQ - 1 2 ", start + "[] w KQ - 1 2"},
		{"promoted piece", "q~3k3/8/8/8/8/8/8/Q~3K3[] w - - 0 1", "q~3k3/8/8/8/8/8/8/Q~3K3[] w - - 0 1"},
		{"rights in any order", "r3k2r/8/8/8/8/8/8/R3K2R[] w qkQK - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1"},
		{"files of rooks", "r3k2r/8/8/8/8/8/8/R3K2R[] w HAha - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R[] w HAha - 0 1"},
		{"right without rook", "r3k2r/8/8/8/8/8/8/4K2R[] w KQkq - 0 1", "r3k2r/8/8/8/8/8/8/4K2R[] w Kkq - 0 1"},
		{"right without king", "r2k3r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1", "r2k3r/8/8/8/8/8/8/R3K2R[] w KQ - 0 1"},
		{"right without king on its rank", "r3k2r/8/8/8/8/8/4K3/R6R[] w HAha - 0 1", "r3k2r/8/8/8/8/8/4K3/R6R[] w ha - 0 1"},
		{"right of a promoted rook", "4k3/8/8/8/8/8/8/R~3K2R[] w KQ - 0 1", "4k3/8/8/8/8/8/8/R~3K2R[] w K - 0 1"},
		{"en passant", "4k3/8/8/3pP3/8/8/8/4K3[] w - d6 0 2", "4k3/8/8/3pP3/8/8/8/4K3[] w - d6 0 2"},
		{"en passant of Black", "4k3/8/8/8/3pP3/8/8/4K3[] b - e3 0 2", "4k3/8/8/8/3pP3/8/8/4K3[] b - e3 0 2"},
		{"en passant nobody attacks", "4k3/8/8/3p4/8/8/8/4K3[] w - d6 0 2", "4k3/8/8/3p4/8/8/8/4K3[] w - - 0 2"},
		{"en passant on a wrong rank", "4k3/8/8/3pP3/8/8/8/4K3[] w - d3 0 2", "4k3/8/8/3pP3/8/8/8/4K3[] w - - 0 2"},
		{"en passant without a pawn", "4k3/8/8/4P3/8/8/8/4K3[] w - d6 0 2", "4k3/8/8/4P3/8/8/8/4K3[] w - - 0 2"},
		{"en passant on a piece", "4k3/8/3n4/3pP3/8/8/8/4K3[] w - d6 0 2", "4k3/8/3n4/3pP3/8/8/8/4K3[] w - - 0 2"},
		{"en passant from an occupied square", "4k3/3n4/8/3pP3/8/8/8/4K3[] w - d6 0 2", "4k3/3n4/8/3pP3/8/8/8/4K3[] w - - 0 2"},
		{"en passant in double check", "4k3/8/8/3pP3/4K3/2n5/8/8[] w - d6 0 2", "4k3/8/8/3pP3/4K3/2n5/8/8[] w - - 0 2"},
	} {
		p, err := ParseFEN(Crazyhouse, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := p.FEN(); got != c.want {
			t.Errorf("%s: FEN(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

// TestFENAllocations: neither direction needs memory of its own.
func TestFENAllocations(t *testing.T) {
	const want = "r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPrrbn] w - - 0 10"
	fen := []byte(want)
	buf := make([]byte, 0, 2*len(fen))
	if n := testing.AllocsPerRun(100, func() {
		p, err := ParseFENBytes(Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		if buf = p.AppendFEN(buf[:0]); string(buf) != want {
			t.Fatalf("%s, expected %s", buf, want)
		}
		if m, ok := p.ReadUCI("f3e5"); !ok || !p.IsLegal(m) {
			t.Fatalf("f3e5 is read as %v", m)
		}
	}); n != 0 {
		t.Errorf("%v allocations a FEN", n)
	}
}

func TestFENErrors(t *testing.T) {
	const rest = " w - - 0 1"
	for _, c := range []struct{ field, fen string }{
		{"board", ""},
		{"board", "   "},
		{"board", "4k3/8/8/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/8/8/8/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/8/8/8/8/4K3/[]" + rest},
		{"board", "4k4/8/8/8/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/7/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/pppppppppp/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/9/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/0p7/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/x7/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/p~7/8/8/8/4K3[]" + rest},
		{"board", "4k~3/8/8/8/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/8~/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/~8/8/8/8/4K3[]" + rest},
		{"board", "4k3/8/8/q~~7/8/8/8/4K3[]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[Q" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[Q]q" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[K]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[k]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[P2]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[0P]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[02P]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[17P]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[P16P]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[99999999999999999999P]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[2K]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[X]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[Q~]" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3/Q-" + rest},
		{"pocket", "4k3/8/8/8/8/8/8/4K3[PPPPPPPPPPPPPPPPP]" + rest},
		{"kings", "8/8/8/8/8/8/8/4K3[]" + rest},
		{"kings", "4k3/8/8/8/8/8/8/8[]" + rest},
		{"kings", "4k3/8/8/8/8/8/8/4KK2[]" + rest},
		{"pawns", "4k2p/8/8/8/8/8/8/4K3[]" + rest},
		{"pawns", "4k3/8/8/8/8/8/8/P3K3[]" + rest},
		{"pieces", "4k3/pppppppp/pppppppp/pppppppp/pppppppp/8/8/4K3[PPPPPPPPPPPPPPPPpppppppppppppppp]" + rest},
		{"pieces", "n3knnn/nnnnnnnn/nnnnnnnn/nnnnnnnn/8/8/8/NN1NK2N[NNNNNNNNNNNNNNNNnnnnnnnnnnnnnnnn]" + rest},
		{"check", "4k3/4R3/8/8/8/8/8/4K3[]" + rest},
		{"check", "8/8/8/8/8/8/4k3/4K3[]" + rest},
		{"side to move", "4k3/8/8/8/8/8/8/4K3[] x - - 0 1"},
		{"side to move", "4k3/8/8/8/8/8/8/4K3[] W - - 0 1"},
		{"castling", "4k3/8/8/8/8/8/8/4K2R[] w KX - 0 1"},
		{"castling", "4k3/8/8/8/8/8/8/4K2R[] w KK - 0 1"},
		{"castling", "4k3/8/8/8/8/8/8/4K2R[] w K- - 0 1"},
		{"castling", "4k3/8/8/8/8/8/8/4KR1R[] w HF - 0 1"},
		{"en passant", "4k3/8/8/8/8/8/8/4K3[] w - e9 0 1"},
		{"en passant", "4k3/8/8/8/8/8/8/4K3[] w - e 0 1"},
		{"en passant", "4k3/8/8/8/8/8/8/4K3[] w - 0 1"},
		{"halfmove clock", "4k3/8/8/8/8/8/8/4K3[] w - - -1 1"},
		{"halfmove clock", "4k3/8/8/8/8/8/8/4K3[] w - - x 1"},
		{"halfmove clock", "4k3/8/8/8/8/8/8/4K3[] w - - 65536 1"},
		{"move number", "4k3/8/8/8/8/8/8/4K3[] w - - 0 65536"},
		{"move number", "4k3/8/8/8/8/8/8/4K3[] w - - 0 99999999999999999999999"},
		{"move number", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1.5"},
		{"end", "4k3/8/8/8/8/8/8/4K3[] w - - 0 1 2"},
		{"length", strings.Repeat(" ", 1<<20)},
	} {
		checkFENError(t, Crazyhouse, c.fen, c.field)
	}
	checkFENError(t, Chess, "4k3/8/8/8/8/8/8/4K3[Q]"+rest, "pocket")
	checkFENError(t, Chess, "4k3/8/8/8/8/8/8/4K3/q"+rest, "pocket")
	checkFENError(t, Chess, "4k3/8/8/8/8/8/8/Q~3K3"+rest, "board")
}

func checkFENError(t *testing.T, v *Variant, fen, field string) {
	t.Helper()
	p, err := ParseFEN(v, fen)
	var fe *FENError
	if !errors.As(err, &fe) {
		t.Errorf("ParseFEN(%.80q) = %v, want an error in field %q", fen, err, field)
		return
	}
	if fe.Field != field || fe.Found == "" || fe.Expected == "" || len(err.Error()) > 300 {
		t.Errorf("ParseFEN(%.80q): error %q, want field %q, and what was found and expected", fen, err, field)
	}
	if p != (Position{}) {
		t.Errorf("ParseFEN(%.80q) gives a position beside its error", fen)
	}
}

// TestFENTruncated cuts a FEN at every length.
func TestFENTruncated(t *testing.T) {
	const fen = "r2q1rk1/ppp2pp1/1bnpbn1p/3Pp3/2B5/2NP1N1P/PPP2PP1/R~1BQ1RK1[QPPnbrr] w - e6 0 10"
	for n := range fen {
		p, err := ParseFEN(Crazyhouse, fen[:n])
		if err == nil {
			checkRebuilt(t, &p)
		}
	}
}

// TestFENIrregular accepts what no game has but a network test may.
func TestFENIrregular(t *testing.T) {
	for _, fen := range []string{
		"rnbqkbnr/pppppppp/pppppppp/pppppppp/PPPPPPPP/PPPPPPPP/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
		"rnbqkbnr/pppppppp/3p4/8/8/8/PPPPPPPP/RNBQKBNR[PPPPPPPPPPPPPPPPpppppppppppppppp] w KQkq - 0 1",
		"1nbqkbn1/8/8/8/8/8/8/1NBQKBN1[NNNNNNNNNNNNNNNNqqqqqqqqqqqqqqqq] w - - 0 1",
	} {
		p := mustParse(t, Crazyhouse, fen)
		if got := p.FEN(); got != fen {
			t.Errorf("FEN(%q) = %q", fen, got)
		}
		if len(p.Warnings()) == 0 {
			t.Errorf("%q: no warning", fen)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		v    *Variant
		fen  string
		want string // part of the only warning, "" for none
	}{
		{Crazyhouse, "r1b1k2r/ppp2ppp/2n2n2/3qp3/8/2NP1N2/PPP2PPP/R1BQK2R[PBpb] w KQkq - 0 9", ""},
		{Crazyhouse, "4k3/8/8/8/8/8/8/3QKQ2[Q] w - - 0 1", "kind Q"},
		{Crazyhouse, "4k3/8/8/8/8/8/8/Q~Q~Q~QKQ2[] w - - 0 1", ""},
		{Crazyhouse, "4k3/8/8/8/4r3/8/2b5/r3K3[] w - - 0 1", ""},
		{Crazyhouse, "4k3/8/8/8/8/8/8/r3K2r[] w - - 0 1", "both sides"},
		{Crazyhouse, "4k3/8/8/8/4r3/8/2n5/r3K3[] w - - 0 1", "3 pieces"},
		{Chess, "4k3/8/8/8/8/8/PPPPPPP1/1QQ1K3 w - - 0 1", ""},
		{Chess, "4k3/8/8/8/8/8/PPPPPPPP/1QQ1K3 w - - 0 1", "9 pawns"},
	} {
		p := mustParse(t, c.v, c.fen)
		w := p.Warnings()
		if c.want == "" && len(w) != 0 || c.want != "" && (len(w) != 1 || !strings.Contains(w[0], c.want)) {
			t.Errorf("%q: warnings %q, want %q", c.fen, w, c.want)
		}
	}
}

// TestFEN960 reads KQkq where only Chess960 can.
func TestFEN960(t *testing.T) {
	const board = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN[]"
	p, err := ParseFEN960(Crazyhouse, board+" w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.FEN(), board+" w GEge - 0 1"; got != want || !p.Chess960() {
		t.Errorf("FEN = %q, want %q with Chess960", got, want)
	}
	if p.SetChess960(false); !p.Chess960() {
		t.Error("Chess960 could be turned off with its castling rights left")
	}
	p = mustParse(t, Crazyhouse, board+" w KQkq - 0 1")
	if got, want := p.FEN(), board+" w - - 0 1"; got != want {
		t.Errorf("FEN without Chess960 = %q, want %q", got, want)
	}
	p = Crazyhouse.Start()
	p.SetChess960(true)
	if got := p.FEN(); !strings.Contains(got, " HAha ") {
		t.Errorf("FEN of the start position in Chess960 = %q, want rights HAha", got)
	}
	p.SetChess960(false)
	if got := p.FEN(); got != Crazyhouse.StartFEN {
		t.Errorf("FEN after leaving Chess960 = %q", got)
	}
}

func TestString(t *testing.T) {
	p := mustParse(t, Crazyhouse, "4k2q~/8/8/8/8/8/8/4K3[QNp] w - - 0 1")
	const want = ` +---+---+---+---+---+---+---+---+
 |   |   |   |   | k |   |   |~q | 8 [p]
`
	got := p.String()
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "| 1 [QN]\n") || !strings.HasSuffix(got, "\nFEN: "+p.FEN()+"\n") {
		t.Errorf("String:\n%s", got)
	}
}

func TestParseVariant(t *testing.T) {
	if v, err := ParseVariant("Crazyhouse"); v != Crazyhouse || err != nil {
		t.Errorf("ParseVariant(Crazyhouse) = %v, %v", v, err)
	}
	if v, err := ParseVariant("chess"); v != Chess || err != nil {
		t.Errorf("ParseVariant(chess) = %v, %v", v, err)
	}
	if _, err := ParseVariant("shogi"); !errors.Is(err, ErrUnknownVariant) || !strings.Contains(err.Error(), "crazyhouse or chess") {
		t.Errorf("ParseVariant(shogi): %v", err)
	}
}
