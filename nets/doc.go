// Package nets keeps trained networks: what is known about one (Manifest),
// who vouches for it (an Ed25519 signature) and where its bytes lie (Store).
//
// A net is named by its id, the SHA-256 of its file in lower-case hexadecimal.
// A name is therefore never reused, a file can always be checked against its
// name, and a game record that carries an id says exactly which weights played.
// The package does not look inside a net; that is the business of packages nnue and
// planes.
//
// # Store directory
//
//	<id>.nnue    the net, byte for byte as it was put; .onnx if its kind is planes
//	<id>.json    its manifest, if one was put
//	.tmp-*       a write in progress, or what a crash left of one
//
// Every file is written aside, synced and renamed, and the directory is synced
// after the rename, so a crash leaves either the whole file or none under its
// final name. A net is hashed again when a Store first hands it out: a file
// that no longer hashes to its name is removed and reported, never used.
//
// # Manifest bytes, schema 1
//
// A manifest is one JSON object of at most 64 KiB with the keys of Manifest in
// the order of its fields; unknown keys are refused, because a signature
// could not cover them. Signed is the text "selfplay net manifest\n" followed by
// the compact encoding (encoding/json) of the object with the key signature
// left out. Keys and signatures are lower-case hexadecimal.
package nets

import "errors"

var (
	// ErrNotFound says that the store has no such net or manifest.
	ErrNotFound = errors.New("nets: not found")
	// ErrCorrupt says that a net's bytes do not hash to its id.
	ErrCorrupt = errors.New("nets: corrupt net")
	// ErrTooLarge says that a net has more than 1 GiB, or a manifest more than
	// 64 KiB.
	ErrTooLarge = errors.New("nets: too large")
	// ErrID says that a string is not the id of a net.
	ErrID = errors.New("nets: not a net id")
	// ErrManifest says that a manifest is malformed.
	ErrManifest = errors.New("nets: bad manifest")
	// ErrSignature says that a manifest is not signed, not signed by the key
	// asked for, or altered after it was signed.
	ErrSignature = errors.New("nets: bad signature")
	// ErrKey says that a key file does not hold an Ed25519 private key, or that
	// others may read it.
	ErrKey = errors.New("nets: bad key")
)
