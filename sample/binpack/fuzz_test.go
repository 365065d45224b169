package binpack

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// FuzzRead reads anything: what it gives must be positions that their FENs give
// again, with legal moves, and come back when they are written and read.
func FuzzRead(f *testing.F) {
	file := readFixture(f, "chess.binpack")
	f.Add(file[9565:])
	f.Add(file[9458:9565])
	f.Add(append(file[8014:8200:8200], file[9458:]...))
	f.Add(blockOf(chainOf(f, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "a1a8", 2, [2]uint{1, 2}, [2]uint{3, 3}, [2]uint{9, 5})...))
	f.Add(blockOf(chainOf(f, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 1, [2]uint{0, 9})...))
	f.Add([]byte("BINP\x00\x00\x00\x00BINP\xff\xff\xff\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		var out bytes.Buffer
		w := NewWriter(&out)
		var written []sample.Sample
		for {
			var s sample.Sample
			err := r.Read(&s)
			if errors.Is(err, sample.ErrRecord) {
				continue
			}
			if err != nil {
				if err != io.EOF && !errors.Is(err, sample.ErrFormat) {
					t.Fatal(err)
				}
				break
			}
			checkSample(t, &s)
			if err := w.Write(&s); err == nil {
				written = append(written, asRead(s))
			} else if !errors.Is(err, sample.ErrRecord) || s.Ply <= maxStemPly {
				t.Fatalf("%v\n%s", err, plainText(&s))
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := decodeAll(out.Bytes())
		if err != nil || len(again) != len(written) {
			t.Fatalf("%d records of %d came back: %v", len(again), len(written), err)
		}
		for i := range again {
			// The clock is lost where two chains become one.
			again[i].Pos.SetClocks(written[i].Pos.HalfmoveClock(), again[i].Pos.FullmoveNumber())
			if again[i] != written[i] {
				t.Fatalf("record %d:\n%sexpected\n%s", i, plainText(&again[i]), plainText(&written[i]))
			}
		}
	})
}

// checkSample checks what a Reader promises about a sample.
func checkSample(t *testing.T, s *sample.Sample) {
	t.Helper()
	fen := s.Pos.FEN()
	p, err := chess.ParseFEN(chess.Chess, fen)
	if err != nil || p != s.Pos {
		t.Fatalf("%s does not give the position again: %v\n%+v\n%+v", fen, err, p, s.Pos)
	}
	if s.Move != chess.NoMove && !p.IsLegal(s.Move) {
		t.Fatalf("%s: illegal move %v", fen, s.Move)
	}
	if s.Result < -1 || s.Result > 1 || s.Score < sample.MinScore || s.Score > sample.MaxScore {
		t.Fatalf("result %d, score %d", s.Result, s.Score)
	}
}

// FuzzWrite walks by the bytes given, three a ply: the move, the score, and
// whether the sample is left out.
func FuzzWrite(f *testing.F) {
	f.Add(uint8(0), []byte("the quick brown fox jumps over the lazy dog"))
	f.Add(uint8(2), bytes.Repeat([]byte{7, 250, 1, 90, 3, 3}, 20))
	f.Add(uint8(5), bytes.Repeat([]byte{200, 0, 1, 99, 128, 1, 30, 40, 0}, 20))
	f.Fuzz(func(t *testing.T, start uint8, walk []byte) {
		p, err := chess.ParseFEN(chess.Chess, starts[int(start)%len(starts)])
		if err != nil {
			t.Fatal(err)
		}
		var in []sample.Sample
		for ply := uint16(start); len(walk) >= 3; walk, ply = walk[3:], ply+1 {
			var l chess.MoveList
			if p.Legal(&l); l.N == 0 {
				break
			}
			m := l.Moves[int(walk[0])*l.N/256]
			if walk[2]%8 != 0 {
				score := search.Score(int8(walk[1])) << (walk[2] % 9)
				in = append(in, sample.Sample{Pos: p, Move: m, Score: score, Ply: ply, Result: 1 - int8(ply%2*2)})
			}
			p.Make(m)
		}
		out, err := decodeAll(encodeAll(t, in))
		if err != nil || len(out) != len(in) {
			t.Fatalf("%d records of %d came back: %v", len(out), len(in), err)
		}
		for i := range in {
			if out[i] != asRead(in[i]) {
				t.Fatalf("record %d:\n%sexpected\n%s", i, plainText(&out[i]), plainText(&in[i]))
			}
		}
	})
}
