package nnuefit

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// TestValues takes more positions than one chunk holds.
func TestValues(t *testing.T) {
	samples := randomSamples(21, 600)
	m := newModel(t, nnue.Narrow(16), 21)
	var positions []chess.Position
	for len(positions) < evalChunk+100 {
		for i := range samples {
			positions = append(positions, samples[i].Pos)
		}
	}
	values := m.Values(positions)
	if len(values) != len(positions) {
		t.Fatalf("found %d values, expected %d", len(values), len(positions))
	}
	for _, i := range []int{0, 1, 599, evalChunk - 1, evalChunk, len(positions) - 1} {
		if want := m.Evaluate(&positions[i]); values[i] != want {
			t.Errorf("position %d: found %g, expected %g", i, values[i], want)
		}
	}
	if values := m.Values(nil); len(values) != 0 {
		t.Errorf("no positions have values %v", values)
	}
}
