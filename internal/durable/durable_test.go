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

// Written over other files, files have the same content as new ones.
func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	spare := filepath.Join(dir, "spare")
	if err := os.WriteFile(spare, []byte("of the spare one"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(spare)
	if err != nil {
		t.Fatal(err)
	}
	files := []File{
		{Path: filepath.Join(dir, "new"), Data: []byte("no spare one")},
		{Path: filepath.Join(dir, "over"), Data: []byte("short"), Spare: spare},
		{Path: filepath.Join(dir, "gone"), Data: []byte("the spare one is gone"), Spare: filepath.Join(dir, "none")},
		{Path: filepath.Join(dir, "empty")},
	}
	for range 2 { // the second time the spare file is gone and all files are replaced
		if err := WriteFiles(dir, files); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if got, err := os.ReadFile(f.Path); err != nil || string(got) != string(f.Data) {
				t.Errorf("read %q, %v; want %q", got, err, f.Data)
			}
		}
		if after, err := os.Stat(files[1].Path); err != nil || before != nil && !os.SameFile(before, after) {
			t.Errorf("error %v, expected the file that was the spare one", err)
		}
		before = nil
	}
	files[3].Path = filepath.Join(dir, "none", "f")
	if err := WriteFiles(dir, files); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file in a directory that is not there: error %v, want %v", err, os.ErrNotExist)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, TempPattern)); len(left) != 0 {
		t.Errorf("temporary files left: %q", left)
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
