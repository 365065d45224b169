package bin

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

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
			if r.code == codeLarge || s.Pos.Occupied().Count()+s.Pos.Hand(0).Total()+s.Pos.Hand(1).Total() > maxPieces {
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
			if err := back.Read(&again); (err != nil || again != s) && back.code != codeLarge { // which an illegal move may look like
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
