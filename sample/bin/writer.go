package bin

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/sample"
)

// Writer writes a .bin file. It implements sample.Writer.
type Writer struct {
	w      *bufio.Writer
	layout *layout
	code   moveCode
	record [64 + tail]byte
}

// NewWriter returns a Writer in format f. Scores are to be in
// sample.InternalUnit. Files may be appended to.
func NewWriter(w io.Writer, f Format) *Writer {
	out := &Writer{w: bufio.NewWriterSize(w, 64<<10), layout: f.layout()}
	if f == Bits256 {
		out.code = code256
	}
	return out
}

// Write adds a record. Refused are, beside what no sample may be, castling rights
// of Chess960, more than 32 pieces on the board and in hand, for which trainers
// have no room, and crazyhouse in Bits256.
func (w *Writer) Write(s *sample.Sample) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Partial && w.code == code256 {
		return fmt.Errorf("%w: move: found a promotion to an unknown piece, expected a known one in a %s", sample.ErrRecord, w.layout.name)
	}
	n := w.layout.position
	if err := w.layout.encodePosition(w.record[:n], &s.Pos); err != nil {
		return err
	}
	data := w.record[n : n+tail]
	binary.LittleEndian.PutUint16(data, uint16(s.Score))
	binary.LittleEndian.PutUint16(data[2:], w.code.encode(s.Move))
	binary.LittleEndian.PutUint16(data[4:], s.Ply)
	data[6] = byte(s.Result)
	_, err := w.w.Write(w.record[:n+tail])
	return err
}

// Close writes what is held back, but does not close the stream below.
func (w *Writer) Close() error { return w.w.Flush() }
