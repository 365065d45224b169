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

// Forget makes the next refresh for positions like p start from nothing.
func (a *Accumulator) Forget(p *chess.Position) {
	for c := chess.White; c <= chess.Black; c++ {
		e := &a.cache[c][a.net.set.Anchor(p, c)]
		copy(e.row.Lanes(), a.net.FTBias)
		clear(e.row.Sums())
		e.pos = chess.Position{}
	}
}
