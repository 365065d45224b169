package bus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

var bundleGames = [][]byte{[]byte("ZHGM one game"), {0}, bytes.Repeat([]byte{0xa5}, 300)}

var bundleGolden = golden.Present(1, "games.bundle")

func TestGoldenBundles(t *testing.T) {
	if *update {
		b, err := EncodeBundle(bundleGames)
		if err != nil {
			t.Fatal(err)
		}
		golden.Write(t, bundleGolden, b)
	}
	for _, path := range golden.Versions(t, bundleGolden) {
		games, err := DecodeBundle(golden.Read(t, path))
		if err != nil || !slices.EqualFunc(games, bundleGames, bytes.Equal) {
			t.Errorf("%s: %q, %v", path, games, err)
		}
	}
	if b, err := EncodeBundle(bundleGames); err != nil || !bytes.Equal(b, golden.Read(t, bundleGolden)) {
		t.Errorf("%s is not what EncodeBundle writes (%v)", bundleGolden, err)
	}
}

func TestEncodeBundleRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		games [][]byte
		want  error
	}{
		"none":       {nil, ErrBundle},
		"empty game": {[][]byte{{1}, nil}, ErrBundle},
		"many games": {slices.Repeat([][]byte{{1}}, MaxBundleGames+1), ErrBundle},
		"large game": {[][]byte{make([]byte, MaxGameBytes+1)}, ErrTooLarge},
		"large":      {slices.Repeat([][]byte{make([]byte, MaxGameBytes)}, 15), ErrTooLarge},
	} {
		if b, err := EncodeBundle(c.games); b != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: got %d bytes, %v; want %v", name, len(b), err, c.want)
		}
	}
	for name, games := range map[string][][]byte{
		"most games":   slices.Repeat([][]byte{{1}}, MaxBundleGames),
		"largest game": {make([]byte, MaxGameBytes)},
	} {
		if b, err := EncodeBundle(games); err != nil || len(b) != BundleBytes(games...) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

func TestDecodeBundleRefuses(t *testing.T) {
	good, err := EncodeBundle(bundleGames)
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := DecodeBundle(good[:n]); !errors.Is(err, ErrBundle) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := DecodeBundle(bad); !errors.Is(err, ErrBundle) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	if _, err := DecodeBundle(append(bytes.Clone(good), 0)); !errors.Is(err, ErrBundle) {
		t.Errorf("one byte more: %v", err)
	}
	for name, edit := range map[string]func(b []byte) []byte{
		"version":   func(b []byte) []byte { b[offBundleVersion]++; return b },
		"no games":  func(b []byte) []byte { return append(b[:offBundleCount], 0, 0, 0, 0, 0, 0) },
		"fewer":     func(b []byte) []byte { b[offBundleCount]--; return b },
		"more":      func(b []byte) []byte { b[offBundleCount]++; return b },
		"empty":     func(b []byte) []byte { binary.LittleEndian.PutUint32(b[offBundleGames:], 0); return b },
		"too long":  func(b []byte) []byte { binary.LittleEndian.PutUint32(b[offBundleGames:], 1<<31); return b },
		"too large": func(b []byte) []byte { return append(b, make([]byte, MaxPayload)...) },
	} {
		bad := edit(bytes.Clone(good))
		binary.LittleEndian.PutUint32(bad[offBundleCRC:], bundleCRC(bad))
		if _, err := DecodeBundle(bad); !errors.Is(err, ErrBundle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBareRecordIsBundleOfOne(t *testing.T) {
	for _, b := range [][]byte{[]byte("ZHGM"), []byte("ZHGS and a seal")} {
		if games, err := DecodeBundle(b); err != nil || len(games) != 1 || !bytes.Equal(games[0], b) {
			t.Errorf("%q: %q, %v", b, games, err)
		}
	}
}

func FuzzDecodeBundle(f *testing.F) {
	good, err := EncodeBundle(bundleGames)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)                                      // a bundle
	f.Add(good[:len(good)-1])                        // cut
	f.Add([]byte("ZHGM"))                            // a record alone
	f.Add([]byte("ZHGB\x01\xff\xff\x00\x00\x00"))    // shorter than its head
	f.Add(append(good[:offBundleGames:11], 1, 2, 3)) // ends within a length
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzed(t, b)
		if len(b) < offBundleGames { // and again with a checksum that fits
			return
		}
		b = bytes.Clone(b)
		copy(b, bundleMagic)
		b[offBundleVersion] = bundleVersion
		binary.LittleEndian.PutUint32(b[offBundleCRC:], bundleCRC(b))
		fuzzed(t, b)
	})
}

// fuzzed decodes b; what is a bundle is encoded to the same bytes.
func fuzzed(t *testing.T, b []byte) {
	games, err := DecodeBundle(b)
	if err != nil {
		if !errors.Is(err, ErrBundle) {
			t.Fatalf("error %v", err)
		}
		return
	}
	if string(b[:len(bundleMagic)]) != bundleMagic || len(b) > MaxPayload {
		return
	}
	if again, err := EncodeBundle(games); err != nil || !bytes.Equal(again, b) {
		t.Fatalf("encoded again: %d bytes of %d, %v", len(again), len(b), err)
	}
}
