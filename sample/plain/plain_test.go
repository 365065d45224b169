package plain_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// convert writes all that r reads, and returns the number of records.
func convert(t testing.TB, r sample.Reader, w sample.Writer) int {
	t.Helper()
	var s sample.Sample
	for n := 0; ; n++ {
		err := r.Read(&s)
		if err == io.EOF {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err == nil {
			err = w.Write(&s)
		}
		if err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
	}
}

// equal fails at the first byte in which two files differ.
func equal(t testing.TB, what string, got, want []byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s differs at byte %d:\n%q, expected\n%q", what, i, got[max(i-200, 0):min(i+50, len(got))], want[max(i-200, 0):min(i+50, len(want))])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d bytes, expected %d", what, len(got), len(want))
	}
}

// TestFixtures compares with the files of variant-nnue-tools, made by one run:
// .bin, the same in text with all the engine knew, and what of that can be read
// from .bin.
func TestFixtures(t *testing.T) {
	records := readFile(t, "crazyhouse.bin")
	full, view := readFile(t, "crazyhouse.plain"), readFile(t, "crazyhouse.bin-view.plain")
	for name, text := range map[string][]byte{"crazyhouse.plain": full, "crazyhouse.bin-view.plain": view} {
		var b bytes.Buffer
		if n := convert(t, plain.NewReader(bytes.NewReader(text), chess.Crazyhouse), plain.NewWriter(&b)); n != 2000 {
			t.Errorf("%s: %d records", name, n)
		}
		equal(t, name+" written again", b.Bytes(), text)
		b.Reset()
		convert(t, plain.NewReader(bytes.NewReader(text), chess.Crazyhouse), bin.NewWriter(&b, bin.Bits512))
		equal(t, name+" as .bin", b.Bytes(), records)
	}
	var b bytes.Buffer
	convert(t, bin.NewReader(bytes.NewReader(records), chess.Crazyhouse, bin.Bits512), plain.NewWriter(&b))
	equal(t, "crazyhouse.bin as .plain", b.Bytes(), view)
}
