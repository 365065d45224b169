package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file is written over a removed one, but only once the removal is on disk: with the
// sync of what was written next. Its content is that of a new one.
func TestRecyclerWritesOverRemovedFiles(t *testing.T) {
	dir := t.TempDir()
	p := NewRecycler(dir, 2)
	write := func(names ...string) {
		t.Helper()
		var files []File
		for _, n := range names {
			files = append(files, File{n, []byte(n)})
		}
		if err := p.Write(files...); err != nil {
			t.Fatal(err)
		}
	}
	info := func(name string) os.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write("the-first-file", "b", "beyond")
	first, second := info("the-first-file"), info("b")
	if err := errors.Join(p.Remove("the-first-file"), p.Remove("b"), p.Remove("beyond")); err != nil {
		t.Fatal(err)
	}
	if temps, _ := Glob(dir, TempPattern); len(temps) != 2 {
		t.Errorf("found %v, expected two files to write over", temps)
	}
	write("c")
	if c := info("c"); os.SameFile(c, first) || os.SameFile(c, second) {
		t.Error("a file was written over one whose removal was not synced")
	}
	write("d", "longer-than-the-first-file", "e")
	for _, name := range []string{"d", "longer-than-the-first-file"} {
		if i := info(name); !os.SameFile(i, first) && !os.SameFile(i, second) {
			t.Errorf("%s was created, expected a file written over", name)
		}
	}
	for _, name := range []string{"c", "d", "longer-than-the-first-file", "e"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != name {
			t.Errorf("%s: read %q, error %v", name, data, err)
		}
	}
	if err := p.Remove("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: error %v, want %v", err, fs.ErrNotExist)
	}
}

// What a failed write did not come to use is still written over.
func TestFailedWriteKeepsSpares(t *testing.T) {
	dir := t.TempDir()
	p := NewRecycler(dir, 10)
	var files []File
	for _, name := range []string{"a", "b", "c", "d"} {
		files = append(files, File{name, nil})
	}
	if err := p.Write(files...); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := p.Remove(f.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Write(File{"e", nil}); err != nil { // with the sync that makes them spares
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(p.spares[1]), os.Mkdir(p.spares[1], 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(files...); err == nil {
		t.Fatal("over a directory: found no error")
	}
	if temps, err := Glob(dir, TempPattern); err != nil || len(temps) != 2 || len(p.spares) != 2 {
		t.Errorf("found %v, error %v, and %d to write over; expected the last two", temps, err, len(p.spares))
	}
}

// A failed write leaves no temporary file, and what it took to write over is not missed.
func TestRecyclerAfterFailedWrite(t *testing.T) {
	dir := t.TempDir()
	p := NewRecycler(dir, 10)
	if err := errors.Join(p.Write(File{"a", nil}, File{"b", nil}), p.Remove("a"), p.Write(File{"c", nil}), p.Remove("b")); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(File{"d", nil}, File{filepath.Join("none", "e"), nil}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a directory that is not there: error %v, want %v", err, fs.ErrNotExist)
	}
	temps, err := Glob(dir, TempPattern)
	if err != nil || len(temps) != 1 {
		t.Errorf("found %v, error %v, expected the file of b alone", temps, err)
	}
	for _, f := range temps {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"f", "g", "h"} { // that of b would be written over
		if err := p.Write(File{name, []byte(name)}); err != nil {
			t.Fatal(err)
		}
	}
}
