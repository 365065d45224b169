package sample

import (
	"errors"
	"fmt"
	"math"

	"github.com/crazyhouse-rl/selfplay/search"
)

// Reader reads the samples of one file or stream, in its order. The codecs in
// the packages below this one implement it.
//
// What is read is well formed, not necessarily legal: Sample.Pos can be played
// on, Sample.Move may be any move that can be written down. Ask Pos.IsLegal
// before making it.
type Reader interface {
	// Read fills in every field of s, or returns an error and leaves s without
	// meaning. The error is io.EOF itself at the end of the data, else a
	// *ReadError. After one that wraps ErrRecord Read may be called again, for
	// the record after the bad one; after any other, none of which wraps
	// ErrRecord, it returns the same error.
	Read(s *Sample) error
	// Offset returns where in the data the record begins that Read returned
	// last. In formats that chain records it may be the beginning of the chain.
	Offset() int64
	// Unit returns the unit of the scores.
	Unit() Unit
	// Trailing returns, once Read has returned io.EOF, the number of bytes at
	// the end that do not make up a whole record, such as a writer leaves that
	// was stopped. They are not read.
	Trailing() int64
}

// Writer writes samples to one file or stream.
type Writer interface {
	// Write adds a sample, whose score is in the unit of the format. The error
	// wraps ErrRecord if s does not fit into the format: nothing of s is
	// written then, and others may follow. Any other error comes from the
	// stream below, and is returned by all calls after.
	Write(s *Sample) error
	// Close writes what is still held back. It does not close the stream
	// below.
	Close() error
}

// Errors of readers and writers, wrapped with what was found and what was
// expected.
var (
	// ErrRecord: one record is bad or cannot be expressed; those after it can
	// still be read or written.
	ErrRecord = errors.New("bad record")
	// ErrFormat: the data is not of this format, or its framing is lost, so
	// that nothing more can be read.
	ErrFormat = errors.New("wrong format")
)

// ReadError says where reading failed.
type ReadError struct {
	Record int64 // number of the record, from 0
	Offset int64 // of the record's first byte in the data
	Err    error // wraps ErrRecord or ErrFormat, or is the stream's error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("record %d at byte %d: %v", e.Record, e.Offset, e.Err)
}

// Unwrap returns what was wrong there.
func (e *ReadError) Unwrap() error { return e.Err }

// Unit is the unit of scores, given as the score of one pawn. It must be
// positive.
type Unit int

// The units there are.
const (
	// CentipawnUnit is the unit of games, of search and of training.
	CentipawnUnit Unit = search.CentipawnsPerPawn
	// InternalUnit is that of Fairy-Stockfish and its tools, in .bin, .plain
	// and .binpack: a pawn's value in the endgame.
	InternalUnit Unit = search.RawPerPawn
)

// String returns the unit as in "1/208 pawn".
func (u Unit) String() string { return fmt.Sprintf("1/%d pawn", int(u)) }

// MinScore and MaxScore bound the scores of samples: sixteen bits, in every
// unit.
const (
	MinScore search.Score = math.MinInt16
	MaxScore search.Score = math.MaxInt16
)

// Convert converts a score from one unit to another, rounding to the nearest and
// halves away from zero. Mates and the values beyond them are the same in every
// unit, and no other score becomes one: it stops short of the mates. Between
// equal units nothing changes.
func Convert(score search.Score, from, to Unit) search.Score {
	if from == to || score.IsMate() {
		return score
	}
	const most = search.MateScore - search.MaxPly - 1
	twice := 2 * int(score) * int(to)
	half := int(from)
	if twice < 0 {
		half = -half
	}
	return min(max(search.Score((twice+half)/(2*int(from))), -most), most)
}
