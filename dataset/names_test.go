package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles: a directory stands for the files of samples in it, or for its replay
// buffer.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.bin", "a.plain", "notes.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	buffer, _ := writeBuffer(t)
	run := t.TempDir()
	if err := os.Rename(buffer, filepath.Join(run, "replay")); err != nil {
		t.Fatal(err)
	}
	inRun := "replay:" + filepath.Join(run, "replay")
	got, err := Files([]string{dir, run, "replay:" + run, filepath.Join(dir, "b.bin")})
	want := []string{filepath.Join(dir, "a.plain"), filepath.Join(dir, "b.bin"), inRun, inRun, filepath.Join(dir, "b.bin")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("found %q, error %v, expected %q", got, err, want)
	}
	for _, names := range [][]string{{t.TempDir()}, {"replay:" + t.TempDir()}, {filepath.Join(dir, "a.plainx")}, {filepath.Join(dir, "none.bin")}, {filepath.Join(dir, "notes.md")}} {
		if files, err := Files(names); err == nil {
			t.Errorf("%q: %q, want an error", names, files)
		}
	}
}
