package game

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
)

const (
	sealMagic   = "ZHGS"
	sealVersion = 1

	offSealVersion   = 4
	offSealKey       = 5
	offSealSignature = offSealKey + ed25519.PublicKeySize
	sealBytes        = offSealSignature + ed25519.SignatureSize

	// MaxSealedBytes bounds the length of a sealed record.
	MaxSealedBytes = sealBytes + MaxRecordBytes

	// signedPrefix stands before the record in what is signed, so that the
	// signature is good for nothing else.
	signedPrefix = "selfplay game\n"
)

// ErrSeal says that the signature of a sealed record is not that of its key.
var ErrSeal = errors.New("game: bad seal")

// Signer is who sealed a record. The zero Signer is that of a record without a
// seal.
type Signer struct {
	PublicKey ed25519.PublicKey
}

// Seal returns a record in an envelope that says with which key it was signed.
// [Decode] and [DecodeHeader] read sealed records too; [Unseal] checks the signature.
// The layout stands in the package comment. It panics if the key is not of the
// size of Ed25519's.
func Seal(record []byte, key ed25519.PrivateKey) []byte {
	b := make([]byte, 0, sealBytes+len(record))
	b = append(b, sealMagic...)
	b = append(b, sealVersion)
	b = append(b, key.Public().(ed25519.PublicKey)...)
	b = append(b, ed25519.Sign(key, signedBytes(record))...)
	return append(b, record...)
}

// Unseal returns the record in b, which is part of b, and who sealed it, once it
// has checked the signature. It says something only if the key is one that the
// caller expected, as signatures that nobody made hold for some; the record is not
// looked into. A b without a seal comes
// back as it is, with the zero Signer. The error wraps ErrSeal, ErrVersion,
// ErrTruncated, ErrTooLarge, or ErrMalformed for a seal around another.
func Unseal(b []byte) (record []byte, by Signer, err error) {
	if record, err = skipSeal(b); err != nil {
		return nil, Signer{}, err
	}
	if len(record) == len(b) {
		return b, Signer{}, nil
	}
	if len(record) > MaxRecordBytes {
		return nil, Signer{}, fmt.Errorf("%w: sealed record of %d bytes, expected at most %d", ErrTooLarge, len(record), MaxRecordBytes)
	}
	if isSealed(record) {
		return nil, Signer{}, fmt.Errorf("%w: byte %d: found a second seal, expected a record", ErrMalformed, sealBytes)
	}
	key := ed25519.PublicKey(b[offSealKey:offSealSignature])
	if !ed25519.Verify(key, signedBytes(record), b[offSealSignature:sealBytes]) {
		return nil, Signer{}, fmt.Errorf("%w: the signature is not that of key %x over the %d bytes of the record", ErrSeal, []byte(key), len(record))
	}
	return record, Signer{key}, nil
}

// skipSeal returns the record in b, which is b itself if there is no seal. The
// signature is not checked.
func skipSeal(b []byte) ([]byte, error) {
	if !isSealed(b) {
		return b, nil
	}
	if len(b) > offSealVersion && b[offSealVersion] != sealVersion {
		return nil, fmt.Errorf("%w: byte %d: found seal %d, expected %d", ErrVersion, offSealVersion, b[offSealVersion], sealVersion)
	}
	if len(b) < sealBytes {
		return nil, fmt.Errorf("%w: found %d bytes of a seal, expected %d", ErrTruncated, len(b), sealBytes)
	}
	return b[sealBytes:], nil
}

func isSealed(b []byte) bool { return bytes.HasPrefix(b, []byte(sealMagic)) }

func signedBytes(record []byte) []byte { return append([]byte(signedPrefix), record...) }
