package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Values returns the averaged net's values of positions in raw units, seen by
// the side to move, in order; it changes nothing.
func (m *Model) Values(positions []chess.Position) []float64 {
	values := make([]float64, 0, len(positions))
	batch := make([]sample.Sample, 0, min(len(positions), evalChunk))
	for at := 0; at < len(positions); at += evalChunk {
		batch = batch[:0]
		for _, p := range positions[at:min(at+evalChunk, len(positions))] {
			batch = append(batch, sample.Sample{Pos: p})
		}
		m.outputs(batch, func(_ int, raw float64) { values = append(values, raw) })
	}
	return values
}
