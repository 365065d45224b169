package binpack

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

// The fixtures are chess.binpack, five files of variant-nnue-tools' convert
// appended to one another, and chess.plain, what the same program reads in it.
// splits are the records with which the second to fifth file begin.
var splits = []int{1200, 1600, 2000, 2036}

// plainText returns s as a record of a .plain file.
func plainText(s *sample.Sample) string {
	var b strings.Builder
	w := plain.NewWriter(&b)
	if err := errors.Join(w.Write(s), w.Close()); err != nil {
		return err.Error()
	}
	return b.String()
}

// readFixture returns a file of testdata.
func readFixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// plainFixture returns the samples of chess.plain.
func plainFixture(tb testing.TB) []sample.Sample {
	tb.Helper()
	return sampletest.ReadAll(tb, plain.NewReader(bytes.NewReader(readFixture(tb, "chess.plain")), chess.Chess))
}

// decodeAll returns the samples of data up to the first error.
func decodeAll(data []byte) ([]sample.Sample, error) {
	return sampletest.Read(NewReader(bytes.NewReader(data)))
}

// encodeAll returns samples as the file that one Writer makes of them.
func encodeAll(tb testing.TB, samples []sample.Sample) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for i := range samples {
		if err := w.Write(&samples[i]); err != nil {
			tb.Fatalf("record %d: %v", i, err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func TestDecodeFixture(t *testing.T) {
	samples, err := decodeAll(readFixture(t, "chess.binpack"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(readFixture(t, "chess.plain")), "\ne\n")
	want = want[:len(want)-1]
	if len(samples) != len(want) {
		t.Fatalf("%d records, expected %d", len(samples), len(want))
	}
	for i := range samples {
		if got := plainText(&samples[i]); got != want[i] {
			t.Fatalf("record %d:\n%sexpected\n%s", i, got, want[i])
		}
	}
}

func TestEncodeFixture(t *testing.T) {
	samples := plainFixture(t)
	var got []byte
	from := 0
	for _, to := range append(splits, len(samples)) {
		got = append(got, encodeAll(t, samples[from:to])...)
		from = to
	}
	if want := readFixture(t, "chess.binpack"); !bytes.Equal(got, want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%d bytes, expected %d; they differ from byte %d on", len(got), len(want), i)
	}
}

// TestTruncated cuts the last two blocks of the fixture at every length, and the
// whole at some: all records that are whole are read, as of other formats, and the
// bytes after them are counted.
func TestTruncated(t *testing.T) {
	whole := readFixture(t, "chess.binpack")
	var samples []sample.Sample
	var offsets []int64 // of the samples
	var s sample.Sample
	for r := NewReader(bytes.NewReader(whole)); r.Read(&s) == nil; {
		samples, offsets = append(samples, s), append(offsets, r.Offset())
	}
	ends := map[int]bool{0: true}
	for rest := whole; len(rest) > 0; {
		size := headerSize + int(rest[4]) + int(rest[5])<<8 + int(rest[6])<<16
		rest = rest[size:]
		ends[len(whole)-len(rest)] = true
	}
	const lastTwo = 9458 // where the fourth block begins
	for n := range whole {
		if n%101 == 0 || ends[n] {
			checkTruncated(t, whole[:n], samples, offsets)
		}
		if n >= lastTwo {
			checkTruncated(t, whole[lastTwo:n], samples[splits[2]:], offsets[splits[2]:])
		}
	}
}

// checkTruncated reads the beginning of a file that holds samples, the first of them at
// the beginning of a block with a header, at the given offsets of a longer file.
func checkTruncated(t *testing.T, data []byte, samples []sample.Sample, offsets []int64) {
	t.Helper()
	r := NewReader(bytes.NewReader(data))
	got, err := sampletest.Read(r)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(data), err)
	}
	for i := range got {
		if got[i] != samples[i] {
			t.Fatalf("%d bytes: record %d differs", len(data), i)
		}
	}
	next := offsets[len(got)] - offsets[0] + headerSize
	if read := int64(len(data)) - r.Trailing(); read != next && read != next-headerSize {
		t.Fatalf("%d bytes: %d read and %d left, expected the next record, at byte %d, to be left", len(data), read, r.Trailing(), next)
	}
}
