package binpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// blockOf returns a block of the given payload.
func blockOf(payload ...byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(payload)))
	return append(b, payload...)
}

// chainOf returns a chain that claims count continuations, given by their
// numbers and the bits of each.
func chainOf(tb testing.TB, fen, move string, count int, fields ...[2]uint) []byte {
	tb.Helper()
	s := newSample(tb, fen, move, 0, 0, 1)
	var stem [stemSize]byte
	encodeStem(&stem, &s, &s.Pos)
	b := binary.BigEndian.AppendUint16(stem[:], uint16(count))
	var bits bitWriter
	for _, f := range fields {
		b = bits.put(b, f[0], f[1])
	}
	return bits.flush(b)
}

// kings is a position for short movetexts: both kings have 5 moves each, numbered
// in 3 bits, none to choose the piece, and a score takes 5.
const kings = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"

// changed returns a copy of b with another byte at i.
func changed(b []byte, i int, v byte) []byte {
	b = bytes.Clone(b)
	b[i] = v
	return b
}

// TestReadErrors reads bad blocks, each before a good one: all of the bad one
// that can be understood is read, and the good one if the record alone was bad.
func TestReadErrors(t *testing.T) {
	good := chainOf(t, kings, "e1e2", 0)
	start := chainOf(t, chess.Chess.StartFEN, "e2e4", 0)
	bishop := chainOf(t, "4k3/8/8/8/8/8/4B3/4K3 w - - 0 1", "e1d1", 0)
	pawn := chainOf(t, "4k3/8/8/8/4P3/8/8/4K3 w - - 0 1", "e1d1", 0)
	passant := chainOf(t, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0)
	const at = codesAt // of the first two codes
	for _, c := range []struct {
		name, want string
		block      []byte
		read       int // before the error
		format     bool
	}{
		{"magic", `found "BINZ", expected "BINP"`, []byte("BINZ\x04\x00\x00\x00abcd"), 0, true},
		{"size", "block of 104857601 bytes, expected at most 104857600", []byte("BINP\x01\x00\x40\x06"), 0, true},
		{"pieces", "33 pieces", blockOf(changed(start, 3, 1)...), 0, false},
		{"no king", "kings: found 0 of white", blockOf(changed(good, at, 0xf8)...), 0, false},
		{"two kings", "kings: found 2 of black", blockOf(changed(bishop, at, 0xba)...), 0, false},
		{"pawn on the first rank", "pawns", blockOf(changed(start, at, 0)...), 0, false},
		{"check", "check: found the black king on e8", blockOf(changed(bishop, at, 0x6a)...), 0, false},
		{"two to take en passant", "second pawn", blockOf(changed(passant, at+1, 0xbc)...), 0, false},
		{"en passant behind a pawn of the side to move", "other side", blockOf(changed(pawn, at, 0xca)...), 0, false},
		{"en passant on another rank", "rank 4 or 5", blockOf(changed(start, at+4, 0x0c)...), 0, false},
		{"result", "result -2", blockOf(changed(good, plyAt, 0xc0)...), 0, false},
		{"move", "move 0x0f30", blockOf(changed(good, moveAt, 0x0f)...), 0, false},
		{"move with a promotion", "not legal", blockOf(changed(good, moveAt+1, good[moveAt+1]|1)...), 0, false},
		{"castling without right", "not legal", blockOf(changed(changed(good, moveAt, 0x84), moveAt+1, 0x1c)...), 0, false},
		{"en passant as a normal move", "not legal", blockOf(changed(passant, moveAt, passant[moveAt]&0x3f)...), 0, false},
		{"move number", "move 5 of the piece on e8, expected less than 5", blockOf(chainOf(t, kings, "e1e2", 2, [2]uint{5, 3}, [2]uint{0, 5})...), 1, false},
		{"piece without moves", "move 0 of the piece on a8, expected less than 0",
			blockOf(chainOf(t, "rk6/pp6/8/8/8/8/8/4K3 w - - 0 1", "e1e2", 1, [2]uint{2, 2}, [2]uint{0, 5})...), 1, false},
		{"piece number", "piece 3, expected less than 3", blockOf(chainOf(t, "4k2r/8/8/8/8/8/7p/4K3 w - - 0 1", "e1e2", 1, [2]uint{3, 2}, [2]uint{0, 10})...), 1, false},
		{"into check", "e8d7 is not legal", blockOf(chainOf(t, "4k3/8/8/8/8/8/8/3RK3 w - - 0 1", "d1d2", 1, [2]uint{0, 3}, [2]uint{0, 5})...), 1, false},
		{"score", "score of more than 16 bits",
			blockOf(chainOf(t, kings, "e1e2", 1, [2]uint{0, 3}, [2]uint{1<<20 - 1, 20}, [2]uint{0, 5})...), 1, false},
		{"end of the block", "do not fit into the block", blockOf(chainOf(t, kings, "e1e2", 3, [2]uint{0, 3}, [2]uint{0, 5}, [2]uint{0, 3}, [2]uint{0, 5})...), 3, false},
	} {
		r := NewReader(bytes.NewReader(append(bytes.Clone(c.block), blockOf(good...)...)))
		var s sample.Sample
		n := 0
		var err error
		for err = r.Read(&s); err == nil; err = r.Read(&s) {
			n++
		}
		var where *sample.ReadError
		if !errors.As(err, &where) || where.Record != int64(c.read) || n != c.read || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: after %d records %v; expected %q after %d", c.name, n, err, c.want, c.read)
			continue
		}
		if errors.Is(err, sample.ErrFormat) != c.format || errors.Is(err, sample.ErrRecord) == c.format {
			t.Errorf("%s: %v is of the wrong class", c.name, err)
		}
		again := r.Read(&s)
		if c.format && again != err || !c.format && (again != nil || s.Pos.FEN() != kings || r.Read(&s) != io.EOF) {
			t.Errorf("%s: read on: %v", c.name, again)
		}
	}
}

