package thesis_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readAll returns all samples, which must be without errors.
func readAll(t testing.TB, r sample.Reader) []sample.Sample {
	t.Helper()
	var all []sample.Sample
	for {
		var s sample.Sample
		if err := r.Read(&s); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

func write(t testing.TB, all []sample.Sample, chains bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w := thesis.NewWriter(&b, chains)
	for i := range all {
		if err := w.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFixtures compares with chains written by another program from the same
// chess.plain.
func TestFixtures(t *testing.T) {
	want := readAll(t, plain.NewReader(bytes.NewReader(readFile(t, "chess.plain")), chess.Chess))
	chains := readFile(t, "chess.compact.txt")
	if got := write(t, want, true); !bytes.Equal(got, chains) {
		for i := range got {
			if got[i] != chains[i] {
				t.Fatalf("chains differ at byte %d: %q, expected %q", i, got[max(i-100, 0):min(len(got), i+50)], chains[max(i-100, 0):min(len(chains), i+50)])
			}
		}
		t.Fatalf("%d bytes, expected %d", len(got), len(chains))
	}
	for _, text := range [][]byte{chains, write(t, want, false)} {
		got := readAll(t, thesis.NewReader(bytes.NewReader(text), chess.Chess))
		if len(got) != len(want) {
			t.Fatalf("%d samples, expected %d", len(got), len(want))
		}
		for i, s := range got {
			w := want[i]
			w.Result, w.Ply = 0, 0
			s.Pos.SetClocks(w.Pos.HalfmoveClock(), w.Pos.FullmoveNumber())
			if s != w {
				t.Fatalf("sample %d is %s %+v, expected %s %+v", i, s.Pos.FEN(), s, w.Pos.FEN(), w)
			}
		}
	}
}
