package nets

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

const (
	// ManifestSchema is the version of the manifest this package writes. It
	// reads this version only.
	ManifestSchema = 1
	// maxManifestBytes bounds the encoding of a manifest.
	maxManifestBytes = 64 << 10
	// KindNNUE is the kind of a net in one of the formats of package nnue.
	KindNNUE = "nnue"
	// KindPlanes is the kind of a convolutional net of package planes, in ONNX.
	KindPlanes = "planes"

	maxText = 4 << 10 // bytes of any one text field

	// signedPrefix keeps a manifest's signature from being valid for any other
	// document signed with the same key.
	signedPrefix = "selfplay net manifest\n"
)

// Manifest says what a net is and where it came from. Texts are UTF-8 of at
// most 4 KiB each.
type Manifest struct {
	Schema       int    `json:"schema"`               // ManifestSchema
	ID           string `json:"id"`                   // SHA-256 of the net's file, lower-case hex
	Size         int64  `json:"size"`                 // bytes of the net's file
	Kind         string `json:"kind"`                 // KindNNUE or KindPlanes
	Variant      string `json:"variant"`              // chess.Variant name
	Features     string `json:"features"`             // canonical name of the feature set, or of the planes' encoder
	Architecture string `json:"architecture"`         // layer sizes in words, as package nnue or planes/arch prints them
	PSQTStart    string `json:"psqt_start,omitempty"` // how training began the PSQT weights, as package trainer/nnuefit names it; empty if unknown or there are none
	Parent       string `json:"parent"`               // id of the net its run offered before this one, whether it passed the gate or not; empty for the first

	Run         string  `json:"run,omitempty"` // id of the run that made it; empty in manifests of earlier builds
	Generation  int     `json:"generation"`    // number of the net among those offered in its run, from 1
	Step        uint64  `json:"step"`          // optimiser steps taken since fresh weights
	Samples     uint64  `json:"samples"`       // positions trained on, repeats counted
	Games       uint64  `json:"games"`         // distinct games stored in the replay buffer by then, those deleted since included
	HeldOutLoss float64 `json:"held_out_loss"` // mean loss on games never trained on

	Seed  uint64 `json:"seed"`  // of the run
	Build string `json:"build"` // version of the program that exported it

	PublicKey string `json:"public_key"`          // signer's Ed25519 key, 32 bytes in hex; empty if unsigned
	Signature string `json:"signature,omitempty"` // Ed25519 over the signed bytes, 64 bytes in hex
}

// manifestKeys are those of a manifest's JSON.
var manifestKeys = func() map[string]bool {
	keys := map[string]bool{}
	for t, i := reflect.TypeFor[Manifest](), 0; i < t.NumField(); i++ {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		keys[key] = true
	}
	return keys
}()

// Validate checks everything about m that can be checked without the net and
// without a key. Its error wraps ErrManifest and names the field.
func (m *Manifest) Validate() error {
	if m.Schema != ManifestSchema {
		return fmt.Errorf("%w: schema %d, expected %d", ErrManifest, m.Schema, ManifestSchema)
	}
	if err := checkID(m.ID); err != nil {
		return fmt.Errorf("%w: id: %w", ErrManifest, err)
	}
	if m.Parent != "" {
		if err := checkID(m.Parent); err != nil {
			return fmt.Errorf("%w: parent: %w", ErrManifest, err)
		}
	}
	if m.Size < 0 || m.Size > maxNetBytes {
		return fmt.Errorf("%w: size %d, expected 0 to %d", ErrManifest, m.Size, int64(maxNetBytes))
	}
	if m.Kind == "" || m.Variant == "" {
		return fmt.Errorf("%w: kind %q and variant %q must not be empty", ErrManifest, m.Kind, m.Variant)
	}
	if m.Generation < 0 {
		return fmt.Errorf("%w: generation %d is negative", ErrManifest, m.Generation)
	}
	if math.IsNaN(m.HeldOutLoss) || math.IsInf(m.HeldOutLoss, 0) {
		return fmt.Errorf("%w: held_out_loss %v is not finite", ErrManifest, m.HeldOutLoss)
	}
	for _, s := range []string{m.Kind, m.Variant, m.Features, m.Architecture, m.PSQTStart, m.Run, m.Build} {
		if len(s) > maxText || !utf8.ValidString(s) {
			return fmt.Errorf("%w: text %.40q of %d bytes, expected UTF-8 of at most %d", ErrManifest, s, len(s), maxText)
		}
	}
	if err := checkHex("public_key", m.PublicKey, ed25519.PublicKeySize); err != nil {
		return err
	}
	return checkHex("signature", m.Signature, ed25519.SignatureSize)
}

