// Package durable writes files so that a crash at any moment leaves either the
// old content or the new one, never a part of it.
package durable

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// TempPattern matches the names of the temporary files that a crash may leave;
// no other file should have such a name.
const TempPattern = ".tmp-*"

// WriteFile replaces path with data: temporary file, fsync, rename, fsync of
// the directory.
func WriteFile(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write replaces path with what write produces. If write fails, path keeps its
// content and the error is returned as it is. The file has the permissions that
// os.Create gives. A symbolic link stays, and the file it names is replaced. What is
// no regular file, as a device or a pipe, is written to.
func Write(path string, write func(w io.Writer) error) error {
	return WriteAll([]string{path}, func(w []io.Writer) error { return write(w[0]) })
}

// WriteAll is Write for several files: none is replaced before all are written.
func WriteAll(paths []string, write func(w []io.Writer) error) (err error) {
	files := make([]*file, 0, len(paths))
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.leave())
		}
	}()
	writers := make([]io.Writer, len(paths))
	for i, path := range paths {
		f, err := openFile(path)
		if err != nil {
			return err
		}
		files = append(files, f)
		writers[i] = f.File
	}
	if err := write(writers); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.finish(); err != nil {
			return err
		}
	}
	for _, f := range files {
		if err := f.rename(); err != nil {
			return err
		}
	}
	return nil
}

// file is a file being written in place of another, or one written to as it is.
type file struct {
	*os.File
	path string // empty: it is written to as it is, or has its name
	open bool
}

func openFile(path string) (*file, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &file{File: f, open: true}, err
	}
	path = follow(path)
	f, err := CreateTemp(filepath.Dir(path))
	return &file{File: f, path: path, open: true}, err
}

// follow returns the path that a chain of symbolic links leads to, whether something is there
// or not yet.
func follow(path string) string {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// finish makes durable what was written.
func (f *file) finish() error {
	var err error
	if f.path != "" {
		err = f.Sync()
	}
	f.open = false
	return errors.Join(err, f.Close())
}

// rename gives the file its name.
func (f *file) rename() error {
	if f.path == "" {
		return nil
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	dir := filepath.Dir(f.path)
	f.path = ""
	return SyncDir(dir)
}

// leave removes a file that has not got its name.
func (f *file) leave() (err error) {
	if f.open {
		err = f.Close()
	}
	if f.path != "" {
		os.Remove(f.Name())
	}
	return err
}

// WritePrivate replaces path with data as WriteFile does, by a file that only its
// owner may read.
func WritePrivate(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), TempPattern) // mode 0600
	if err != nil {
		return err
	}
	f := &file{File: temp, path: path, open: true}
	if _, err = f.Write(data); err == nil {
		err = f.finish()
	}
	if err == nil {
		err = f.rename()
	}
	return errors.Join(err, f.leave())
}

// CreateTemp creates a file whose name matches TempPattern. Unlike those of
// os.CreateTemp it may be read by whom the umask allows: it is to take the place
// of an ordinary file.
func CreateTemp(dir string) (*os.File, error) {
	for {
		name := strings.Replace(TempPattern, "*", rand.Text(), 1)
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// MkdirAll makes the directories of path that are missing, as os.MkdirAll does, and each of
// them durable in the one that it is in.
func MkdirAll(path string, perm fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	if parent != path {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path, perm); err != nil {
		return err
	}
	return SyncDir(parent)
}

// SyncDir makes the creations, renames and removals in dir durable. Windows
// offers no such call and needs none.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Glob returns the paths, in order, of what lies in dir under a name that matches
// pattern. In the name of dir itself no character has a special meaning. A
// directory that cannot be read holds nothing.
func Glob(dir, pattern string) ([]string, error) {
	paths, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range paths {
		paths[i] = filepath.Join(dir, name)
	}
	return paths, err
}

// RemoveTemps deletes the temporary files that a crash left in dir.
func RemoveTemps(dir string) error {
	names, err := Glob(dir, TempPattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
