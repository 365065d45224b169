package golden

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	data := bytes.Repeat([]byte("golden "), 1000)
	for _, name := range []string{"a.bin", "a.bin.gz"} {
		for version := 1; version <= 2; version++ {
			Write(t, Present(version, name), data)
		}
		if got := Versions(t, Present(2, name)); !slices.Equal(got, []string{Present(1, name), Present(2, name)}) {
			t.Errorf("%s: found %q", name, got)
		}
		if !bytes.Equal(Read(t, Present(1, name)), data) {
			t.Errorf("%s is read otherwise than written", name)
		}
	}
	if info, err := os.Stat(Present(1, "a.bin.gz")); err != nil || info.Size() >= int64(len(data)) {
		t.Errorf("a.bin.gz is not compressed (%v)", err)
	}
}
