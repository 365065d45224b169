package nnuefit

import "github.com/crazyhouse-rl/selfplay/chess"

// Values returns the averaged net's values of positions in raw units, seen by
// the side to move, in order; it changes nothing.
func (m *Model) Values(positions []chess.Position) []float64 {
	values := make([]float64, 0, len(positions))
	m.outputs(len(positions), func(i int) *chess.Position { return &positions[i] },
		func(_ int, raw float64) { values = append(values, raw) })
	return values
}
