package bin

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// sniffed is the number of bytes at the beginning that are read before the first
// record is returned, to find out how the file is written.
const sniffed = 64 << 10

// Reader reads the records of a .bin file. It implements sample.Reader; the
// scores are in sample.InternalUnit.
type Reader struct {
	r       *bufio.Reader
	variant *chess.Variant
	format  Format
	code    moveCode
	setup   chess.Setup
	record  int64
	started bool
	err     error // returned from now on
	rest    int64
}

// NewReader returns a Reader of positions of v in format f, which for Bits256
// means chess. The move field of builds for large boards is recognised by itself.
func NewReader(r io.Reader, v *chess.Variant, f Format) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, sniffed), variant: v, format: f}
}

// Unit returns sample.InternalUnit.
func (r *Reader) Unit() sample.Unit { return sample.InternalUnit }

// Offset returns where the record begins that Read returned last.
func (r *Reader) Offset() int64 { return max(r.record-1, 0) * int64(r.format.RecordSize()) }

// Trailing returns the bytes after the last whole record, once Read has returned
// io.EOF.
func (r *Reader) Trailing() int64 { return r.rest }

// Read reads the next record. Its Move is Partial if it drops or promotes, which
// Bits512 keeps without the piece. No piece is marked as promoted, as no format
// keeps that.
//
// In a file from a build for large boards drops look like moves from a1. They are
// taken for moves where the piece on a1 can make them, which for a few drops is
// wrong.
func (r *Reader) Read(s *sample.Sample) error {
	if r.err == nil && !r.started {
		r.started = true
		r.err = r.sniff()
	}
	if r.err != nil {
		return r.err
	}
	size := r.format.RecordSize()
	data, err := r.r.Peek(size)
	if err != nil {
		if errors.Is(err, io.EOF) {
			r.rest = int64(len(data))
			r.err = io.EOF
		} else {
			r.err = r.errorAt(err)
		}
		return r.err
	}
	if err := r.decode(s, data); err != nil {
		err = r.errorAt(err)
		r.advance(size)
		return err
	}
	r.advance(size)
	return nil
}

// advance goes on to the next record. What was peeked at can be discarded.
func (r *Reader) advance(size int) {
	_, _ = r.r.Discard(size)
	r.record++
}

// errorAt says that err concerns the next record.
func (r *Reader) errorAt(err error) error {
	return &sample.ReadError{Record: r.record, Offset: r.record * int64(r.format.RecordSize()), Err: err}
}

// decode fills in s from a record.
func (r *Reader) decode(s *sample.Sample, data []byte) error {
	l := r.format.layout()
	pos, err := l.decodePosition(data[:l.position], r.variant, &r.setup)
	if err != nil {
		return err
	}
	data = data[l.position:]
	*s = sample.Sample{
		Pos: pos, Score: search.Score(int16(binary.LittleEndian.Uint16(data))),
		Ply: binary.LittleEndian.Uint16(data[4:]), Result: int8(data[6]),
	}
	if s.Result < -1 || s.Result > 1 {
		return bad("result", s.Result, "-1, 0 or 1")
	}
	s.Move, s.Partial, err = r.code.decode(&s.Pos, binary.LittleEndian.Uint16(data[2:]))
	return err
}

// sniff looks at the beginning of the data: it chooses between the codes of
// moves and refuses data that are not records of this format.
func (r *Reader) sniff() error {
	if r.format == Bits256 {
		r.code = code256
		if r.variant.CapturesToHand {
			return r.errorAt(fmt.Errorf("%w: found a file of %s, expected chess in a %v", sample.ErrFormat, r.variant, r.format))
		}
	}
	data, err := r.r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return r.errorAt(err)
	}
	l := r.format.layout()
	size := r.format.RecordSize()
	var good, wrong512, wrongLarge int
	var first error // why a record was refused
	for at := 0; at+size <= len(data); at += size {
		pos, err := l.decodePosition(data[at:at+l.position], r.variant, &r.setup)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		good++
		m := binary.LittleEndian.Uint16(data[at+l.position+2:])
		if !code512.plausible(&pos, m) {
			wrong512++
		}
		if !codeLarge.plausible(&pos, m) {
			wrongLarge++
		}
	}
	if n := len(data) / size; 2*good < n {
		return r.errorAt(fmt.Errorf("%w: found %d of the first %d records unreadable, expected a %v of %s%s; the first: %v",
			sample.ErrFormat, n-good, n, r.format, r.variant, r.guess(data), first))
	}
	if r.format == Bits512 && wrongLarge < wrong512 {
		r.code = codeLarge
	}
	return nil
}

// guess says what data are that are not of this format, if it can be told.
func (r *Reader) guess(data []byte) string {
	for _, f := range []Format{r.format, Bits512, Bits256} {
		for _, v := range chess.Variants() {
			if f.layout().readable(data, v) {
				return fmt.Sprintf(" (they are of %s in a %v: read them as such)", v, f)
			}
		}
	}
	if largeData.readable(data, r.variant) {
		return " (they are of 136 bytes, from a build with largedata=yes, which is not needed for these variants: generate with a default build)"
	}
	return ""
}

// readable reports whether all records of data have a position of v.
func (l *layout) readable(data []byte, v *chess.Variant) bool {
	size := l.position + tail
	if len(data) < size || l.hand == 0 && v.CapturesToHand {
		return false
	}
	var setup chess.Setup
	for ; len(data) >= size; data = data[size:] {
		if _, err := l.decodePosition(data[:l.position], v, &setup); err != nil {
			return false
		}
	}
	return true
}
