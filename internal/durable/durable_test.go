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

// TestWriteThrough: a link stays and what it names is replaced; what is no regular file is
// written to.
func TestWriteThrough(t *testing.T) {
	dir := t.TempDir()
	file, link, null := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "null")
	for from, to := range map[string]string{link: file, null: os.DevNull} {
		if err := os.Symlink(to, from); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip(err) // without the right to make links
			}
			t.Fatal(err)
		}
		for _, text := range []string{"one", "two"} { // the link leads nowhere, then to a file
			if err := WriteFile(from, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Lstat(from); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", from, err)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "two" {
		t.Errorf("found %q behind the link, %v", text, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the device is one no more: %v", err)
	}
}

func TestMkdirAll(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 2 {
		for _, path := range []string{"a/b/c", filepath.Join(t.TempDir(), "d", "e") + "/", "."} {
			if err := MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				t.Errorf("%s: error %v", path, err)
			}
		}
	}
	if err := WriteFile("a/file", nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a/file", "a/file/f"} {
		if err := MkdirAll(path, 0o700); err == nil {
			t.Errorf("%s: found no error where a file is in the way", path)
		}
	}
}
