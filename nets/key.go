package nets

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

const pemType = "PRIVATE KEY"

// LoadKey reads the Ed25519 private key at path, PKCS #8 in PEM as openssl writes
// it. The error wraps fs.ErrNotExist if there is no file, else ErrKey; if others than
// its owner may read it, also secret.ErrMode.
func LoadKey(path string) (ed25519.PrivateKey, error) {
	text, err := secret.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load key: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("%w: %s has no PEM block %q", ErrKey, path, pemType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKey, path, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%w: %s holds a %T, expected an Ed25519 key", ErrKey, path, parsed)
	}
	return key, nil
}

// CreateKey makes a new key at path, readable by its owner only. The error wraps
// fs.ErrExist if there is a file of that name, which is left alone.
func CreateKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err == nil {
		err = writeKey(path, key)
	}
	if err != nil {
		return nil, fmt.Errorf("create key %s: %w", path, err)
	}
	return key, nil
}

// writeKey writes a key at path, or fails with fs.ErrExist. The name is given by a
// link, not a rename, which would replace a key another process has just made and
// perhaps already signed with.
func writeKey(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, durable.TempPattern) // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = pem.Encode(f, &pem.Block{Type: pemType, Bytes: der})
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}
