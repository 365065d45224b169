package book

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// The book of crazyhouse and how it was made.
var (
	//go:embed crazyhouse.epd.gz
	crazyhouseBook []byte
	//go:embed crazyhouse.epd.gz.json
	crazyhouseManifest []byte
)

// HasDefault reports whether there is a book of v in the program.
func HasDefault(v *chess.Variant) bool { return v == chess.Crazyhouse }

func noDefault(v *chess.Variant) error { return fmt.Errorf("book: no default book of %s", v.Name) }

// Default returns the book of v that is part of the program, and its manifest. The
// error is that of a variant without one; see [HasDefault].
func Default(v *chess.Variant) (*Book, *Manifest, error) {
	if !HasDefault(v) {
		return nil, nil, noDefault(v)
	}
	b, err := Read(bytes.NewReader(crazyhouseBook), v, Options{})
	if err != nil {
		return nil, nil, err
	}
	m, err := ParseManifest(crazyhouseManifest)
	return b, m, err
}
