package book

import (
	"fmt"
	"os"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Open reads the book in a file. Without a name, or if that is "default", it is the
// program's own.
func Open(name string, v *chess.Variant, o Options) (*Book, error) {
	if name == "" || name == "default" {
		b, _, err := Default(v)
		return b, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := Read(f, v, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}
