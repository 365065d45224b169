package book

import (
	"bytes"
	"fmt"
	"os"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
)

// Open reads the book in a file. Without a name, or if that is "default", it is the
// program's own.
func Open(name string, v *chess.Variant, o Options) (*Book, error) {
	text, err := Text(name, v)
	if err != nil {
		return nil, err
	}
	b, err := Read(bytes.NewReader(text), v, o)
	if err != nil {
		return nil, fmt.Errorf("book %s: %w", name, err)
	}
	return b, nil
}

// IsDefault reports whether Open takes a name for the program's own book: "" or "default".
func IsDefault(name string) bool { return name == "" || name == "default" }

// Text returns the text of the book that Open reads, unpacked.
func Text(name string, v *chess.Variant) ([]byte, error) {
	if IsDefault(name) {
		if !HasDefault(v) {
			return nil, noDefault(v)
		}
		return bounded.Unpack(bytes.NewReader(crazyhouseBook), maxText, ErrBad)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.Unpack(f, maxText, ErrBad)
	if err != nil {
		return nil, fmt.Errorf("book %s: %w", name, err)
	}
	return text, nil
}