// checkHex accepts an empty string or exactly n bytes in lower-case hex.
func checkHex(field, s string, n int) error {
	if s == "" || isLowerHex(s, n) {
		return nil
	}
	return fmt.Errorf("%w: %s %.140q, expected %d lower-case hex digits", ErrManifest, field, s, 2*n)
}

// isLowerHex reports whether s is n bytes in lower-case hexadecimal.
func isLowerHex(s string, n int) bool {
	if len(s) != 2*n {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// signedBytes is what a signature covers: every field but the signature,
// the signer's public key included.
func (m Manifest) signedBytes() ([]byte, error) {
	m.Signature = ""
	b, err := json.Marshal(&m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return append([]byte(signedPrefix), b...), nil
}

// Sign fills PublicKey and Signature. Any later change of m makes Verify fail.
func (m *Manifest) Sign(key ed25519.PrivateKey) error {
	if len(key) != ed25519.PrivateKeySize {
		return fmt.Errorf("%w: private key of %d bytes, expected %d", ErrKey, len(key), ed25519.PrivateKeySize)
	}
	signed := *m
	signed.PublicKey, signed.Signature = hex.EncodeToString(key.Public().(ed25519.PublicKey)), ""
	if err := signed.Validate(); err != nil {
		return err
	}
	b, err := signed.signedBytes()
	if err != nil {
		return err
	}
	signed.Signature = hex.EncodeToString(ed25519.Sign(key, b))
	*m = signed
	return nil
}

// Verify checks that m was signed with the private half of pub and not altered
// since. Its error wraps ErrSignature.
func (m *Manifest) Verify(pub ed25519.PublicKey) error {
	if len(pub) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: public key of %d bytes, expected %d", ErrKey, len(pub), ed25519.PublicKeySize)
	}
	if m.Signature == "" {
		return fmt.Errorf("%w: manifest of %.12s is not signed", ErrSignature, m.ID)
	}
	if want := hex.EncodeToString(pub); m.PublicKey != want {
		return fmt.Errorf("%w: manifest of %.12s is signed by key %.64q, expected %s", ErrSignature, m.ID, m.PublicKey, want)
	}
	sig, err := hex.DecodeString(m.Signature)
	if err != nil {
		return fmt.Errorf("%w: manifest of %.12s: %w", ErrSignature, m.ID, err)
	}
	b, err := m.signedBytes()
	if err != nil {
		return err
	}
	if !ed25519.Verify(pub, b, sig) {
		return fmt.Errorf("%w: manifest of %.12s was altered after key %s signed it", ErrSignature, m.ID, m.PublicKey)
	}
	return nil
}

// Encode validates m and returns its indented JSON.
func (m *Manifest) Encode() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return append(b, '\n'), nil
}

// ParseManifest reads what Encode wrote and validates it. The signature is
// checked by Verify alone. The error wraps ErrManifest or ErrTooLarge.
func ParseManifest(b []byte) (Manifest, error) {
	if len(b) > maxManifestBytes {
		return Manifest{}, fmt.Errorf("%w: manifest of %d bytes, expected at most %d", ErrTooLarge, len(b), maxManifestBytes)
	}
	// The schema comes first: a later one may have keys unknown here, and
	// "schema 2" says more than "unknown field".
	var head struct {
		Schema int `json:"schema"`
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(b, &head)
	if err == nil {
		err = json.Unmarshal(b, &members)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if head.Schema != ManifestSchema {
		return Manifest{}, fmt.Errorf("%w: schema %d, expected %d", ErrManifest, head.Schema, ManifestSchema)
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	for key := range members { // package json takes them in any case, and a flipped bit changes that
		if !manifestKeys[key] {
			return Manifest{}, fmt.Errorf("%w: unknown key %.40q", ErrManifest, key)
		}
	}
	if _, err := d.Token(); err != io.EOF {
		return Manifest{}, fmt.Errorf("%w: more than one value at byte %d", ErrManifest, d.InputOffset())
	}
	if err := m.Validate(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}
