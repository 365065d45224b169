package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteFileReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"one", "two, longer", ""} {
		if err := WriteFile(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
}

func TestFailedWriteKeepsOldContent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("half of the n"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("error %v, want %v", err, broken)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("content %q after a failed write", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, TempPattern)); len(left) != 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

// The permissions are those of any other new file: the umask's word.
func TestPermissions(t *testing.T) {
	dir := t.TempDir()
	ordinary, err := os.Create(filepath.Join(dir, "ordinary"))
	if err != nil {
		t.Fatal(err)
	}
	defer ordinary.Close()
	want, err := ordinary.Stat()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	if err := WriteFile(path, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, error %v; want %v", got.Mode(), err, want.Mode())
	}
}

func TestRemoveTemps(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateTemp(dir) // as a crash would leave it
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, name := range []string{".tmp-123", "kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveTemps(dir); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 1 || left[0].Name() != "kept" {
		t.Errorf("left %v", left)
	}
}

func TestWritePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WritePrivate(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	info, e := os.Stat(path)
	if err != nil || e != nil || string(data) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("content %q, errors %v and %v, mode %v; want new with 0600", data, err, e, info.Mode())
	}
}
