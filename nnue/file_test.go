package nnue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// tiny is about the smallest architecture there is; its files have 2 MB.
func tiny() nnue.Architecture {
	a := nnue.Narrow(16)
	a.Stacks, a.PSQT, a.Buckets, a.L2, a.L3 = 1, 1, nnue.BoardPieces, 2, 3
	return a
}

func file(t testing.TB, n *nnue.Network) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// equal compares all that two networks hold.
func equal(a, b *nnue.Network) bool {
	if a.Architecture() != b.Architecture() || a.Description != b.Description ||
		!slices.Equal(a.FTBias, b.FTBias) || !reflect.DeepEqual(a.Stacks, b.Stacks) {
		return false
	}
	for f := range a.Features().Size() {
		if !slices.Equal(a.FTRow(f), b.FTRow(f)) || !slices.Equal(a.PSQTRow(f), b.PSQTRow(f)) {
			return false
		}
	}
	return true
}

func TestOwnFormatRoundTrip(t *testing.T) {
	for _, a := range append(architectures(), tiny()) {
		v, err := chess.ParseVariant(a.Variant)
		if err != nil {
			t.Fatal(err)
		}
		n := random(t, a, 1)
		n.Description = "any\x00bytes\xff"
		for i := range n.Stacks[0].L2Weights {
			n.Stacks[0].L2Weights[i] = int8(i) // padding too
		}
		data := file(t, n)
		path := filepath.Join(t.TempDir(), "net")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := nnue.ReadFile(path, v)
		if err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		if !equal(got, n) {
			t.Errorf("%v: network changes when written and read", a)
		}
		if !bytes.Equal(file(t, got), data) {
			t.Errorf("%v: file changes when read and written", a)
		}
	}
}

// TestOwnHeader spells out the header that is written, field by field.
func TestOwnHeader(t *testing.T) {
	data := file(t, random(t, tiny(), 1))
	const header = "53504e4e55450d0a" + // magic
		"01000000" + "86000000" + "00d80000" + "10000000" + "01000000" + "01000000" + // version, H, features, width, columns, stacks
		"01000000" + "02000000" + "03000000" + // bucket rule, layers
		"01000000" + "7f000000" + "40000000" + "10000000" + "58020000" + // activation, scales
		"7c9f0079f4446e09" + "f8601e0000000000" + // name hash, S
		"0a000000" + "6372617a79686f757365" + "08000000" + "48616c664b417632" + // crazyhouse, HalfKAv2
		"18000000" + "72616e646f6d206e6574776f726b20666f72207465737473" // description
	if got := hex.EncodeToString(data[:len(header)/2]); got != header {
		t.Errorf("header\n%s, want\n%s", got, header)
	}
}

func TestReadRefusesTruncated(t *testing.T) {
	data := file(t, random(t, tiny(), 1))
	if _, err := nnue.Parse(data, chess.Crazyhouse); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(data); i++ {
		if i > 4096 && i < len(data)-4096 {
			i += 996 // amid the weights only the length tells
		}
		if _, err := nnue.Parse(data[:i:i], chess.Crazyhouse); !errors.Is(err, nnue.ErrFormat) {
			t.Fatalf("%d of %d bytes: %v, want %v", i, len(data), err, nnue.ErrFormat)
		}
	}
	if _, err := nnue.Parse(append(data, 0), chess.Crazyhouse); !errors.Is(err, nnue.ErrFormat) {
		t.Errorf("one byte more: %v, want %v", err, nnue.ErrFormat)
	}
}

func TestReadRefusesChangedBytes(t *testing.T) {
	data := file(t, random(t, tiny(), 1))
	places := []int{len(data) - 1, len(data) - 32, len(data) - 33, len(data) / 2}
	for i := range 134 { // the header
		places = append(places, i)
	}
	for _, i := range places {
		data[i] ^= 0x10
		if _, err := nnue.Parse(data, chess.Crazyhouse); err == nil {
			t.Errorf("byte %d changed: read without error", i)
		}
		data[i] ^= 0x10
	}
	data[len(data)/2]++
	if _, err := nnue.Parse(data, chess.Crazyhouse); !errors.Is(err, nnue.ErrChecksum) {
		t.Errorf("weight changed: %v, want %v", err, nnue.ErrChecksum)
	}
}

