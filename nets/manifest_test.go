package nets

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// testKey is the key whose seed is 32 times b.
func testKey(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

func testManifest() Manifest {
	return Manifest{
		Schema: ManifestSchema, ID: Hash([]byte("net")), Size: 3, Kind: KindNNUE,
		Variant: "crazyhouse", Features: "HalfKAv2", Architecture: "512x2-16-32-1 <8 stacks>",
		Parent: Hash([]byte("parent")), Generation: 7, Step: 12345, Samples: 1 << 60, Games: 4321,
		HeldOutLoss: 0.0123456789, Seed: math.MaxUint64, Build: "v0.1.0",
	}
}

func signedManifest(t testing.TB) Manifest {
	t.Helper()
	m := testManifest()
	if err := m.Sign(testKey(1)); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifestRoundTrip(t *testing.T) {
	for _, m := range []Manifest{testManifest(), signedManifest(t)} {
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		if got != m {
			t.Errorf("got %+v\nwant %+v", got, m)
		}
	}
}

// goldenManifests are the manifests of the present schema that are pinned, by
// file: one without the keys psqt_start and run, which earlier builds did not write,
// and ones with them.
func goldenManifests(t *testing.T) map[string][]byte {
	t.Helper()
	plain, started, named := testManifest(), testManifest(), testManifest()
	started.PSQTStart = "pieces"
	named.Run = "k3x7q2mf4a"
	files := map[string][]byte{}
	for name, m := range map[string]*Manifest{"manifest.json": &plain, "manifest-psqt.json": &started, "manifest-run.json": &named} {
		if err := m.Sign(testKey(1)); err != nil {
			t.Fatal(err)
		}
		b, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Join("testdata", fmt.Sprintf("v%d", ManifestSchema), name)] = b
	}
	return files
}

// TestManifestGolden reads and verifies manifests of every schema ever written.
// Those of the present schema pin the file's bytes and, through the signature,
// the signed bytes: Ed25519 is deterministic.
func TestManifestGolden(t *testing.T) {
	present := goldenManifests(t)
	for path, b := range present {
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	paths, err := filepath.Glob("testdata/v*/manifest*.json")
	if err != nil {
		t.Fatal(err)
	}
	for path := range present {
		if !slices.Contains(paths, path) {
			t.Fatalf("no %s", path)
		}
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := present[path]; ok && !bytes.Equal(b, data) {
			t.Errorf("encoding changed:\n%s\nwant\n%s", b, data)
		}
		old, err := ParseManifest(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := old.Verify(testKey(1).Public().(ed25519.PublicKey)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestVerifyEveryField changes one field at a time and expects the signature
// to notice.
func TestVerifyEveryField(t *testing.T) {
	pub := testKey(1).Public().(ed25519.PublicKey)
	m := signedManifest(t)
	if err := m.Verify(pub); err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[Manifest]().NumField() {
		m := signedManifest(t)
		f := reflect.ValueOf(&m).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(strings.Repeat("0", max(1, len(f.String()))))
		case reflect.Int, reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		case reflect.Float64:
			f.SetFloat(f.Float() * 2)
		default:
			t.Fatalf("field of kind %v", f.Kind())
		}
		if err := m.Verify(pub); !errors.Is(err, ErrSignature) {
			t.Errorf("%s changed: %v", reflect.TypeFor[Manifest]().Field(i).Name, err)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	m := signedManifest(t)
	if err := m.Verify(testKey(2).Public().(ed25519.PublicKey)); !errors.Is(err, ErrSignature) {
		t.Errorf("other key: %v", err)
	}
	unsigned := testManifest()
	if err := unsigned.Verify(testKey(1).Public().(ed25519.PublicKey)); !errors.Is(err, ErrSignature) {
		t.Errorf("unsigned: %v", err)
	}
	if err := m.Verify(nil); !errors.Is(err, ErrKey) {
		t.Errorf("no key: %v", err)
	}
	if err := m.Sign(nil); !errors.Is(err, ErrKey) {
		t.Errorf("sign without key: %v", err)
	}
}

func TestValidateRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Manifest){
		"schema":     func(m *Manifest) { m.Schema = 2 },
		"id":         func(m *Manifest) { m.ID = "../../etc/passwd" },
		"upper id":   func(m *Manifest) { m.ID = strings.ToUpper(m.ID) },
		"parent":     func(m *Manifest) { m.Parent = "x" },
		"size":       func(m *Manifest) { m.Size = -1 },
		"kind":       func(m *Manifest) { m.Kind = "" },
		"variant":    func(m *Manifest) { m.Variant = "" },
		"generation": func(m *Manifest) { m.Generation = -1 },
		"loss":       func(m *Manifest) { m.HeldOutLoss = math.NaN() },
		"long":       func(m *Manifest) { m.Build = strings.Repeat("x", maxText+1) },
		"utf8":       func(m *Manifest) { m.Build = "\xff" },
		"key":        func(m *Manifest) { m.PublicKey = "00" },
		"signature":  func(m *Manifest) { m.Signature = "zz" },
	} {
		m := testManifest()
		spoil(&m)
		if err := m.Validate(); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Encode(); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: encoded: %v", name, err)
		}
	}
}

func TestParseManifestRefuses(t *testing.T) {
	m := signedManifest(t)
	good, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(good) - 1 { // the last byte is a newline
		if _, err := ParseManifest(good[:n]); !errors.Is(err, ErrManifest) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	for name, b := range map[string][]byte{
		"trailing":     append(bytes.Clone(good), '{'),
		"unknown key":  bytes.Replace(good, []byte(`"kind"`), []byte(`"kinds"`), 1),
		"later schema": bytes.Replace(good, []byte(`"schema": 1`), []byte(`"schema": 2`), 1),
		"not json":     []byte("net"),
		"null":         []byte("null"),
	} {
		if _, err := ParseManifest(b); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseManifest(make([]byte, maxManifestBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
}

// A flipped bit of a signed manifest is found, wherever it is, but for one that changes the
// case of a digit of \u003c, which says the same.
func TestFlippedBitOfManifest(t *testing.T) {
	m := signedManifest(t)
	good, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	key, err := hex.DecodeString(m.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(good) - 1 { // the last byte is a newline
		for bit := range 8 {
			b := bytes.Clone(good)
			b[i] ^= 1 << bit
			found, err := ParseManifest(b)
			if err == nil {
				err = found.Verify(key)
			}
			if err == nil && !(found == m && bytes.Contains(good[max(0, i-5):i], []byte(`\u`))) {
				t.Errorf("bit %d of byte %d, %q: not found", bit, i, b[max(0, i-10):min(len(b), i+10)])
			}
		}
	}
}

func FuzzManifest(f *testing.F) {
	m := signedManifest(f)
	good, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)                                                            // valid and signed
	f.Add(bytes.Replace(good, []byte("0.0123"), []byte("-0e0"), 1))        // another spelling of a number
	f.Add(bytes.Replace(good, []byte("v0.1.0"), []byte("\xff\\ud800"), 1)) // not UTF-8
	f.Add([]byte(`{"schema":1}`))                                          // nearly empty
	f.Add([]byte(`{"SCHEMA":1,"schema":2}`))                               // keys that differ in case
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseManifest(b)
		if err != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatalf("parsed but not encodable: %v", err)
		}
		back, err := ParseManifest(again)
		if err != nil || back != m {
			t.Fatalf("%+v\nbecame %+v (%v)", m, back, err)
		}
		if !json.Valid(again) {
			t.Fatal("encoding is not JSON")
		}
	})
}
