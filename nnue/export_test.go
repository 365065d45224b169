package nnue

import (
	"bytes"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Parse reads a whole file that is in memory.
func Parse(data []byte, v *chess.Variant) (*Network, error) {
	return parse(bytes.NewReader(data), int64(len(data)), v)
}

// OwnVersion is the version of our own file format that Write writes.
const OwnVersion = ownVersion
