package replay

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
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
		ingest(t, b, games[at:at+20])
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

// TestGolden keeps the files of every version readable, and those of the
// present one as they are written.
func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "v1")
	if *update {
		writeGolden(t, golden)
	}
	var want Stats
	if err := json.Unmarshal(readFile(t, filepath.Join(golden, goldenStats)), &want); err != nil {
		t.Fatal(err)
	}
	dir := copyDir(t, golden)
	b := openBuffer(t, dir, goldenOptions())
	if got := b.Stats(); got != want || len(b.Damage()) != 0 {
		t.Errorf("golden buffer: %+v, damage %v; want %+v", got, b.Damage(), want)
	}
	if r := audit(t, dir); len(r.Damage) != 0 || r.Games != want.StoredNow {
		t.Errorf("audit: %+v", r)
	}
	for _, path := range segmentFiles(t, golden) {
		data := readFile(t, path)
		again := appendSegmentHeader(nil, b.opt.Variant)
		scan(data, func(r record) { again = appendFrame(again, r.game, r.trainable) }, nil)
		if !bytes.Equal(again, data) {
			t.Errorf("%s would be written differently", path)
		}
	}
	ids := readFile(t, filepath.Join(golden, retiredFile))
	if again := appendIDs([]byte(retiredMagic), b.retired.ids); !bytes.Equal(again, ids) {
		t.Errorf("%s would be written differently", retiredFile)
	}
	manifest := readFile(t, filepath.Join(golden, manifestFile))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readFile(t, filepath.Join(dir, manifestFile)), manifest) {
		t.Errorf("%s is written differently", manifestFile)
	}
}
