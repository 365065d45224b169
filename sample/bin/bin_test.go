package bin

import (
	"bytes"
	"encoding/hex"
	"io"
	"os"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func fixture(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/crazyhouse.bin")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// record returns the bytes of one sample.
func record(t testing.TB, f Format, s *sample.Sample) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, f)
	if err := w.Write(s); err != nil {
		t.Fatalf("%s: %v", s.Pos.FEN(), err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWorkedExample spells out the first record of a file of variant-nnue-tools.
func TestWorkedExample(t *testing.T) {
	const text = "08b37394e20cc350108272140a4a4008204010048120088ea1500c07000000000000010c40010000" +
		"000000000000000000000000000000000000000000000000" + "27fb950112000100"
	want, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var s sample.Sample
	if err := NewReader(bytes.NewReader(want), chess.Crazyhouse, Bits512).Read(&s); err != nil {
		t.Fatal(err)
	}
	const fen = "rn1q3r/pppk1Pp1/4bn1p/1Pb5/2p5/4P3/PPPP1PPP/RNB1KBNR[q] w KQ - 0 10"
	if s.Pos.FEN() != fen || s.Pos.UCI(s.Move) != "g1f3" || s.Score != -1241 || s.Ply != 18 || s.Result != 1 || s.Partial {
		t.Errorf("%s %s %+v, expected %s", s.Pos.FEN(), s.Pos.UCI(s.Move), s, fen)
	}
	if got := record(t, Bits512, &s); !bytes.Equal(got, want) {
		t.Errorf("written as\n%x, expected\n%x", got, want)
	}
}

// TestTwin compares with a slow writer, and reads back.
func TestTwin(t *testing.T) {
	for _, c := range []struct {
		f Format
		v *chess.Variant
	}{{Bits512, chess.Crazyhouse}, {Bits512, chess.Chess}, {Bits256, chess.Chess}} {
		var file bytes.Buffer
		w := NewWriter(&file, c.f)
		var want []sample.Sample
		walk(t, c.v, 12, func(s *sample.Sample) {
			if err := w.Write(s); err != nil {
				t.Fatalf("%s: %v", s.Pos.FEN(), err)
			}
			want = append(want, *s)
		})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data, size := file.Bytes(), c.f.RecordSize()
		if len(data) != size*len(want) {
			t.Fatalf("%v: %d bytes for %d records", c.f, len(data), len(want))
		}
		r := NewReader(&file, c.v, c.f)
		for i, s := range want {
			got := data[i*size : (i+1)*size]
			if twin := twinPosition(c.f, &s.Pos); !bytes.Equal(got[:len(twin)], twin) {
				t.Fatalf("%s: written as\n%x, expected\n%x", s.Pos.FEN(), got[:len(twin)], twin)
			}
			if c.f == Bits512 {
				s = without(t, s)
			}
			var back sample.Sample
			if err := r.Read(&back); err != nil || back != s {
				t.Fatalf("%v: %s came back as %s: %+v, expected %+v (%v)", c.f, s.Pos.FEN(), back.Pos.FEN(), back, s, err)
			}
		}
		if err := r.Read(new(sample.Sample)); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
}

// TestMoveFields lists fields that variant-nnue-tools wrote, for large boards too
// where known, and what the 256-bit format has for the last.
func TestMoveFields(t *testing.T) {
	for _, c := range []struct {
		v         *chess.Variant
		fen, move string
		code      moveCode
		field     uint16
		partial   bool
	}{
		{chess.Crazyhouse, "4k3/3p4/8/4N3/8/8/8/4K3[] w - - 0 1", "e5d7", code512, 0x0933, false},
		{chess.Crazyhouse, "4k3/8/8/8/1Pp5/8/8/4K3[] b - b3 0 1", "c4b3", code512, 0x1691, false},
		{chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1", "e1g1", code512, 0x2107, false},
		{chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1", "e1c1", code512, 0x2100, false},
		{chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[] b KQkq - 0 1", "e8g8", code512, 0x2f3f, false},
		{chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[] b KQkq - 0 1", "e8c8", code512, 0x2f38, false},
		{chess.Crazyhouse, "3r2k1/4P3/8/8/8/8/8/4K3[] w - - 0 1", "e7d8?", code512, 0x3d3b, true},
		{chess.Crazyhouse, "4k3/8/8/8/8/8/K4p2/6N1[] b - - 0 1", "f2g1?", code512, 0x3346, true},
		{chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[P] w - - 0 1", "?@d3", code512, 0x4013, true},
		{chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[B] w - - 0 1", "?@b5", code512, 0x4021, true},
		{chess.Crazyhouse, "4k3/3p4/8/4N3/8/8/8/4K3[] w - - 0 1", "e5d7", codeLarge, 0x1a4b, false},
		{chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[P] w - - 0 1", "?@d3", codeLarge, 0x001b, true},
		{chess.Crazyhouse, "3r2k1/4P3/8/8/8/8/8/4K3[] w - - 0 1", "e7d8?", codeLarge, 0xe657, true},
		{chess.Crazyhouse, "4k3/8/8/8/8/8/8/R3K3[P] w - - 0 1", "a1a4", codeLarge, 0x0024, false},
		{chess.Chess, "3r2k1/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q", code256, 0x7d3b, false},
		{chess.Chess, "4k3/8/8/8/8/8/K4p2/6N1 b - - 0 1", "f2g1n", code256, 0x4346, false},
		{chess.Chess, "4k3/8/8/8/1Pp5/8/8/4K3 b - b3 0 1", "c4b3", code256, 0x8691, false},
		{chess.Chess, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", code256, 0xc100, false},
		{chess.Chess, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0000", code512, 0, false},
	} {
		p := mustParse(t, c.v, c.fen)
		m, partial, err := c.code.decode(&p, c.field)
		if got := string(sample.AppendMove(nil, &p, m, partial)); err != nil || got != c.move || partial != c.partial {
			t.Errorf("%#04x in code %d is %s, %v, expected %s", c.field, c.code, got, err, c.move)
		}
		if c.code != codeLarge && c.code.encode(m) != c.field {
			t.Errorf("%s in code %d is %#04x, expected %#04x", c.move, c.code, c.code.encode(m), c.field)
		}
	}
}

// TestClocks writes and reads every value of the two counters.
func TestClocks(t *testing.T) {
	s := sample.Sample{Pos: chess.Crazyhouse.Start()}
	for n := 1; n <= chess.MaxFullmoveNumber; n += 1 + n/8 {
		s.Pos.SetClocks(n&127, n)
		for _, f := range []Format{Bits512, Bits256} {
			s := s
			if f == Bits256 {
				s.Pos = chess.Chess.Start()
				s.Pos.SetClocks(n&127, n)
			}
			var back sample.Sample
			if err := NewReader(bytes.NewReader(record(t, f, &s)), s.Pos.Variant(), f).Read(&back); err != nil || back != s {
				t.Fatalf("%s came back as %s, %v", s.Pos.FEN(), back.Pos.FEN(), err)
			}
		}
	}
}

// TestFullBoard goes through the longest streams.
func TestFullBoard(t *testing.T) {
	for _, v := range chess.Variants() {
		s := sample.Sample{Pos: mustParse(t, v, "qrbnkbnr/pppppppp/8/3pPq2/8/8/PPPPPPP1/RNBQKBNR w KQ d6 99 65535")}
		for _, f := range []Format{Bits512, Bits256} {
			if f == Bits256 && v != chess.Chess {
				continue
			}
			if n := s.Pos.Occupied().Count(); n > maxPieces {
				s.Pos = mustParse(t, v, "qrbnkbnr/pppppppp/8/3pP3/8/8/PPPPPP2/RNBQKBNR w KQ d6 99 65535")
			}
			var back sample.Sample
			if err := NewReader(bytes.NewReader(record(t, f, &s)), v, f).Read(&back); err != nil || back != s {
				t.Errorf("%v: %s came back as %s, %v", f, s.Pos.FEN(), back.Pos.FEN(), err)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	data := fixture(t)
	r := NewReader(bytes.NewReader(data), chess.Crazyhouse, Bits512)
	w := NewWriter(io.Discard, Bits512)
	var s sample.Sample
	if n := testing.AllocsPerRun(1000, func() {
		if err := r.Read(&s); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
