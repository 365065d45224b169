package nnuefit

import "github.com/crazyhouse-rl/selfplay/nnue/features"

// PSQTStart names the first values of the PSQT weights.
type PSQTStart string

const (
	// StartPieces lets a fresh net's PSQT output be the material as far as its
	// features can tell it, see [features.Material]: nets of any two sets that
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

// pieceValues are the values of pieces in raw units, pawn to queen: the
// middle-game values of Fairy-Stockfish's classical evaluation, from which the
// variant trainer also starts. Pieces in hand start like those on the board.
var pieceValues = [5]float32{126, 781, 825, 1276, 2538}

// startWeights returns the first PSQT weight of every feature; nil for zeros.
// Virtual rows begin at 0, so that none counts twice.
func (m *Model) startWeights() []float32 {
	if m.start != StartPieces || m.arch.PSQT == 0 {
		return nil
	}
	values := pieceValues
	for i := range values {
		values[i] /= float32(m.core.scales.unit)
	}
	return features.Material(m.set, values)
}
