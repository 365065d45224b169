package binpack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// newSample returns a sample of chess, with any legal move if none is given.
func newSample(tb testing.TB, fen, move string, score search.Score, ply uint16, result int8) sample.Sample {
	tb.Helper()
	p, err := chess.ParseFEN(chess.Chess, fen)
	if err != nil {
		tb.Fatal(err)
	}
	var l chess.MoveList
	p.Legal(&l)
	m := l.Moves[0]
	if move != "" {
		if m, err = p.ParseUCI(move); err != nil {
			tb.Fatal(err)
		}
	}
	return sample.Sample{Pos: p, Move: m, Score: score, Ply: ply, Result: result}
}

// chainsOf returns the number of chains in each block of a file.
func chainsOf(tb testing.TB, file []byte) []int64 {
	tb.Helper()
	var chains []int64
	var s sample.Sample
	for r := NewReader(bytes.NewReader(file)); ; {
		if err := r.Read(&s); err == io.EOF {
			return chains
		} else if err != nil {
			tb.Fatal(err)
		}
		for int64(len(chains)) < r.block {
			chains = append(chains, 0)
		}
		chains[r.block-1] = r.chain
	}
}

// TestChaining pairs a sample with a second one that continues its chain or not.
func TestChaining(t *testing.T) {
	const (
		start   = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
		afterE4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
	)
	for _, c := range []struct {
		name         string
		first, move  string
		second       string
		ply, result2 int
		chains       int64
	}{
		{"successor", start, "e2e4", afterE4, 1, -1, 1},
		{"ply not the next", start, "e2e4", afterE4, 2, -1, 2},
		{"result of the same side", start, "e2e4", afterE4, 1, 1, 2},
		{"another move", start, "d2d4", afterE4, 1, -1, 2},
		{"a right less", start, "e2e4", strings.Replace(afterE4, "KQkq", "KQk", 1), 1, -1, 2},
		{"the other side", start, "e2e4", strings.Replace(afterE4, " b ", " w ", 1), 1, -1, 2},
		{"clock and move number do not matter", start, "e2e4", strings.Replace(afterE4, "0 1", "9 77", 1), 1, -1, 1},
		{
			"en passant square", "4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4",
			"4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", 1, -1, 1,
		},
		{
			"en passant square missing", "4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "e2e4",
			"4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1", 1, -1, 2,
		},
		{
			"en passant square that the format does not keep", "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4",
			"8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1", 1, -1, 1,
		},
		{
			"the same, not given", "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "e2e4",
			"8/8/8/8/k2pP2R/8/8/4K3 b - - 0 1", 1, -1, 1,
		},
		{
			"castling", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1",
			"r3k2r/8/8/8/8/8/8/2KR3R b kq - 1 1", 1, -1, 1,
		},
		{
			"rook takes rook", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "a1a8",
			"R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1", 1, -1, 1,
		},
		{
			"promotion", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n",
			"N3k3/8/8/8/8/8/8/4K3 b - - 0 1", 1, -1, 1,
		},
		{
			"another promotion", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8b",
			"N3k3/8/8/8/8/8/8/4K3 b - - 0 1", 1, -1, 2,
		},
	} {
		first := newSample(t, c.first, c.move, 100, 0, 1)
		second := newSample(t, c.second, "", 0, uint16(c.ply), int8(c.result2))
		if got := chainsOf(t, encodeAll(t, []sample.Sample{first, second})); len(got) != 1 || got[0] != c.chains {
			t.Errorf("%s: chains %d, expected %d", c.name, got, c.chains)
		}
	}
}

// asRead returns s as a Reader gives it back, inside a chain or where one begins.
func asRead(s sample.Sample) sample.Sample {
	trimEnPassant(&s.Pos)
	s.Pos.SetClocks(s.Pos.HalfmoveClock(), int(s.Ply)/2+1)
	return s
}

// TestRoundTrip writes and reads random games with and without gaps, with scores
// near and far from one another.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, keep := range []int{1, 2, 5} {
		var in []sample.Sample
		randomGames(t, 5000, func(ply int, p *chess.Position, m chess.Move) {
			if rng.IntN(keep) != 0 {
				return
			}
			s := sample.Sample{Pos: *p, Move: m, Score: search.Score(int16(rng.Uint32() >> rng.IntN(16))), Ply: uint16(ply)}
			s.Result = int8(1 - ply%2*2)
			in = append(in, s)
		})
		out, err := decodeAll(encodeAll(t, in))
		if err != nil || len(out) != len(in) {
			t.Fatalf("%d records of %d: %v", len(out), len(in), err)
		}
		for i := range in {
			if out[i] != asRead(in[i]) {
				t.Fatalf("record %d:\n%sexpected\n%s", i, plainText(&out[i]), plainText(&in[i]))
			}
		}
	}
}

