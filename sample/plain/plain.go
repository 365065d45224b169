// Package plain reads and writes .plain files, the text form of training data of
// Stockfish's and variant-nnue-tools' converters. A record is six lines:
//
//	fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1
//	move e2e4
//	score 180
//	ply 0
//	result 1
//	e
//
// Score, in 1/208 pawn, and result, 1, 0 or -1, are those of the side to move;
// ply counts from the start of the game. FEN and moves are in the dialect of
// Fairy-Stockfish, which chess.Position.FEN writes. A record keeps all of a
// sample but what only whole games have: what a search made of the moves, how
// often the position stood before and how far the end is. Unknown pieces are
// written as "?": "?@d3", "e7d8?".
//
// Source: training_data_format of Stockfish's tools and its use in
// variant-nnue-tools.
package plain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

const (
	// maxLine is the longest line of which the value is read.
	maxLine = 64 << 10
	// maxSearch is how far the first line of a known key is searched for.
	maxSearch = 1 << 20
)

// Reader reads the records of a .plain file. It implements sample.Reader; the
// scores are taken to be in sample.InternalUnit.
//
// Lines may come in any order, end in CR LF, and be of unknown keys, which are
// skipped. What is missing in a record is as in the one before; the first must
// be complete. Scores may be fractions and are rounded.
type Reader struct {
	r       *bufio.Reader
	variant *chess.Variant
	values  sample.Sample // of the record so far, all but Move
	move    []byte        // the text, as the position may follow it
	known   keys          // which values there are
	invalid error         // the first in this record
	begun   bool          // the record has a line that is not empty
	sensed  bool          // a known key was met, ever
	record  int64
	start   int64 // offset of the record
	last    int64 // and of the one before
	offset  int64 // of the next line
	err     error // returned from now on
}

// keys is a set of keys.
type keys uint8

const (
	fenKey keys = 1 << iota
	moveKey
	scoreKey
	plyKey
	resultKey

	allKeys = 1<<iota - 1
)

// names holds the keys in the order in which they are written.
var names = [...]string{"fen", "move", "score", "ply", "result"}

// NewReader returns a Reader of positions of v.
func NewReader(r io.Reader, v *chess.Variant) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, maxLine), variant: v}
}

// Unit returns sample.InternalUnit.
func (r *Reader) Unit() sample.Unit { return sample.InternalUnit }

// Offset returns where the record begins that Read returned last.
func (r *Reader) Offset() int64 { return r.last }

// Trailing returns the bytes after the last complete record, once Read has
// returned io.EOF.
func (r *Reader) Trailing() int64 { return r.offset - r.start }

// Read reads the next record.
func (r *Reader) Read(s *sample.Sample) error {
	if r.err != nil {
		return r.err
	}
	for {
		line, err := r.r.ReadSlice('\n')
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) && !errors.Is(err, bufio.ErrBufferFull) {
			r.err = r.end(err)
			return r.err
		}
		r.offset += int64(len(line))
		key, value := split(line)
		long := errors.Is(err, bufio.ErrBufferFull)
		if long {
			key, value = []byte(string(key)), nil // the buffer is about to be read over
			if err := r.skipLine(); err != nil {
				r.err = r.errorAt(err)
				return r.err
			}
		}
		if string(key) == "e" && !long {
			return r.finish(s)
		}
		r.take(key, value)
		if !r.sensed && r.offset > maxSearch {
			r.err = r.notPlain()
			return r.err
		}
	}
}

// split returns the first word of a line and the rest, without the blanks and the
// line's end around them.
func split(line []byte) (key, value []byte) {
	for len(line) > 0 && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	for i, c := range line {
		if !isBlank(c) {
			continue
		}
		for value = line[i+1:]; isBlank(value[0]); { // ends, as line ends in no blank
			value = value[1:]
		}
		return line[:i], value
	}
	return line, nil
}

