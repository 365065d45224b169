package tfevents

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBytes(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return time.Unix(1_700_000_000, 500_000_000) }
	w, err := Create(dir, 7, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(300, Scalar{"loss/train", 0.25}, Scalar{"lr", 1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "events.out.tfevents.1700000000.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, error %v", files, err)
	}
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct{ what, bytes string }{
		{"version", "1a0d" + hex.EncodeToString([]byte("brain.Event:2"))},
		{"start of a session at step 8", "10083a020801"},
		{"step 300 and its summary", "10ac022a" + "1e" +
			"0a11" + "0a0a" + hex.EncodeToString([]byte("loss/train")) + "150000803e" +
			"0a09" + "0a02" + hex.EncodeToString([]byte("lr")) + "150000803f"},
	} {
		want, err := hex.DecodeString(part.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(got, want) {
			t.Errorf("%s: %x lacks %x", part.what, got, want)
		}
	}
}

// TestMask: the CRC-32C of "123456789" is e3069283.
func TestMask(t *testing.T) {
	crc := uint32(0xe3069283)
	want := (crc>>15 | crc<<17) + 0xa282ead8
	if got := masked([]byte("123456789")); got != want {
		t.Errorf("masked checksum %08x, want %08x", got, want)
	}
}
