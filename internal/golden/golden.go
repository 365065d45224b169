// Package golden finds, reads and writes the golden files of formats that have
// versions: testdata/vN holds what version N wrote. Files whose name ends in .gz
// are compressed by gzip.
package golden

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Present returns the path of the named file of a version.
func Present(version int, name string) string {
	return filepath.Join("testdata", fmt.Sprintf("v%d", version), name)
}

// Versions returns the paths of the files named like present of all versions,
// present among them.
func Versions(t testing.TB, present string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "v*", filepath.Base(present)))
	if err != nil || !slices.Contains(paths, present) {
		t.Fatalf("no %s (%v)", present, err)
	}
	return paths
}

// Read returns the contents of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && zipped(path) {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// Write writes a file and makes its directory.
func Write(t testing.TB, path string, data []byte) {
	t.Helper()
	if zipped(path) {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(data)
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		data = b.Bytes()
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func zipped(path string) bool { return strings.HasSuffix(path, ".gz") }
