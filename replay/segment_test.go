package replay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// scanned is what scan said about a segment.
type scanned struct {
	records []record
	damage  [][2]int64 // offset, bytes
	end     int64
}

func scanAll(data []byte) (s scanned) {
	s.end = scan(data, func(r record) { s.records = append(s.records, r) },
		func(offset, bytes int64) { s.damage = append(s.damage, [2]int64{offset, bytes}) })
	return s
}

// segmentOf returns a segment with the given contents and where each record
// begins, and last where they end.
func segmentOf(games ...[]byte) (data []byte, at []int) {
	data = appendSegmentHeader(nil, chess.Crazyhouse)
	for i, g := range games {
		at = append(at, len(data))
		data = appendFrame(data, g, i)
	}
	return data, append(at, len(data))
}

var someGames = [][]byte{[]byte("one"), bytes.Repeat([]byte("two"), 50), {0}, append([]byte("with a marker "), marker...), []byte("five")}

func TestScanReadsWhatWasWritten(t *testing.T) {
	data, at := segmentOf(someGames...)
	s := scanAll(data)
	if len(s.records) != len(someGames) || len(s.damage) != 0 || s.end != int64(len(data)) {
		t.Fatalf("%+v", s)
	}
	for i, r := range s.records {
		if r.offset != int64(at[i]) || r.trainable != i || !bytes.Equal(r.game, someGames[i]) {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if v, err := segmentVariant(data); v != chess.Crazyhouse || err != nil {
		t.Errorf("variant %v, %v", v, err)
	}
}

// Cut anywhere, a segment keeps every record before the cut.
func TestScanTruncated(t *testing.T) {
	data, at := segmentOf(someGames...)
	for n := range data {
		whole := 0
		for whole < len(someGames) && at[whole+1] <= n {
			whole++
		}
		s := scanAll(data[:n])
		if len(s.records) != whole || len(s.damage) != 0 || s.end != int64(min(n, at[whole])) {
			t.Fatalf("cut at %d: %d records, damage %v, end %d; want %d to %d", n, len(s.records), s.damage, s.end, whole, at[whole])
		}
	}
}

// One damaged bit costs the record it is in and no other.
func TestScanBitFlips(t *testing.T) {
	data, at := segmentOf(someGames...)
	for i := headerBytes; i < len(data); i++ {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << bit
			hit := 0
			for at[hit+1] <= i {
				hit++
			}
			s := scanAll(flipped)
			if len(s.records) != len(someGames)-1 {
				t.Fatalf("byte %d bit %d: %d records", i, bit, len(s.records))
			}
			for k, r := range s.records {
				if k >= hit {
					k++
				}
				if !bytes.Equal(r.game, someGames[k]) {
					t.Fatalf("byte %d bit %d: %q in place of %q", i, bit, r.game, someGames[k])
				}
			}
			if hit == len(someGames)-1 {
				if len(s.damage) != 0 || s.end != int64(at[hit]) {
					t.Fatalf("byte %d bit %d: damage %v, end %d", i, bit, s.damage, s.end)
				}
			} else if len(s.damage) != 1 || s.damage[0] != [2]int64{int64(at[hit]), int64(at[hit+1] - at[hit])} {
				t.Fatalf("byte %d bit %d: damage %v", i, bit, s.damage)
			}
		}
	}
}

func TestSegmentHeader(t *testing.T) {
	data, _ := segmentOf()
	for n := range data {
		if _, err := segmentVariant(data[:n]); !errors.Is(err, errHeader) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		if _, err := segmentVariant(flipped); !errors.Is(err, errHeader) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	if _, err := segmentVariant(appendSegmentHeader(nil, &chess.Variant{Name: "nonesuch"})); !errors.Is(err, ErrVariant) {
		t.Errorf("unknown variant: %v", err)
	}
}

// FuzzScan feeds arbitrary bytes to the segment reader: records and damage
// must lie in order, without overlap, and account for every byte.
func FuzzScan(f *testing.F) {
	data, at := segmentOf(someGames...)
	f.Add(data)
	f.Add(data[:len(data)-2])
	f.Add(append(bytes.Clone(data[:at[1]+3]), data[at[1]:]...))
	f.Add(bytes.Repeat(marker, 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := segmentVariant(data); err == nil && len(data) < headerBytes {
			t.Fatal("header of a segment that is too short")
		}
		pos := int64(min(headerBytes, len(data)))
		end := scan(data, func(r record) {
			if r.offset != pos || len(r.game) == 0 {
				t.Fatalf("record of %d bytes at %d, want offset %d", len(r.game), r.offset, pos)
			}
			if !bytes.Equal(appendFrame(nil, r.game, r.trainable), data[r.offset:r.end()]) {
				t.Fatalf("record at %d is not what would be written", r.offset)
			}
			pos = r.end()
		}, func(offset, bytes int64) {
			if offset != pos || bytes <= 0 {
				t.Fatalf("damage of %d bytes at %d, want offset %d", bytes, offset, pos)
			}
			pos += bytes
		})
		if end != pos || end > int64(len(data)) {
			t.Fatalf("end %d, want %d", end, pos)
		}
	})
}
