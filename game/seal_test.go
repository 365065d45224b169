package game

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
)

// sealKey is a key made from a name, the same at every call.
func sealKey(name string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(sum[:])
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// TestSeal is the law of seals: Unseal gives back what was sealed and by whom, and
// what reads records reads sealed ones alike.
func TestSeal(t *testing.T) {
	key := sealKey("a")
	for _, g := range []*Game{
		randomGame(chess.Crazyhouse.Start(), newRand(20), 60),
		withPolicies(randomGame(chess.Crazyhouse.Start(), newRand(21), 40), newRand(22)),
	} {
		record := mustEncode(t, g)
		sealed := Seal(record, key)
		if len(sealed) != len(record)+101 {
			t.Errorf("%d bytes sealed in %d", len(record), len(sealed))
		}
		got, by, err := Unseal(sealed)
		if err != nil || !bytes.Equal(got, record) || !by.PublicKey.Equal(publicOf(key)) {
			t.Fatalf("unsealed %x by %x, error %v", got, by.PublicKey, err)
		}
		bare, err := Decode(record)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := Decode(sealed); err != nil || !reflect.DeepEqual(g, bare) {
			t.Errorf("sealed record decodes to %+v, error %v", g, err)
		}
		want, plies, err := Split(record)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := DecodeHeader(sealed); err != nil || h != want {
			t.Errorf("header %+v, error %v", h, err)
		}
		if h, p, err := Split(sealed); err != nil || h != want || !bytes.Equal(p, plies) {
			t.Errorf("split header %+v and %d bytes, error %v", h, len(p), err)
		}
	}
}

// TestUnsealWithoutSeal: what has no seal comes back untouched, whatever it is.
func TestUnsealWithoutSeal(t *testing.T) {
	for _, b := range [][]byte{nil, {}, []byte("ZHG"), []byte("ZHGM"), mustEncode(t, randomGame(chess.Chess.Start(), newRand(23), 9))} {
		if record, by, err := Unseal(b); err != nil || by.PublicKey != nil || !bytes.Equal(record, b) {
			t.Errorf("%x: unsealed %x by %x, error %v", b, record, by.PublicKey, err)
		}
	}
}

// TestUnsealRefuses alters sealed records: every bit counts.
func TestUnsealRefuses(t *testing.T) {
	record := mustEncode(t, randomGame(chess.Crazyhouse.Start(), newRand(24), 12))
	sealed := Seal(record, sealKey("a"))
	for i := range 8 * len(sealed) {
		flipped := bytes.Clone(sealed)
		flipped[i/8] ^= 1 << (i % 8)
		_, by, err := Unseal(flipped)
		switch {
		case i/8 < len(sealMagic): // no seal then, and no record either
			if _, e := Decode(flipped); err != nil || by.PublicKey != nil || !errors.Is(e, ErrMagic) {
				t.Errorf("bit %d: signed by %x, errors %v and %v", i, by.PublicKey, err, e)
			}
		case i/8 == offSealVersion:
			if _, e := Decode(flipped); !errors.Is(err, ErrVersion) || !errors.Is(e, ErrVersion) {
				t.Errorf("bit %d: %v and %v", i, err, e)
			}
		case !errors.Is(err, ErrSeal):
			t.Errorf("bit %d: %v", i, err)
		}
	}
	for n := len(sealMagic); n < sealBytes; n++ {
		_, _, err := Unseal(sealed[:n])
		_, e := Decode(sealed[:n])
		if _, h := DecodeHeader(sealed[:n]); !errors.Is(err, ErrTruncated) || !errors.Is(e, ErrTruncated) || !errors.Is(h, ErrTruncated) {
			t.Errorf("cut at %d: %v, %v and %v", n, err, e, h)
		}
	}
	if _, _, err := Unseal(append(bytes.Clone(sealed), 0)); !errors.Is(err, ErrSeal) {
		t.Errorf("byte after the record: %v", err)
	}
	twice := Seal(sealed, sealKey("b"))
	if _, _, err := Unseal(twice); !errors.Is(err, ErrMalformed) {
		t.Errorf("sealed twice: %v", err)
	}
	if _, err := Decode(twice); !errors.Is(err, ErrMagic) {
		t.Errorf("sealed twice: decode: %v", err)
	}
	if _, _, err := Unseal(Seal(make([]byte, MaxRecordBytes+1), sealKey("a"))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("large record: %v", err)
	}
	if _, _, err := Unseal(Seal(make([]byte, MaxRecordBytes), sealKey("a"))); err != nil {
		t.Errorf("largest record: %v", err)
	}
}

// TestSignatureIsOfGames: a signature over the bare bytes of a record seals nothing.
func TestSignatureIsOfGames(t *testing.T) {
	record, key := mustEncode(t, randomGame(chess.Crazyhouse.Start(), newRand(25), 12)), sealKey("a")
	sealed := Seal(record, key)
	copy(sealed[offSealSignature:], ed25519.Sign(key, record))
	if _, _, err := Unseal(sealed); !errors.Is(err, ErrSeal) {
		t.Error(err)
	}
}

// TestGoldenSeal reads the sealed records of every version of the envelope.
func TestGoldenSeal(t *testing.T) {
	present := golden.Present(sealVersion, "crazyhouse.sealed")
	if *update {
		if err := os.WriteFile(present, Seal(mustEncode(t, engineGames(t)[0]), sealKey("golden")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range golden.Versions(t, present) {
		b := golden.Read(t, path)
		record, by, err := Unseal(b)
		if err != nil || !by.PublicKey.Equal(publicOf(sealKey("golden"))) {
			t.Fatalf("%s: by %x, error %v", path, by.PublicKey, err)
		}
		if want := golden.Read(t, "testdata/v2/crazyhouse.game"); !bytes.Equal(record, want) {
			t.Errorf("%s: record\n%x\nexpected\n%x", path, record, want)
		}
		if again := Seal(record, sealKey("golden")); !bytes.Equal(again, b) {
			t.Errorf("%s: seals to\n%x\nexpected\n%x", path, again, b)
		}
	}
}

// FuzzUnseal gives Unseal any bytes, as they are and behind the first bytes of a
// seal. What it accepts is whole, and holds under a key of ours only unaltered.
func FuzzUnseal(f *testing.F) {
	record := mustEncode(f, randomGame(chess.Crazyhouse.Start(), newRand(26), 12))
	f.Add(Seal(record, sealKey("a")))                            // good
	f.Add(Seal(record, sealKey("a"))[:sealBytes])                // without its record
	f.Add(record)                                                // without a seal
	f.Add(Seal(nil, sealKey("a")))                               // nothing signed
	f.Add(Seal(Seal(record, sealKey("a")), sealKey("b")))        // twice
	f.Add(append(make([]byte, sealBytes), record...))            // key and signature of zeros
	f.Add([]byte(sealMagic))                                     // magic alone
	f.Add(append([]byte(sealMagic), make([]byte, sealBytes)...)) // version 0
	f.Fuzz(func(t *testing.T, b []byte) {
		checkUnseal(t, b)
		if len(b) > offSealVersion {
			b = append(append([]byte(sealMagic), sealVersion), b[offSealKey:]...)
			checkUnseal(t, b)
		}
	})
}

func checkUnseal(t *testing.T, b []byte) {
	record, by, err := Unseal(b)
	_, decodeErr := Decode(b)
	if err != nil {
		if record != nil || by.PublicKey != nil {
			t.Fatalf("%v, but record %x by %x", err, record, by.PublicKey)
		}
		return
	}
	if by.PublicKey == nil && !bytes.Equal(record, b) || by.PublicKey != nil && len(record) != len(b)-sealBytes {
		t.Fatalf("%d bytes unsealed to %d, by %x", len(b), len(record), by.PublicKey)
	}
	if _, err := Decode(record); (err == nil) != (decodeErr == nil) {
		t.Fatalf("sealed: %v; unsealed: %v", decodeErr, err)
	}
	// Points of small order are keys too, that need no owner: they accept signatures
	// of zeros. So a seal says something only of a key that was known before.
	if by.PublicKey.Equal(publicOf(sealKey("a"))) {
		b = bytes.Clone(b)
		b[len(b)-1] ^= 1
		if _, _, err := Unseal(b); err == nil {
			t.Fatalf("altered and accepted: %x", b)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	records, key := engineRecords(b), sealKey("a")
	for i := 0; b.Loop(); i++ {
		Seal(records[i%len(records)], key)
	}
}

func BenchmarkUnseal(b *testing.B) {
	records := engineRecords(b)
	for i, r := range records {
		records[i] = Seal(r, sealKey("a"))
	}
	for i := 0; b.Loop(); i++ {
		if _, _, err := Unseal(records[i%len(records)]); err != nil {
			b.Fatal(err)
		}
	}
}
