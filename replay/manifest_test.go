package replay

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

// TestFlippedBits: a flipped bit of the manifest or of a mirror's state is an error that names
// the file, or makes no difference; a flipped digit of first_segment would remove segments.
// One of the ids of deleted games is damage, and costs one id.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := manifest{
		Schema: manifestSchema, ID: "ab2cd3ef4g", Run: "r", Variant: "crazyhouse", FirstSegment: 3,
		Segments: []listed{{3, 12, 3400}}, Retired: Counts{Games: 70, Rows: 2100}, Excluded: []Exclusion{{"a", "why"}},
	}
	at := mirrorState{Schema: mirrorSchema, Source: m.ID, Changes: 1, Next: Cursor{Segment: 3, Offset: 24}, Less: Counts{Games: 1}}
	if err := errors.Join(m.write(dir), at.write(dir)); err != nil {
		t.Fatal(err)
	}
	told := golden.Flip(t, filepath.Join(dir, manifestFile), func() (any, error) { return readManifest(dir) })
	told += golden.Flip(t, filepath.Join(dir, mirrorFile), func() (any, error) {
		var s mirrorState
		return s, s.read(dir)
	})
	if told == 0 {
		t.Error("no flipped bit made a difference")
	}
	ids := retiredIDs{path: filepath.Join(dir, retiredFile)}
	if _, err := ids.append([]uint64{1, 1 << 63, 12345}); err != nil {
		t.Fatal(err)
	}
	told = golden.Flip(t, ids.path, func() (any, error) {
		f, err := readIDs(ids.path)
		if d := f.damage(); err == nil && len(d) == 1 && len(f.ids) == 2 {
			return nil, errors.New(d[0].String())
		}
		return f, err
	})
	if size := len(retiredMagic) + 3*retiredIDBytes; told != 8*size {
		t.Errorf("%d flipped bits made a difference, expected %d", told, 8*size)
	}
}
