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
// os.Create gives.
func Write(path string, write func(w io.Writer) error) error {
	f, err := CreateTemp(filepath.Dir(path))
	if err != nil {
		return err
	}
	return replace(path, f, write)
}

// WritePrivate replaces path with data as WriteFile does, by a file that only its
// owner may read.
func WritePrivate(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), TempPattern) // mode 0600
	if err != nil {
		return err
	}
	return replace(path, f, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// replace gives f, once it is written, the name path.
func replace(path string, f *os.File, write func(w io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return SyncDir(filepath.Dir(path))
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