// TestScores goes through all differences of successive scores, which wrap.
func TestScores(t *testing.T) {
	s := newSample(t, "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e2", 0, 0, 0)
	moves := []string{"e1e2", "e8e7", "e2e1", "e7e8"}
	var in []sample.Sample
	for delta := -1 << 15; delta < 1<<15; delta += 13 {
		if len(in) > 0 {
			s.Score = search.Score(int16(delta) - int16(s.Score))
		}
		m, err := s.Pos.ParseUCI(moves[len(in)%4])
		if err != nil {
			t.Fatal(err)
		}
		s.Move = m
		in = append(in, s)
		s.Pos.Make(m)
		s.Ply++
	}
	out, err := decodeAll(encodeAll(t, in))
	if err != nil || len(out) != len(in) {
		t.Fatalf("%d records of %d: %v", len(out), len(in), err)
	}
	for i := range in {
		if in[i].Score != out[i].Score {
			t.Fatalf("record %d: score %d, expected %d", i, out[i].Score, in[i].Score)
		}
	}
}

// TestBlocks writes single samples, 34 bytes each, until the third block: one
// ends with the first chain that brings it to a MiB.
func TestBlocks(t *testing.T) {
	s := newSample(t, chess.Chess.StartFEN, "e2e4", 0, 0, 0)
	const perBlock = (1<<20 + 33) / 34
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for range 2*perBlock + 5 {
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}
	if want := headerSize + 34*perBlock; buf.Len() != 2*want {
		t.Errorf("%d bytes written before the end, expected two blocks of %d", buf.Len(), want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if chains := chainsOf(t, buf.Bytes()); len(chains) != 3 || chains[0] != perBlock || chains[1] != perBlock || chains[2] != 5 {
		t.Errorf("chains by block %d, expected %d twice and 5", chains, perBlock)
	}
}

// TestPly counts to the last ply there is, of which a stem holds a quarter.
func TestPly(t *testing.T) {
	moves := []string{"g1f3", "g8f6", "f3g1", "f6g8"}
	s := newSample(t, chess.Chess.StartFEN, moves[0], 7, maxStemPly+1, 1)
	if err := NewWriter(io.Discard).Write(&s); !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), "ply 16384") {
		t.Errorf("ply beyond a stem's: %v", err)
	}
	s.Ply--
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for i := 0; ; i++ {
		var err error
		if s.Move, err = s.Pos.ParseUCI(moves[i%4]); err == nil {
			err = w.Write(&s)
		}
		if err != nil {
			t.Fatalf("ply %d: %v", s.Ply, err)
		}
		if s.Ply == math.MaxUint16 {
			break
		}
		s.Pos.Make(s.Move)
		s.Result = -s.Result
		s.Ply++
	}
	s.Pos.Make(s.Move)
	s.Move, _ = s.Pos.ParseUCI(moves[3])
	w.addContinuation(&s, &s.Pos) // one too many
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	samples, err := decodeAll(buf.Bytes())
	if !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), "ply 65536") {
		t.Errorf("error %v", err)
	}
	last := &samples[len(samples)-1]
	if len(samples) != 1<<16-maxStemPly || last.Ply != math.MaxUint16 || !strings.HasSuffix(last.Pos.FEN(), " 49152 32768") {
		t.Errorf("%d samples, the last of ply %d: %s", len(samples), last.Ply, last.Pos.FEN())
	}
}

