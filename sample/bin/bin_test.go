package bin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
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

// large rewrites the move fields as builds for large boards have them.
func large(data []byte) []byte {
	data = bytes.Clone(data)
	for at := 66; at < len(data); at += 72 {
		m := binary.LittleEndian.Uint16(data[at:])
		square := func(s uint16) uint16 { return s>>3*12 + s&7 }
		binary.LittleEndian.PutUint16(data[at:], square(m&63)|square(m>>6&63)<<7|m>>12<<14)
	}
	return data
}

// TestLargeBoards: the other move field is recognised and read, however few
// records there are to see it by, and the usual one is not taken for it. What
// cannot be told is a drop from a move of the piece on a1.
func TestLargeBoards(t *testing.T) {
	data := fixture(t)
	ordinary := NewReader(bytes.NewReader(data), chess.Crazyhouse, Bits512)
	want := sampletest.ReadAll(t, ordinary)
	r := NewReader(bytes.NewReader(large(data)), chess.Crazyhouse, Bits512)
	got := sampletest.ReadAll(t, r)
	if ordinary.LargeBoards() || !r.LargeBoards() {
		t.Fatalf("recognised as large: %v and %v, expected false and true", ordinary.LargeBoards(), r.LargeBoards())
	}
	wrong := 0
	for i := range want {
		if got[i] != want[i] {
			wrong++
			if !want[i].Move.IsDrop() || got[i].Move.From() != chess.A1 {
				t.Errorf("record %d: %+v, expected %+v", i, got[i], want[i])
			}
		}
	}
	t.Logf("%d of %d drops are taken for moves from a1", wrong, len(want))
	for i := 0; i+20 < len(want); i += 20 {
		part := data[72*i : 72*(i+20)]
		r := NewReader(bytes.NewReader(large(part)), chess.Crazyhouse, Bits512)
		sampletest.ReadAll(t, r)
		ordinary := NewReader(bytes.NewReader(part), chess.Crazyhouse, Bits512)
		sampletest.ReadAll(t, ordinary)
		if !r.LargeBoards() || ordinary.LargeBoards() {
			t.Errorf("records from %d on: recognised as large: %v and %v", i, r.LargeBoards(), ordinary.LargeBoards())
		}
	}
}

// TestTruncated cuts files at every length: what is no whole record is ignored
// and counted.
func TestTruncated(t *testing.T) {
	data := fixture(t)[:72*4]
	for n := range len(data) + 1 {
		r := NewReader(bytes.NewReader(data[:n]), chess.Crazyhouse, Bits512)
		if got := len(sampletest.ReadAll(t, r)); got != n/72 || r.Trailing() != int64(n%72) {
			t.Errorf("%d bytes: %d records and %d bytes, expected %d and %d", n, got, r.Trailing(), n/72, n%72)
		}
		if err := r.Read(new(sample.Sample)); err != io.EOF {
			t.Errorf("%d bytes: after the end %v", n, err)
		}
	}
}

