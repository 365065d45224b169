package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// objects as encoding/json writes them.
var objects = []string{
	"{}", "{}\n", `{"a":1}`, "{\"a\":{\"b\":[1,{}]}}\n", "{\n  \"a\": 1\n}", "{\n  \"a\": \"}\\\"crc32c\\\"\",\n  \"b\": {\n    \"c\": null\n  }\n}\n", "{\n \"a\": 1\n}\n",
}

func TestSum(t *testing.T) {
	for _, object := range objects {
		summed := Sum([]byte(object))
		var all map[string]any
		if err := json.Unmarshal(summed, &all); err != nil || len(all["crc32c"].(string)) != 8 {
			t.Errorf("%q: found %s, error %v", object, summed, err)
		}
		if found, err := Unsum("f", summed, ""); err != nil || string(found) != object {
			t.Errorf("%q: found %q, error %v", object, found, err)
		}
		if found, err := Unsum("f", []byte(object), ""); err != nil || string(found) != object {
			t.Errorf("%q without a checksum: found %q, error %v", object, found, err)
		}
	}
	// The example of docs/formats.md.
	if found, want := string(Sum([]byte("{\n  \"schema\": 1\n}\n"))), "{\n  \"schema\": 1,\n  \"crc32c\": \"c5b9c4de\"\n}\n"; found != want {
		t.Errorf("found %q, expected %q", found, want)
	}
}

// A flipped bit is an error, of the checksum or of JSON.
func TestSumFlippedBits(t *testing.T) {
	for _, object := range objects {
		summed := Sum([]byte(object))
		for i := range 8 * len(summed) {
			bent := bytes.Clone(summed)
			bent[i/8] ^= 1 << (i % 8)
			text, err := Unsum("f", bent, "ask for help")
			if err != nil {
				if !errors.Is(err, ErrSum) {
					t.Errorf("%q: error %v", bent, err)
				}
				continue
			}
			var found map[string]any
			if json.Unmarshal(text, &found) == nil {
				t.Errorf("bit %d of %q: found %v and no error", i, summed, found)
			}
		}
	}
}

func TestReadSummed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if _, err := ReadSummed(path, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	if err := WriteSummed(path, []byte("{\"starts\":17}\n")); err != nil {
		t.Fatal(err)
	}
	text, err := ReadSummed(path, "")
	if err != nil || string(text) != "{\"starts\":17}\n" {
		t.Errorf("found %q, error %v", text, err)
	}
	bent, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bent[bytes.IndexByte(bent, '7')] ^= 1
	if err := os.WriteFile(path, bent, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = ReadSummed(path, "put it back from a backup")
	want := path + ": damaged file: found checksum " // of 16, which follows
	if !errors.Is(err, ErrSum) || !bytes.HasPrefix([]byte(err.Error()), []byte(want)) || !bytes.HasSuffix([]byte(err.Error()), []byte(": put it back from a backup")) {
		t.Errorf("found error %v, expected one that begins with %q", err, want)
	}
}
