package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

func TestProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu")
	for _, c := range []struct {
		path string
		code int
	}{{path, 0}, {filepath.Join(t.TempDir(), "none", "cpu"), 1}} {
		root, ran := &cobra.Command{Use: "selfplay"}, false
		root.AddCommand(&cobra.Command{Use: "work", Run: func(*cobra.Command, []string) { ran = true }})
		var out bytes.Buffer
		if code := Run(root, []string{"work", "--cpuprofile", c.path}, nil, &out, &out); code != c.code || ran != (c.code == 0) {
			t.Errorf("%s: exit code %d, want %d; ran: %v: %s", c.path, code, c.code, ran, &out)
		}
	}
	if data, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		t.Errorf("found %d bytes, error %v, expected a profile, compressed by gzip", len(data), err)
	}
}
