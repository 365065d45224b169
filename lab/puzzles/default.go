package puzzles

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// The puzzles of crazyhouse; docs/puzzles.md says how they were made.
//
//go:embed crazyhouse.epd.gz
var crazyhousePuzzles []byte

// HasDefault reports whether there are puzzles of v in the program.
func HasDefault(v *chess.Variant) bool { return v == chess.Crazyhouse }

// Default returns the puzzles of v that are part of the program: 1,000 of crazyhouse.
// Of another variant it is an error.
func Default(v *chess.Variant) ([]Puzzle, error) {
	if !HasDefault(v) {
		return nil, fmt.Errorf("puzzles: no puzzles of %s in the program, expected a file", v.Name)
	}
	return Read(bytes.NewReader(crazyhousePuzzles), v)
}