// change returns an edit that sets one 32-bit word.
func change(offset int, v uint32) func([]byte) []byte {
	return func(data []byte) []byte {
		binary.LittleEndian.PutUint32(data[offset:], v)
		return data
	}
}

func TestErrorsNameFoundAndExpected(t *testing.T) {
	own := file(t, random(t, tiny(), 1))
	fairy := fixtureA().data
	n := len("crazyhouse fixture A")
	short := func(data []byte) []byte { return data[:len(data)-1] }
	long := func(data []byte) []byte { return append(data, 0) }
	for _, c := range []struct {
		name string
		data []byte
		edit func([]byte) []byte
		is   error
		says []string
	}{
		{"short", fairy, short, nnue.ErrFormat, []string{"found 58534755 bytes", "expected 58534756"}},
		{"long", fairy, long, nnue.ErrFormat, []string{"found 58534757 bytes", "expected 58534756"}},
		{"version", fairy, change(0, 0x7AF32F17), nnue.ErrFormat, []string{"0x7af32f20", "0x7af32f16"}},
		{"HalfKP", fairy, change(0, 0x7AF32F16), nnue.ErrVariant, []string{`found one for "chess"`, `expected one for "crazyhouse"`}},
		{"file hash", fairy, change(4, 1), nnue.ErrFormat, []string{"file hash 0x00000001", "0x3c103e72"}},
		{"transformer", fairy, change(12+n, 1), nnue.ErrFormat, []string{"transformer hash 0x00000001", "0x5f2348b8"}},
		{"stack", fairy, change(58393616+n+17640, 1), nnue.ErrFormat, []string{"hash of stack 1", "0x633376ca"}},
		{"version", own, change(8, 2), nnue.ErrFormat, []string{"version 0x00000002", "0x00000001"}},
		{"header", own, change(12, 1<<30), nnue.ErrFormat, []string{"header of 1073741824 bytes"}},
		{"features", own, change(16, 7), nnue.ErrFormat, []string{"found 7 features", "expected 55296"}},
		{"width", own, change(20, 17), nnue.ErrArchitecture, []string{"width 17", "multiple of 16"}},
		{"columns", own, change(24, 2), nnue.ErrArchitecture, []string{"2 PSQT columns", "expected 1"}},
		{"activation", own, change(44, 4), nnue.ErrArchitecture, []string{"activation 4"}},
		{"layer scale", own, change(52, 65), nnue.ErrArchitecture, []string{"layer scale 65", "power of two"}},
		{"output scale", own, change(56, 0), nnue.ErrArchitecture, []string{"output scale 0"}},
		{"units", own, change(60, 1<<30), nnue.ErrArchitecture, []string{"units 1073741824"}},
		{"layers", own, change(36, 0), nnue.ErrArchitecture, []string{"second layer of 3 without a first"}},
		{"rule", own, change(32, 9), nnue.ErrArchitecture, []string{"bucket rule 9"}},
		{"scale", own, change(48, 255), nnue.ErrFormat, []string{"transformer scale 0x000000ff", "0x0000007f"}},
		{"name hash", own, change(64, 0), nnue.ErrFormat, []string{`feature set "HalfKAv2"`}},
		{"parameters", own, change(72, 5), nnue.ErrFormat, []string{"found 5 bytes of parameters"}},
		{"variant", own, change(80, 1<<20), nnue.ErrFormat, []string{"variant of 1048576 bytes"}},
		{"text", []byte("hello world"), bytes.ToUpper, nnue.ErrFormat, []string{`"HELLO WO"`, "SPNNUE", "0x7af32f20"}},
	} {
		_, err := nnue.Parse(c.edit(bytes.Clone(c.data)), chess.Crazyhouse)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.name, err, c.is)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: error %q does not say %q", c.name, err, s)
			}
		}
	}
}

