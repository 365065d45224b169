package nnuefit

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// PSQTStart names the first values of the PSQT weights.
type PSQTStart string

const (
	// StartPieces lets a fresh net's PSQT output be the material as far as its
	// features give it, see [features.Material]: nets of any two sets that
	// name all pieces, on the board and in the hands, begin with the same values.
	StartPieces PSQTStart = "pieces"
	// StartZero begins all PSQT weights at 0.
	StartZero PSQTStart = "zero"
)

// PSQTStarts returns all of them.
func PSQTStarts() []PSQTStart { return []PSQTStart{StartPieces, StartZero} }

// PSQTStart returns where the PSQT weights began: what Config.PSQTStart was when
// training began, which a checkpoint carries on. It is empty for a net without
// PSQT columns and for one whose weights came from a net file.
func (m *Model) PSQTStart() PSQTStart {
	if m.arch.PSQT == 0 {
		return ""
	}
	return m.start
}

// startWeights returns the first PSQT weight of every feature; nil for zeros.
// Pieces in hand start like those on the board. Virtual rows begin at 0, so that
// none counts twice.
func (m *Model) startWeights() []float32 {
	if m.start != StartPieces || m.arch.PSQT == 0 {
		return nil
	}
	var values [5]float32
	for kind := range values {
		values[kind] = float32(nnue.PieceValue(chess.PieceType(kind))) / float32(m.core.scales.unit)
	}
	return features.Material(m.set, values)
}