// isBlank reports whether c is a blank or a character of the line's end.
func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// skipLine skips the rest of a line too long for the buffer.
func (r *Reader) skipLine() error {
	for {
		part, err := r.r.ReadSlice('\n')
		r.offset += int64(len(part))
		switch {
		case err == nil || errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// take takes in a line that does not end a record.
func (r *Reader) take(key, value []byte) {
	var err error
	var k keys
	switch string(key) {
	case "fen":
		k = fenKey
		if r.values.Pos, err = chess.ParseFENBytes(r.variant, value); err != nil {
			err = fmt.Errorf("%w: %w", sample.ErrRecord, err)
		}
	case "move":
		k = moveKey
		r.move = append(r.move[:0], value[:min(len(value), 20)]...) // enough to be told from a move
	case "score":
		k = scoreKey
		r.values.Score, err = sample.ParseScore(value)
	case "ply":
		k = plyKey
		n, ok := sample.ParseInt(value, 0, 1<<16-1)
		if r.values.Ply = uint16(n); !ok {
			err = invalid("ply", value, "0 to 65535")
		}
	case "result":
		k = resultKey
		n, ok := sample.ParseInt(value, -1, 1)
		if r.values.Result = int8(n); !ok {
			err = invalid("result", value, "-1, 0 or 1")
		}
	case "":
		if !r.begun {
			r.start = r.offset
		}
		return
	default:
		r.begun = true
		return
	}
	r.begun, r.sensed = true, true
	r.known |= k
	if err != nil {
		r.known &^= k
		if r.invalid == nil {
			r.invalid = err
		}
	}
}

func invalid(key string, value []byte, expected string) error {
	return fmt.Errorf("%w: %s: found %q, expected %s", sample.ErrRecord, key, value[:min(len(value), 40)], expected)
}

// finish makes s of a record whose end was read.
func (r *Reader) finish(s *sample.Sample) error {
	r.sensed = true
	err := r.invalid
	if missing := allKeys &^ r.known; err == nil && missing != 0 {
		for i, name := range names {
			if missing>>i&1 != 0 {
				err = fmt.Errorf("%w: found no %s in it nor a usable one before, expected the line \"%s …\"", sample.ErrRecord, name, name)
				break
			}
		}
	}
	if err == nil {
		*s = r.values
		s.Move, s.Partial, err = sample.ParseMove(&s.Pos, r.move)
	}
	if err != nil {
		err = r.errorAt(err)
	}
	r.record++
	r.last, r.start = r.start, r.offset
	r.begun, r.invalid = false, nil
	return err
}

// end returns the error with which reading ends.
func (r *Reader) end(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return r.errorAt(err)
	case !r.sensed && r.offset > r.start:
		return r.notPlain()
	}
	return io.EOF
}

// notPlain returns the error of a file that does not begin like one of this
// format.
func (r *Reader) notPlain() error {
	return r.errorAt(fmt.Errorf("%w: found none of the lines of a .plain file at the beginning, expected \"fen …\", \"move …\", … \"e\"", sample.ErrFormat))
}

// errorAt says that err concerns the current record.
func (r *Reader) errorAt(err error) error {
	return &sample.ReadError{Record: r.record, Offset: r.start, Err: err}
}

// Writer writes a .plain file. It implements sample.Writer.
type Writer struct {
	w    *bufio.Writer
	line []byte
}

// NewWriter returns a Writer. Scores are to be in sample.InternalUnit. Files may
// be appended to.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, maxLine)} }

// Write adds a record of any sample that passes sample.Sample.Check.
func (w *Writer) Write(s *sample.Sample) error {
	if err := s.Check(); err != nil {
		return err
	}
	b := append(w.line[:0], "fen "...)
	b = s.Pos.AppendFEN(b)
	b = append(b, "\nmove "...)
	b = sample.AppendMove(b, &s.Pos, s.Move, s.Partial)
	b = append(b, "\nscore "...)
	b = strconv.AppendInt(b, int64(s.Score), 10)
	b = append(b, "\nply "...)
	b = strconv.AppendUint(b, uint64(s.Ply), 10)
	b = append(b, "\nresult "...)
	b = strconv.AppendInt(b, int64(s.Result), 10)
	b = append(b, "\ne\n"...)
	w.line = b
	_, err := w.w.Write(b)
	return err
}

// Close writes what is held back, but does not close the stream below.
func (w *Writer) Close() error { return w.w.Flush() }