// TestOtherVariant: a chess network carries the same hash words and is known
// by its size alone.
func TestOtherVariant(t *testing.T) {
	own := tiny()
	own.Variant = chess.Chess.Name
	for _, a := range []nnue.Architecture{nnue.FairyFor(chess.Chess), own} {
		n, err := nnue.New(a)
		if err != nil {
			t.Fatal(err)
		}
		data := file(t, n)
		if _, err := nnue.Parse(data, chess.Crazyhouse); !errors.Is(err, nnue.ErrVariant) ||
			!strings.Contains(err.Error(), "chess") || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%v read for crazyhouse: %v, want %v", a, err, nnue.ErrVariant)
		}
		got, err := nnue.ReadVariant(bytes.NewReader(data), chess.Chess)
		if err != nil || got.Architecture() != a {
			t.Errorf("%v read for chess: %v", a, err)
		}
	}
	if _, err := nnue.ReadVariant(bytes.NewReader(fixtureA().data), chess.Chess); !errors.Is(err, nnue.ErrVariant) {
		t.Errorf("crazyhouse network read for chess: %v, want %v", err, nnue.ErrVariant)
	}
}

// TestAllocationBounded: a header that claims a large network does not make the
// reader allocate one.
func TestAllocationBounded(t *testing.T) {
	data := change(20, nnue.MaxWidth)(file(t, random(t, tiny(), 1)))[:4096]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := nnue.Parse(data, chess.Crazyhouse)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, nnue.ErrFormat) {
		t.Errorf("%v, want %v", err, nnue.ErrFormat)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(data))
	}
}

func TestReadErrors(t *testing.T) {
	if _, err := nnue.ReadFile(filepath.Join(t.TempDir(), "none"), chess.Crazyhouse); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := nnue.ReadFile(t.TempDir(), chess.Crazyhouse); !errors.Is(err, nnue.ErrFormat) {
		t.Errorf("directory: %v, want %v", err, nnue.ErrFormat)
	}
	broken := io.MultiReader(strings.NewReader("SPNNUE\r\n"), brokenReader{})
	if _, err := nnue.Read(broken); !errors.Is(err, errBroken) {
		t.Errorf("broken reader: %v, want %v", err, errBroken)
	}
	if err := random(t, tiny(), 1).Write(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("broken writer: %v, want %v", err, errBroken)
	}
	n := random(t, tiny(), 1)
	n.FTBias = n.FTBias[1:]
	if err := n.Write(io.Discard); !errors.Is(err, nnue.ErrArchitecture) {
		t.Errorf("network with a short slice written: %v, want %v", err, nnue.ErrArchitecture)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// FuzzRead: no bytes crash the reader, and what it accepts it writes back byte
// for byte. Whatever header the fuzzer makes up is also tried in front of
// parameters and a right checksum, so that good headers are accepted.
func FuzzRead(f *testing.F) {
	a := tiny()
	n, err := nnue.New(a)
	if err != nil {
		f.Fatal(err)
	}
	data := file(f, n)
	header := int(binary.LittleEndian.Uint32(data[12:]))
	f.Add(data[:header])
	f.Add(fixtureA().data[:36])
	f.Add(fixtureK().data[:193])
	f.Add([]byte("SPNNUE\r\n"))
	parameters := data[header : len(data)-sha256.Size]
	f.Fuzz(func(t *testing.T, head []byte) {
		whole := append(bytes.Clone(head), parameters...)
		sum := sha256.Sum256(whole)
		for _, data := range [][]byte{head, append(whole, sum[:]...)} {
			n, err := nnue.Parse(data, chess.Crazyhouse)
			if err != nil {
				continue
			}
			if !bytes.Equal(file(t, n), data) {
				t.Errorf("file changes when read and written")
			}
		}
	})
}