func TestWriteErrors(t *testing.T) {
	crazyhouse := chess.Crazyhouse.Start()
	castle960, err := chess.ParseFEN960(chess.Chess, "4k3/8/8/8/8/8/8/1R2K3 w B - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	crowd, err := chess.ParseFEN(chess.Chess, "rnbqkbnr/pppppppp/8/8/8/1P6/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want   string
		change func(*sample.Sample)
	}{
		{"a position of crazyhouse, expected one of standard chess", func(s *sample.Sample) { s.Pos = crazyhouse }},
		{"castling rights of Chess960", func(s *sample.Sample) { s.Pos, s.Move = castle960, chess.NewMove(4, 3, chess.Normal) }},
		{"33 pieces", func(s *sample.Sample) { s.Pos = crowd }},
		{"not legal", func(s *sample.Sample) { s.Move = chess.NewDrop(chess.Pawn, 36) }},
		{"not legal", func(s *sample.Sample) { s.Move = chess.NewMove(12, 36, chess.Normal) }},
		{"promotion", func(s *sample.Sample) { s.Partial = true }},
		{"score 32768", func(s *sample.Sample) { s.Score = 32768 }},
		{"score -32769", func(s *sample.Sample) { s.Score = -32769 }},
		{"result 2", func(s *sample.Sample) { s.Result = 2 }},
	} {
		good := newSample(t, chess.Chess.StartFEN, "e2e4", 0, 0, 0)
		s := good
		c.change(&s)
		var buf bytes.Buffer
		w := NewWriter(&buf)
		if err := w.Write(&s); !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %q", err, c.want)
		}
		if err := w.Write(&good); err != nil {
			t.Errorf("after %s: %v", c.want, err)
		}
		if err := w.Close(); err != nil || buf.Len() != headerSize+chainSize {
			t.Errorf("after %s: %d bytes, %v", c.want, buf.Len(), err)
		}
	}
}

// TestChess960 writes positions of Chess960 that standard chess has too.
func TestChess960(t *testing.T) {
	s := newSample(t, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 0, 0, 0)
	want := encodeAll(t, []sample.Sample{s})
	s.Pos.SetChess960(true)
	if got := encodeAll(t, []sample.Sample{s}); !bytes.Equal(got, want) {
		t.Errorf("%x, expected %x", got, want)
	}
}

// TestNoMove writes and reads samples without a move, each of them a chain.
func TestNoMove(t *testing.T) {
	first := newSample(t, chess.Chess.StartFEN, "e2e4", 1, 0, 1)
	second, third := first, first
	second.Pos.Make(first.Move)
	second.Move, second.Ply, second.Result = chess.NoMove, 1, -1
	third.Pos = second.Pos
	third.Pos.MakeNull()
	third.Move, third.Ply, third.Result = chess.NewMove(1, 18, chess.Normal), 2, 1
	in := []sample.Sample{first, second, third}
	file := encodeAll(t, in)
	out, err := decodeAll(file)
	if err != nil || len(out) != 3 || out[0] != in[0] || out[1] != asRead(in[1]) || out[2] != asRead(in[2]) {
		t.Errorf("%v, %v", out, err)
	}
	if got := chainsOf(t, file); got[0] != 3 {
		t.Errorf("%d chains, expected 3", got)
	}
	binary.BigEndian.PutUint16(file[headerSize+chainSize+stemSize:], 1)
	if _, err := decodeAll(file); !errors.Is(err, sample.ErrRecord) {
		t.Errorf("a continuation without a move before: %v", err)
	}
}

func TestWriterEmpty(t *testing.T) {
	if got := encodeAll(t, nil); len(got) != 0 {
		t.Errorf("no samples make %d bytes", len(got))
	}
}

// brokenWriter takes n writes.
type brokenWriter struct{ n int }

var errBroken = errors.New("disk full")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.n--; w.n < 0 {
		return len(b) / 2, errBroken
	}
	return len(b), nil
}

func TestWriterBroken(t *testing.T) {
	s := newSample(t, chess.Chess.StartFEN, "e2e4", 0, 0, 0)
	w := NewWriter(&brokenWriter{n: 1})
	var err error
	n := 0
	for ; err == nil && n < 100000; n++ {
		err = w.Write(&s)
	}
	if !errors.Is(err, errBroken) || n != 2*((1<<20+33)/34)+1 {
		t.Errorf("write %d: %v", n, err)
	}
	if err := w.Write(&s); !errors.Is(err, errBroken) {
		t.Errorf("write after the error: %v", err)
	}
	if err := w.Close(); !errors.Is(err, errBroken) {
		t.Errorf("close after the error: %v", err)
	}
	w = NewWriter(io.Discard)
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := w.Write(&s); err == nil {
		t.Error("write after close accepted")
	}
}

// TestWriteAllocates: nothing per sample, and blocks take their memory once.
func TestWriteAllocates(t *testing.T) {
	samples := plainFixture(t)
	w := NewWriter(io.Discard)
	if n := testing.AllocsPerRun(20, func() {
		for i := range samples[:2000] {
			if err := w.Write(&samples[i]); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations in 2000 samples", n)
	}
}
