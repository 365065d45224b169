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

// Default returns the puzzles of v that are part of the program: 1,000 of crazyhouse.
// Of another variant it is an error.
func Default(v *chess.Variant) ([]Puzzle, error) {
	if v != chess.Crazyhouse {
		return nil, fmt.Errorf("puzzles: no puzzles of %s in the program, expected a file", v.Name)
	}
	return Read(bytes.NewReader(crazyhousePuzzles), v)
}
