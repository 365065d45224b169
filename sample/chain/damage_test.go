package chain

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
)

// readDamaged returns the samples of a file and where damage was reported.
func readDamaged(t *testing.T, r *Reader) (got []sample.Sample, damage []int64) {
	t.Helper()
	for {
		var s sample.Sample
		err := r.Read(&s)
		var at *sample.ReadError
		switch {
		case err == nil:
			got = append(got, s)
		case err == io.EOF:
			return got, damage
		case errors.Is(err, sample.ErrRecord) && errors.As(err, &at):
			damage = append(damage, at.Offset)
		default:
			t.Fatal(err)
		}
	}
}

// A block that was not written to its end hides none of those appended after it, be they
// more or less than it lacks.
func TestAppendedToStoppedWriter(t *testing.T) {
	one := writeGames(t, games(t, newRand(4), 2))
	torn := writeGames(t, games(t, newRand(15), 60))
	want := sampletest.ReadAll(t, NewReader(bytes.NewReader(one)))
	if len(torn) < 4*len(one) {
		t.Fatalf("%d and %d bytes, expected the second block to be much larger", len(one), len(torn))
	}
	for _, n := range []int{10, headerSize - 1, headerSize, headerSize + 1, len(torn) / 2, len(torn) - len(one), len(torn) - 1} {
		for _, after := range []int{1, 12} {
			file := slices.Concat(one, torn[:n], bytes.Repeat(one, after))
			r := NewReader(bytes.NewReader(file))
			got, damage := readDamaged(t, r)
			if !slices.Equal(got, slices.Repeat(want, 1+after)) || !slices.Equal(damage, []int64{int64(len(one))}) || r.Trailing() != 0 {
				t.Errorf("%d bytes of a block, then %d blocks: %d samples, expected %d, damage at %d, %d trailing",
					n, after, len(got), (1+after)*len(want), damage, r.Trailing())
			}
			if info, err := Recover(bytes.NewReader(file)); err != nil || info.Blocks != int64(1+after) || info.End != int64(len(file)) {
				t.Errorf("%d bytes of a block, then %d blocks: %+v, %v, expected the end at %d", n, after, info, err, len(file))
			}
		}
	}
}

// Damage in the header of the first block costs that block, but what has no whole block
// where one must begin is no .chain file.
func TestDamagedBeginning(t *testing.T) {
	samples := readFixture(t, fixtures[3].path, chess.Chess)[:50]
	one := write(t, chess.Chess, samples)
	for i := range 8 * headerSize {
		file := slices.Concat(one, one)
		file[i/8] ^= 1 << (i % 8)
		r := NewReader(bytes.NewReader(file))
		if r.Unit() != sample.InternalUnit || r.Variant() != chess.Chess {
			t.Errorf("bit %d: unit %v, variant %v", i, r.Unit(), r.Variant())
		}
		if got, damage := readDamaged(t, r); !slices.Equal(got, samples) || !slices.Equal(damage, []int64{0}) || r.Trailing() != 0 {
			t.Errorf("bit %d: %d samples, expected %d, damage at %d, %d trailing", i, len(got), len(samples), damage, r.Trailing())
		}
		if info, err := Recover(bytes.NewReader(file)); err != nil || info.Blocks != 1 || info.Last != int64(len(one)) || info.End != int64(len(file)) {
			t.Errorf("bit %d: %+v, %v", i, info, err)
		}
	}
	for name, file := range map[string][]byte{
		"nothing after it": append([]byte("ZHCC"), one[len(magic):]...),
		"too far":          append(make([]byte, headerSize+MaxPayload+1), one...),
	} {
		if _, err := Recover(bytes.NewReader(file)); !errors.Is(err, sample.ErrFormat) {
			t.Errorf("%s: found %v, expected %v", name, err, sample.ErrFormat)
		}
	}
	file := append(make([]byte, headerSize+MaxPayload), one...)
	if info, err := Recover(bytes.NewReader(file)); err != nil || info.Blocks != 1 {
		t.Errorf("as far as it may be: %+v, %v", info, err)
	}
}
