package replay

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGolden keeps the files of every version readable and those of the
// present one as they are: a buffer that has retired a segment.
func TestGolden(t *testing.T) {
	golden := filepath.Join("testdata", "v1")
	o := testOptions()
	o.MaxBytes, o.Window.Min = 2*o.SegmentBytes, 50
	games := testGames(t, 0, 64)
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	for at := 0; at < len(games); at += 16 {
		ingest(t, b, games[at:at+16])
	}
	want := b.Stats()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if want.StoredNow == want.Games {
		t.Fatalf("nothing was retired: %+v", want)
	}
	names := []string{manifestFile, retiredFile}
	for _, path := range segmentFiles(t, dir) {
		names = append(names, filepath.Base(path))
	}
	if *update {
		if err := os.RemoveAll(golden); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(golden, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			writeFile(t, filepath.Join(golden, name), readFile(t, filepath.Join(dir, name)))
		}
	}
	for _, name := range names {
		if !bytes.Equal(readFile(t, filepath.Join(golden, name)), readFile(t, filepath.Join(dir, name))) {
			t.Errorf("%s differs from the golden file", name)
		}
	}
	b = openBuffer(t, copyDir(t, golden), o)
	if got := b.Stats(); got != want || len(b.Damage()) != 0 {
		t.Errorf("golden buffer: %+v, damage %v; want %+v", got, b.Damage(), want)
	}
}
