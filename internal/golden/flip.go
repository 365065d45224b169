package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Flip flips every bit of the file at path in turn and reads the file each time: read has to
// return what it returns of the whole file, or an error that names the file. It returns how
// many flipped bits made a difference. The file is whole again at the end.
func Flip(t testing.TB, path string, read func() (any, error)) (told int) {
	t.Helper()
	whole := Read(t, path)
	want, err := read()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		if err := os.WriteFile(path, data, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	defer write(whole)
	for i := range 8 * len(whole) {
		bent := bytes.Clone(whole)
		bent[i/8] ^= 1 << (i % 8)
		write(bent)
		found, err := read()
		switch {
		case err != nil && !strings.Contains(err.Error(), filepath.Base(path)):
			t.Fatalf("bit %d of byte %d of %s: the error does not name the file: %v", i%8, i/8, path, err)
		case err == nil && !reflect.DeepEqual(found, want):
			t.Fatalf("bit %d of byte %d of %s: read as %+v, expected %+v or an error\n%s", i%8, i/8, path, found, want, bent)
		case err != nil:
			told++
		}
	}
	return told
}