func TestPaddingIgnored(t *testing.T) {
	data := fixture(t)
	want := sampletest.ReadAll(t, NewReader(bytes.NewReader(data), chess.Crazyhouse, Bits512))
	for at := 71; at < len(data); at += 72 {
		data[at] = 0xff
	}
	for i, s := range sampletest.ReadAll(t, NewReader(bytes.NewReader(data), chess.Crazyhouse, Bits512)) {
		if s != want[i] {
			t.Fatalf("record %d differs", i)
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

// TestBadRecords spoils one record after the other; those around it must be read.
func TestBadRecords(t *testing.T) {
	good := fixture(t)[:72*8]
	for name, spoil := range map[string]func(b []byte){
		"kings":           func(b []byte) { b[0] = b[0]&1 | 64<<1 },
		"bits set beyond": func(b []byte) { b[63] = 1 },
		"result":          func(b []byte) { b[70] = 2 },
		"squares":         func(b []byte) { b[67] = 0xf0 },
		"castling":        func(b []byte) { b[67] = 0x20 },
		"promotion":       func(b []byte) { b[67] = 0x30 },
		"en passant":      func(b []byte) { b[67] = 0x10 },
		"piece":           func(b []byte) { b[1], b[2] = b[1]|0x80, 0xff },
	} {
		data := bytes.Clone(good)
		const at = 3
		spoil(data[72*at : 72*(at+1)])
		r := NewReader(bytes.NewReader(data), chess.Crazyhouse, Bits512)
		for i := range 8 {
			var s sample.Sample
			err := r.Read(&s)
			if i != at {
				if err != nil {
					t.Errorf("%s: record %d: %v", name, i, err)
				}
				continue
			}
			var e *sample.ReadError
			if !errors.As(err, &e) || !errors.Is(err, sample.ErrRecord) || e.Record != at || e.Offset != 72*at ||
				!strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "expected") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := r.Read(new(sample.Sample)); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

// TestWrongFormat: the error says what the data are, if they are known.
func TestWrongFormat(t *testing.T) {
	var chess256, chess512, largeData []byte
	walk(t, chess.Chess, 3, func(s *sample.Sample) {
		chess256 = append(chess256, record(t, Bits256, s)...)
		chess512 = append(chess512, record(t, Bits512, s)...)
	})
	walk(t, chess.Crazyhouse, 3, func(s *sample.Sample) { largeData = append(largeData, record136(t, s)...) })
	for _, c := range []struct {
		data []byte
		v    *chess.Variant
		f    Format
		text string
	}{
		{chess256, chess.Chess, Bits512, "chess in a 256-bit"},
		{chess256, chess.Crazyhouse, Bits512, "chess in a 256-bit"},
		{chess512, chess.Chess, Bits256, "in a 512-bit"},
		{fixture(t), chess.Chess, Bits256, "crazyhouse in a 512-bit"},
		{fixture(t), chess.Chess, Bits512, "crazyhouse in a 512-bit"},
		{fixture(t), chess.Crazyhouse, Bits256, "of crazyhouse"},
		{largeData, chess.Crazyhouse, Bits512, "136 bytes"},
		{largeData[:136], chess.Crazyhouse, Bits512, "136 bytes"},
		{bytes.Repeat([]byte("no such data\n"), 100), chess.Crazyhouse, Bits512, "unreadable"},
	} {
		r := NewReader(bytes.NewReader(c.data), c.v, c.f)
		for range 2 {
			if err := r.Read(new(sample.Sample)); !errors.Is(err, sample.ErrFormat) || errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s in %v: %v, expected %q", c.v, c.f, err, c.text)
			}
		}
	}
}

// record136 returns a record of a build with largedata=yes: 7 bits a hand count.
func record136(t testing.TB, s *sample.Sample) []byte {
	t.Helper()
	narrow := record(t, Bits512, s)
	in := bitReader{}
	copy(in.data[:], narrow[:64])
	out := make([]byte, 136)
	at := 0
	move := func(n int) {
		for range n {
			out[at/8] |= byte(in.read(1)) << (at % 8)
			at++
		}
	}
	move(15 + others + 5*(s.Pos.Occupied().Count()-2))
	for range 12 {
		move(5)
		at += 2
	}
	move(4 + 8 + 6 + 16 + 1)
	copy(out[128:], narrow[64:])
	return out
}

// TestLongClock writes halfmove clocks that a record has no room for.
func TestLongClock(t *testing.T) {
	for clock, want := range map[int]int{99: 99, 127: 127, 128: 127, 300: 127} {
		s := sample.Sample{Pos: chess.Crazyhouse.Start()}
		s.Pos.SetClocks(clock, 200)
		var b bytes.Buffer
		w := NewWriter(&b, Bits512)
		if err := errors.Join(w.Write(&s), w.Close()); err != nil {
			t.Fatal(err)
		}
		var back sample.Sample
		if err := NewReader(&b, chess.Crazyhouse, Bits512).Read(&back); err != nil {
			t.Fatal(err)
		}
		if got := back.Pos.HalfmoveClock(); got != want || back.Pos.FullmoveNumber() != 200 {
			t.Errorf("clock %d reads back as %d, want %d; move number %d", clock, got, want, back.Pos.FullmoveNumber())
		}
	}
}

// TestRefused lists what does not fit into a record.
func TestRefused(t *testing.T) {
	const rest = " w - - 0 1"
	for _, c := range []struct {
		f    Format
		v    *chess.Variant
		fen  string
		do   func(s *sample.Sample)
		text string
	}{
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Score = 32768 }, "score"},
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Score = -32769 }, "score"},
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Result = 2 }, "result"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QQQQQQQQQQQQQQQQPPPPPPPPPPPPPPP]" + rest, nil, "pieces"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/5KR1[] w G - 0 1", nil, "castling"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4KR2[] w F - 0 1", nil, "castling"},
		{Bits256, chess.Crazyhouse, "", nil, "variant"},
		{Bits512, chess.Chess, "", func(s *sample.Sample) { s.Move = chess.NewDrop(chess.Pawn, 30) }, "move"},
		{Bits256, chess.Chess, "4k3/7P/8/8/8/8/8/4K3" + rest, func(s *sample.Sample) {
			s.Move, s.Partial = chess.NewPromotion(55, 63, chess.Queen), true
		}, "unknown"},
	} {
		s := sample.Sample{Pos: c.v.Start()}
		if c.fen != "" {
			s.Pos = mustParse(t, c.v, c.fen)
		}
		if c.do != nil {
			c.do(&s)
		}
		var b bytes.Buffer
		w := NewWriter(&b, c.f)
		if err := w.Write(&s); !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, expected %q", s.Pos.FEN(), err, c.text)
		}
		if err := w.Close(); err != nil || b.Len() != 0 {
			t.Errorf("%s: %d bytes written, %v", s.Pos.FEN(), b.Len(), err)
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

// FuzzReader reads anything in both formats. Records that can be read are
// written again as they were, but for padding and an en passant square that
// nobody attacks.
func FuzzReader(f *testing.F) {
	data := fixture(f)
	for i := range 8 {
		f.Add(data[72*37*i:72*(37*i+2)], false, true)
	}
	f.Add(large(data[:72*4]), false, true)
	f.Add(data[:100], true, false)
	walk(f, chess.Chess, 1, func(s *sample.Sample) {
		if s.Ply < 2000 {
			f.Add(record(f, Bits256, s), true, false)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte, narrow, hands bool) {
		format, v := Bits512, chess.Chess
		if narrow {
			format = Bits256
		}
		if hands {
			v = chess.Crazyhouse
		}
		r := NewReader(bytes.NewReader(data), v, format)
		size := format.RecordSize()
		for i := 0; ; i++ {
			var s sample.Sample
			err := r.Read(&s)
			if err == io.EOF {
				break
			}
			if err != nil {
				if !errors.Is(err, sample.ErrRecord) {
					return
				}
				continue
			}
			if r.LargeBoards() || s.Pos.Occupied().Count()+s.Pos.Hand(0).Total()+s.Pos.Hand(1).Total() > maxPieces {
				continue
			}
			var b bytes.Buffer
			w := NewWriter(&b, format)
			if err := w.Write(&s); err != nil {
				t.Fatalf("%s was read but not written: %v", s.Pos.FEN(), err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var again sample.Sample
			back := NewReader(bytes.NewReader(b.Bytes()), v, format)
			if err := back.Read(&again); (err != nil || again != s) && !back.LargeBoards() { // which an illegal move may look like
				t.Fatalf("%s came back as %s, %v: %+v, expected %+v", s.Pos.FEN(), again.Pos.FEN(), err, again, s)
			}
			if r.setup.EnPassant != s.Pos.EnPassant() || r.setup.FullmoveNumber == 0 {
				continue // read as none and as 1
			}
			in := data[i*size : (i+1)*size-1]
			if !bytes.Equal(in, b.Bytes()[:size-1]) {
				t.Fatalf("%x was written as %x", in, b.Bytes())
			}
		}
	})
}
