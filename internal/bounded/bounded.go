// Package bounded reads whole files of other people, plain or packed by gzip, and takes
// no more memory for them than the caller allows.
package bounded

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Read reads all of r, at most that many bytes. Errors wrap bad, or are those of r.
func Read(r io.Reader, most int, bad error) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%w: found more than %d bytes", bad, most)
	}
	return text, err
}

// Unpack reads all of r, through gzip if it is packed: at most that many bytes, packed and
// unpacked. Errors wrap bad, or are those of r.
func Unpack(r io.Reader, most int, bad error) ([]byte, error) {
	text, err := Read(r, most, bad)
	if err != nil || !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = Read(z, most, bad)
	}
	if err != nil && !errors.Is(err, bad) {
		err = fmt.Errorf("%w: gzip: %w", bad, err)
	}
	return text, err
}
