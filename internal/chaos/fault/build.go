//go:build linux

package fault

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed std/*.txt
var std embed.FS

// patches rename functions of the standard library, in whose place those of the
// embedded files come.
var patches = map[string]map[string]string{
	"time/time.go": {"func Now() Time {": "func rightNow() Time {"},
	"os/file.go": {
		"func (f *File) Write(b []byte) (n int, err error) {":                  "func (f *File) plainWrite(b []byte) (n int, err error) {",
		"func (f *File) WriteAt(b []byte, off int64) (n int, err error) {":     "func (f *File) plainWriteAt(b []byte, off int64) (n int, err error) {",
		"func (f *File) ReadFrom(r io.Reader) (n int64, err error) {":          "func (f *File) plainReadFrom(r io.Reader) (n int64, err error) {",
		"func OpenFile(name string, flag int, perm FileMode) (*File, error) {": "func plainOpenFile(name string, flag int, perm FileMode) (*File, error) {",
		"func Rename(oldpath, newpath string) error {":                         "func plainRename(oldpath, newpath string) error {",
		"func Mkdir(name string, perm FileMode) error {":                       "func plainMkdir(name string, perm FileMode) error {",
	},
	"os/file_posix.go": {
		"func (f *File) Sync() error {":               "func (f *File) plainSync() error {",
		"func (f *File) Truncate(size int64) error {": "func (f *File) plainTruncate(size int64) error {",
	},
	"os/file_unix.go": {"func Remove(name string) error {": "func plainRemove(name string) error {"},
}

// added are the embedded files, by where they are compiled.
var added = map[string]string{"time/zfault.go": "std/time_fault.go.txt", "os/zfault.go": "std/os_fault.go.txt"}

// Overlay writes into dir what makes a build one whose files and clock fail on demand,
// and returns the path to give go build with -overlay. The error says which function of
// the standard library was not found, if this Go is another than expected.
func Overlay(ctx context.Context, dir string) (path string, err error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	replace := map[string]string{}
	write := func(name, text string) error {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		replace[filepath.Join(src, name)] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	for name, functions := range patches {
		data, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return "", err
		}
		text := string(data)
		for from, to := range functions {
			if n := strings.Count(text, "\n"+from); n != 1 {
				return "", fmt.Errorf("%s of this Go: found %q %d times, expected it once", name, from, n)
			}
			text = strings.Replace(text, "\n"+from, "\n"+to, 1)
		}
		if err := write(name, text); err != nil {
			return "", err
		}
	}
	for name, from := range added {
		text, err := std.ReadFile(from)
		if err != nil {
			return "", err
		}
		if err := write(name, string(text)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}
