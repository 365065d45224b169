package bin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

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
	if ordinary.code == codeLarge || r.code != codeLarge {
		t.Fatalf("recognised as large: %v and %v, expected false and true", ordinary.code == codeLarge, r.code == codeLarge)
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
		if r.code != codeLarge || ordinary.code == codeLarge {
			t.Errorf("records from %d on: recognised as large: %v and %v", i, r.code == codeLarge, ordinary.code == codeLarge)
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
