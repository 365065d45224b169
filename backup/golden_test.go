package backup

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

var update = flag.Bool("update", false, "rewrite the golden snapshot")

// goldenContent is a file of two parts.
var goldenContent = strings.Repeat("x", partBytes) + "end\n"

// The snapshot of the present schema is written byte for byte, and those of all schemas
// are read.
func TestGoldenSnapshot(t *testing.T) {
	repo, err := OpenToWrite(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	s := Snapshot{Created: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Build: "test", Name: "zh", ID: "abc", From: "the servers", Digest: hashOf(nil), Keys: []string{"trainer.key"}, Notes: []string{"note"}}
	var w written
	for _, file := range []struct{ path, content string }{{"trainer.key", "key\n"}, {"b/large", goldenContent}, {"b/empty", ""}} {
		f, err := repo.putFile(file.path, strings.NewReader(file.content), &w)
		if err != nil {
			t.Fatal(err)
		}
		s.Files = append(s.Files, f)
	}
	if err := repo.write(&s); err != nil {
		t.Fatal(err)
	}
	path := golden.Present(schema, "snapshot.json")
	text := golden.Read(t, filepath.Join(repo.dir, snapshotsDir, s.file))
	if *update {
		golden.Write(t, path, text)
	}
	if want := golden.Read(t, path); !bytes.Equal(text, want) {
		t.Errorf("found\n%s\nexpected\n%s", text, want)
	}
	for _, path := range golden.Versions(t, path) {
		text := golden.Read(t, path)
		name := "20260102T030405.678Z-" + hashOf(text)[:hashDigits] + ".json"
		if err := os.WriteFile(filepath.Join(repo.dir, snapshotsDir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := repo.Snapshot(strings.TrimSuffix(name, ".json"))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		f, there := got.find("b/large")
		content, err := repo.content(f, 2*partBytes)
		if !there || err != nil || string(content) != goldenContent || got.Name != "zh" || len(got.Files) != 3 {
			t.Errorf("%s: found %d bytes in %d files of %s, error %v", path, len(content), len(got.Files), got.Name, err)
		}
	}
	if w.parts != 3 || w.new != 3 || w.bytes != partBytes+8 {
		t.Errorf("wrote %+v", w)
	}
}

// No path of a snapshot leads out of the directory that it is restored to.
func TestPathsStayInside(t *testing.T) {
	for _, path := range []string{"../out", "/out", "a/../../out", ""} {
		repo, err := OpenToWrite(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = repo.write(&Snapshot{Files: []File{{Path: path}}})
		if err == nil {
			_, err = repo.Snapshot("")
		}
		if err == nil || !strings.Contains(err.Error(), "outside the run's directory") {
			t.Errorf("%q: error %v", path, err)
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}
