package replay

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

const goldenStats = "stats.json" // what Stats says of the golden buffer

func goldenOptions() Options {
	o := testOptions()
	o.MaxBytes, o.Window.Min = 2*o.SegmentBytes, 50
	return o
}

// writeGolden makes a buffer that has retired a segment and copies its files.
func writeGolden(t *testing.T, golden string) {
	t.Helper()
	dir := t.TempDir()
	b := openBuffer(t, dir, goldenOptions())
	games := testGames(t, 0, 120)
	for at := 0; at < len(games); at += 20 {
		appendGames(t, b, games[at:at+20])
	}
	stats := b.Stats()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if stats.StoredNow == stats.Games {
		t.Fatalf("nothing was retired: %+v", stats)
	}
	if err := os.RemoveAll(golden); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(golden, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(segmentFiles(t, dir), filepath.Join(dir, manifestFile), filepath.Join(dir, retiredFile)) {
		writeFile(t, filepath.Join(golden, filepath.Base(path)), readFile(t, path))
	}
	data, err := json.MarshalIndent(stats, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(golden, goldenStats), data)
}

// goldenDir is numbered by the changes made to any of the three formats, so that
// a new version of one gets files of its own.
func goldenDir() string {
	return filepath.Join("testdata", fmt.Sprintf("v%d", segmentVersion+retiredVersion+manifestSchema-2))
}

// TestGolden keeps the files of every version readable, and those of the
// present one as they are written.
func TestGolden(t *testing.T) {
	if *update {
		writeGolden(t, goldenDir())
	}
	dirs, err := filepath.Glob("testdata/v*")
	if err != nil || !slices.Contains(dirs, goldenDir()) {
		t.Fatalf("no golden files in %s (%v)", goldenDir(), err)
	}
	for _, golden := range dirs {
		var want Stats
		if err := json.Unmarshal(readFile(t, filepath.Join(golden, goldenStats)), &want); err != nil {
			t.Fatal(err)
		}
		dir := copyDir(t, golden)
		b := openBuffer(t, dir, goldenOptions())
		if got := b.Stats(); got != want || len(b.Damage()) != 0 {
			t.Errorf("%s: %+v, damage %v; want %+v", golden, got, b.Damage(), want)
		}
		if r := audit(t, dir); len(r.Damage) != 0 || r.Games != want.StoredNow {
			t.Errorf("%s: audit: %+v", golden, r)
		}
		ids := b.retired.ids
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if golden == goldenDir() {
			goldenIsWrittenAgain(t, golden, dir, ids)
		}
	}
}

// goldenIsWrittenAgain compares the golden files with what their contents are
// written as; dir is a closed buffer made of them, ids what it had retired.
func goldenIsWrittenAgain(t *testing.T, golden, dir string, ids []uint64) {
	t.Helper()
	for _, path := range segmentFiles(t, golden) {
		data := readFile(t, path)
		again := appendSegmentHeader(nil, goldenOptions().Variant)
		scan(data, func(r record) { again = appendFrame(again, r.game, r.trainable) }, nil)
		if !bytes.Equal(again, data) {
			t.Errorf("%s would be written differently", path)
		}
	}
	if again := appendIDs([]byte(retiredMagic), ids); !bytes.Equal(again, readFile(t, filepath.Join(golden, retiredFile))) {
		t.Errorf("%s would be written differently", retiredFile)
	}
	if again := readFile(t, filepath.Join(dir, manifestFile)); !bytes.Equal(again, readFile(t, filepath.Join(golden, manifestFile))) {
		t.Errorf("%s is written differently", manifestFile)
	}
}