// TestReadErrorText shows what an error tells.
func TestReadErrorText(t *testing.T) {
	file := append(blockOf(chainOf(t, kings, "e1e2", 0)...),
		blockOf(chainOf(t, kings, "e1e2", 2, [2]uint{7, 3}, [2]uint{0, 5})...)...)
	_, err := decodeAll(file)
	const want = "record 2 at byte 84: block 2 at byte 42, chain 1: bad record: move 7 of the piece on e8, expected less than 5 in 4k3/8/8/8/8/8/4K3/8 b - - 1 1"
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// TestReadStem reads what no writer makes, but other readers accept.
func TestReadStem(t *testing.T) {
	rooks := chainOf(t, "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1b1", 0) // codes da 0d f: a1, e1, h1, e8
	away := chainOf(t, "4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1b1", 0)
	for _, c := range []struct {
		name, fen string
		chain     []byte
	}{
		{"rights", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", rooks},
		{"rights of the king's rook", "4k3/8/8/8/8/8/8/R3K2R w K - 0 1", changed(rooks, codesAt, 0xa6)},
		{"rights of a king away", "4k3/8/8/8/8/8/4K3/R6R w - - 0 1", changed(changed(away, codesAt, 0xdd), codesAt+1, 0xba)},
		{"bytes after the last chain", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", append(bytes.Clone(rooks), make([]byte, 33)...)},
	} {
		r := NewReader(bytes.NewReader(blockOf(c.chain...)))
		var s sample.Sample
		if err := r.Read(&s); err != nil || s.Pos.FEN() != c.fen {
			t.Errorf("%s: %s, %v", c.name, s.Pos.FEN(), err)
		}
		if err := r.Read(&s); err != io.EOF || r.Trailing() != int64(len(c.chain)-chainSize) {
			t.Errorf("%s: at the end %v, %d bytes unread", c.name, err, r.Trailing())
		}
	}
}

// TestVoidRights reads on in a chain where rights without effect are counted
// among the king's moves: piece 2 is the king on e2, with 8 moves and 2 rights.
func TestVoidRights(t *testing.T) {
	for move, want := range map[uint]string{3: "e2d2", 9: ""} {
		chain := chainOf(t, "4k3/8/8/8/8/8/4K3/R6R b - - 0 1", "e8e7", 1, [2]uint{2, 2}, [2]uint{move, 4}, [2]uint{0, 5})
		chain[codesAt], chain[codesAt+1] = 0xdd, 0xfa
		samples, err := decodeAll(blockOf(chain...))
		if want == "" {
			if !errors.Is(err, sample.ErrRecord) || len(samples) != 1 {
				t.Errorf("castling: %d samples, %v", len(samples), err)
			}
		} else if err != nil || len(samples) != 2 || samples[1].Pos.UCI(samples[1].Move) != want {
			t.Errorf("%s: %d samples, %v", want, len(samples), err)
		}
	}
}

// TestStreams reads the fixture in pieces and from a stream that fails.
func TestStreams(t *testing.T) {
	file := readFixture(t, "chess.binpack")
	want, err := decodeAll(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, stream := range map[string]io.Reader{
		"one byte at a time": iotest.OneByteReader(bytes.NewReader(file)),
		"data with the end":  iotest.DataErrReader(bytes.NewReader(file)),
	} {
		r := NewReader(stream)
		var s sample.Sample
		for i := range want {
			if err := r.Read(&s); err != nil || s != want[i] {
				t.Fatalf("%s: record %d: %v", name, i, err)
			}
		}
		if err := r.Read(&s); err != io.EOF {
			t.Errorf("%s: at the end %v", name, err)
		}
	}
	var s sample.Sample
	r := NewReader(io.MultiReader(bytes.NewReader(file[:500]), iotest.ErrReader(errBroken)))
	for err = r.Read(&s); err == nil; {
		err = r.Read(&s)
	}
	if !errors.Is(err, errBroken) || errors.Is(err, sample.ErrFormat) || r.Read(&s) != err {
		t.Errorf("broken stream: %v", err)
	}
}

// repeat is an endless stream of the same bytes.
type repeat struct {
	data []byte
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.data[r.at:])
	r.at = (r.at + n) % len(r.data)
	return n, nil
}

// TestReadMemory reads a block of the largest size, some of which is there.
// Neither its size nor what is read takes memory, nor do single samples.
func TestReadMemory(t *testing.T) {
	header := binary.LittleEndian.AppendUint32([]byte(magic), maxPayload)
	chain := chainOf(t, kings, "e1e2", 1, [2]uint{0, 3}, [2]uint{0, 5})
	const chains = 50000
	stream := io.MultiReader(bytes.NewReader(header), io.LimitReader(&repeat{data: chain}, chains*int64(len(chain))))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(stream)
	var s sample.Sample
	n := 0
	var err error
	for ; err == nil; n++ {
		err = r.Read(&s)
	}
	runtime.ReadMemStats(&after)
	if n-1 != 2*chains || err != io.EOF || r.Trailing() != 0 {
		t.Fatalf("%d records, %v, %d bytes unread", n-1, err, r.Trailing())
	}
	if bytes, mallocs := after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs; bytes > 2*readBuffer || mallocs > 100 {
		t.Errorf("%d bytes in %d allocations", bytes, mallocs)
	}
}
