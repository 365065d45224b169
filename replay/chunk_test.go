package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"reflect"
	"testing"
)

func someChunks() map[string]Chunk {
	return map[string]Chunk{
		"first": {
			Buffer: "ab2cd3ef4g", Begin: true, Before: Counts{100, 5, 4000}, Total: Counts{102, 5, 4033},
			Next: Cursor{Segment: 3, Offset: 999}, Games: [][]byte{[]byte("one game"), {0}},
		},
		"last": {Buffer: "ab2cd3ef4g", Changes: 2, End: true, Total: Counts{102, 5, 4033}, Next: Cursor{Segment: 4, Offset: 24}},
	}
}

func TestChunkGolden(t *testing.T) {
	for name, c := range someChunks() {
		path := filepath.Join("testdata", "chunk", "v1", name+".bin")
		if *update {
			writeFile(t, path, c.Append(nil))
		}
		data := readFile(t, path)
		if !bytes.Equal(data, c.Append(nil)) {
			t.Errorf("%s is encoded differently", name)
		}
		if got, err := DecodeChunk(data); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: found %+v, error %v, expected %+v", name, got, err, c)
		}
	}
}

func TestDecodeChunkRefuses(t *testing.T) {
	c := someChunks()["first"]
	data := c.Append(nil)
	for n := range data {
		if _, err := DecodeChunk(data[:n]); !errors.Is(err, ErrChunk) {
			t.Errorf("cut at %d: %v", n, err)
		}
		flipped := bytes.Clone(data)
		flipped[n] ^= 1
		if _, err := DecodeChunk(flipped); !errors.Is(err, ErrChunk) && !errors.Is(err, ErrVersion) {
			t.Errorf("byte %d: %v", n, err)
		}
	}
	data[4] = chunkVersion + 1
	if _, err := DecodeChunk(data); !errors.Is(err, ErrVersion) {
		t.Errorf("later version: %v", err)
	}
}

// FuzzDecodeChunk feeds arbitrary bytes to the decoder, with their checksum made
// right: what is decoded is encoded to the same bytes.
func FuzzDecodeChunk(f *testing.F) {
	for _, c := range someChunks() {
		f.Add(c.Append(nil)) // whole
	}
	f.Add([]byte("ZHRC\x01"))                                  // cut short
	f.Add(append([]byte("ZHRC\x01\x07"), make([]byte, 90)...)) // a flag too many
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 {
			body := bytes.Clone(data[:len(data)-4])
			data = binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
		}
		c, err := DecodeChunk(data)
		if err != nil {
			return
		}
		if again := c.Append(nil); !bytes.Equal(again, data) {
			t.Fatalf("decoded %+v, which is encoded differently", c)
		}
	})
}
