package nets

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// offer puts a net with a generation into a store.
func offer(t *testing.T, s *Store, text, kind string, generation int) string {
	t.Helper()
	id, _, err := s.Put(strings.NewReader(text), kind)
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Schema: ManifestSchema, ID: id, Size: int64(len(text)), Kind: kind, Variant: "crazyhouse", Generation: generation}
	if err := s.PutManifest(m); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFindRun(t *testing.T) {
	run := filepath.Join(t.TempDir(), "my-run")
	s, err := Open(filepath.Join(run, "nets"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(run); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "found no nets") {
		t.Errorf("a run without nets: found error %v", err)
	}
	offer(t, s, "four", KindNNUE, 4)
	newest := offer(t, s, "twelve", KindNNUE, 12)
	passed := offer(t, s, "seven", KindPlanes, 7)
	check := func(id, name, origin string) {
		t.Helper()
		f, err := Find(run)
		if err != nil || f.Path != s.Path(id) || f.Name != name || !strings.Contains(f.Origin, origin) || !strings.Contains(f.Origin, f.Path) {
			t.Errorf("found %+v, error %v, expected net %s, %s", f, err, id, name)
		}
	}
	check(newest, "generation 12 of my-run", "none is known to be published")
	if err := s.SetCurrent(passed); err != nil {
		t.Fatal(err)
	}
	check(passed, "generation 7 of my-run", "newest net published")
	if err := s.SetCurrent("../x"); !errors.Is(err, ErrID) {
		t.Errorf("a current net that is no id: found error %v", err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), currentFile), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(run); !errors.Is(err, ErrID) {
		t.Errorf("a damaged record of the current net: found error %v", err)
	}
}

func TestFindLearn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "features=All + Hand,width=64")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "directory without nets") {
		t.Errorf("an empty directory: found error %v", err)
	}
	for _, name := range []string{"net.onnx", "net.nnue"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Find(dir)
		if err != nil || f.Path != file || f.Name != filepath.Base(dir) || f.Origin == "" {
			t.Errorf("found %+v, error %v, expected %s", f, err, file)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, sweepFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "found a sweep") {
		t.Errorf("a sweep: found error %v", err)
	}
}

func TestFindFile(t *testing.T) {
	f, err := Find("some/where/" + strings.Repeat("n", 40) + ".nnue")
	if err != nil || f.Name != strings.Repeat("n", 32) || f.Origin != "" {
		t.Errorf("found %+v, error %v", f, err)
	}
	// A name is cut between characters.
	want := strings.Repeat("я", 15) + "x"
	if f, err := Find(want + "яя.nnue"); err != nil || f.Name != want {
		t.Errorf("found %+v, error %v, expected the name %q", f, err, want)
	}
}
