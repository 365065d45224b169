// Package binpack reads and writes .binpack files, the compressed training data
// of chess in the tools of Stockfish and Fairy-Stockfish (nnue-pytorch,
// variant-nnue-tools).
//
// A file is a sequence of blocks, so that files may be appended to one another:
// the magic "BINP", the payload's size as a little-endian uint32, the payload.
// A payload is a sequence of chains, in big-endian order throughout:
//
//	stem      32 bytes: position, move, score, ply with result, halfmove clock
//	count     uint16: number of continuations
//	movetext  count continuations as bits, padded with zeros to a whole byte
//
// A continuation is a sample whose position comes about when the one before
// makes its move, with the ply counted on and the result seen from the other
// side; all that remains to be said is its move and its score.
//
// Three rules differ from those of package chess, and decide which bytes are
// written. The en passant square exists only if some pawn may capture without
// exposing its king to a bishop, rook or queen. The move number is not kept but
// follows from the ply, whatever side is to move. And within a chain the
// halfmove clock is not kept either, but counted on.
package binpack

import "github.com/crazyhouse-rl/selfplay/sample"

const (
	magic = "BINP"

	// headerSize is that of a block: magic and size.
	headerSize = 8
	// maxPayload is the largest payload that readers accept.
	maxPayload = 100 << 20
	// fullPayload is the size from which a writer begins a new block with the
	// next chain.
	fullPayload = 1 << 20

	stemSize = 32
	// chainSize is the size of a chain without movetext: stem and count.
	chainSize = stemSize + 2

	// maxStemPly is the largest ply a stem has bits for.
	maxStemPly = 1<<14 - 1
	// maxPieces is the number of pieces a stem has room for.
	maxPieces = 32
)

// Unit is the unit of the scores in .binpack files.
const Unit = sample.InternalUnit

// Loses says what of a sample the format does not keep, in words that complete
// "does not keep".
const Loses = "a move number other than ply/2+1, a halfmove clock that does not follow from the sample before, an en passant square that no pawn may capture on, and that a game is of Chess960"
