// Package thesis reads and writes the text form of training data that M. Lombardo
// Rodriguez' thesis on NNUE training uses: a sample a line,
//
//	FEN,score,move
//
// or, to save room, a chain of positions that follow from each other:
//
//	FEN,score,move{,played,score,move}
//
// where played leads to the next position and is left empty if it is the move
// before it. The first form is a chain of one. Score is for the side to move,
// moves are in UCI's form, nothing is set apart by blanks.
//
// Results are not kept, nor are plies other than those of the move numbers, nor are,
// within a chain, a halfmove clock and a move number other than those that the moves
// lead to.
//
// Source: tools/src/plain_format.rs of github.com/mlomb/cs-master-thesis. The
// FENs and drops of crazyhouse are those of .plain.
package thesis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Loses says what of a sample the format does not keep, in words that complete
// "does not keep".
const Loses = "results, plies other than those of the move numbers, and in chains halfmove clocks and move numbers that jump"

// maxLine is the longest line read. It is room for 65,536 plies.
const maxLine = 1 << 20

// mostBegin is of how many lines at the beginning one has to be readable.
const mostBegin = 100

// Reader reads samples in either form. It implements sample.Reader; the scores
// are taken to be in sample.InternalUnit. Result, which the format does not have, is
// 0, and NoResult is set. Ply is that of the position's move number.
//
// A last line without an end is not read. An error in a line costs the samples
// after it in that line. If none of the first lines can be read, the error wraps
// sample.ErrFormat: the text is another one.
type Reader struct {
	r       *bufio.Reader
	variant *chess.Variant
	buf     []byte // the line, with its end
	line    []byte // what is left of it
	more    bool   // a comma came before what is left
	inChain bool   // prev is of this line
	prev    sample.Sample
	record  int64
	start   int64 // offset of the line
	last    int64 // offset of the sample read last
	rest    int64
	good    bool  // a sample was read
	err     error // returned from now on
}

// NewReader returns a Reader of positions of v.
func NewReader(r io.Reader, v *chess.Variant) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), variant: v}
}

// Unit returns sample.InternalUnit.
func (r *Reader) Unit() sample.Unit { return sample.InternalUnit }

// Offset returns where the sample that Read returned last begins; within a chain,
// the move that leads to it.
func (r *Reader) Offset() int64 { return r.last }

// Trailing returns the bytes of a last line without an end, once Read has
// returned io.EOF.
func (r *Reader) Trailing() int64 { return r.rest }

// Read reads the next sample.
func (r *Reader) Read(s *sample.Sample) error {
	for len(r.line) == 0 {
		if r.err != nil {
			return r.err
		}
		if err := r.nextLine(); errors.Is(err, io.EOF) && !r.good && r.record > 0 {
			r.err = r.other()
			return r.err
		} else if err != nil {
			return err
		}
	}
	at := len(bytes.TrimRight(r.buf, "\r\n")) - len(r.line)
	r.last = r.start + int64(at)
	err := r.parse()
	if err != nil {
		err = r.errorAt(at, err)
		r.line = nil
	} else {
		*s, r.good = r.prev, true
	}
	if r.record++; !r.good && r.record == mostBegin {
		r.err = r.other()
		err = r.err
	}
	return err
}

// other says that the text holds no samples.
func (r *Reader) other() error {
	return r.errorAt(0, fmt.Errorf("%w: found none of the first %d lines readable, expected FEN,score,move", sample.ErrFormat, r.record))
}

// errorAt says that err concerns the next record, that many bytes into the line.
func (r *Reader) errorAt(at int, err error) error {
	return &sample.ReadError{Record: r.record, Offset: r.start + int64(at), Err: err}
}

// nextLine reads a line. One that is too long is passed over, which is an error.
func (r *Reader) nextLine() error {
	r.start += int64(len(r.buf))
	r.buf, r.inChain = r.buf[:0], false
	long := int64(0) // length of a line too long
	for {
		part, err := r.r.ReadSlice('\n')
		if long > 0 || len(r.buf)+len(part) > maxLine {
			long += int64(len(r.buf) + len(part))
			r.buf = r.buf[:0]
		} else {
			r.buf = append(r.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			r.rest, r.err = long+int64(len(r.buf)), io.EOF
			return r.err
		case err != nil:
			r.err = r.errorAt(0, err)
			return r.err
		case long > 0:
			err := r.errorAt(0, fmt.Errorf("%w: found a line of %d bytes, expected at most %d", sample.ErrRecord, long, maxLine))
			r.start += long
			r.record++
			return err
		default:
			r.line = bytes.TrimRight(r.buf, "\r\n")
			return nil
		}
	}
}

// field takes the next field off the line.
func (r *Reader) field() []byte {
	field, rest, more := bytes.Cut(r.line, comma)
	r.line, r.more = rest, more
	return field
}

var comma = []byte{','}

// parse reads the next sample of the line into prev.
func (r *Reader) parse() error {
	const longest = 600 // three fields
	if text := r.line[:min(len(r.line), longest)]; bytes.Count(text, comma) < 2 {
		return fmt.Errorf("%w: found %q, expected three fields set apart by commas", sample.ErrRecord, text[:min(len(text), 80)])
	}
	pos, err := r.position(r.field())
	if err != nil {
		return err
	}
	score, err := sample.ParseScore(r.field())
	if err != nil {
		return err
	}
	ply := uint16(min(pos.Ply(), math.MaxUint16))
	r.prev = sample.Sample{Pos: pos, Score: score, NoResult: true, Ply: ply}
	r.prev.Move, r.prev.Partial, err = sample.ParseMove(&r.prev.Pos, r.field())
	if err == nil && r.more && len(r.line) == 0 {
		err = fmt.Errorf("%w: found a comma at the end of the line, expected a field after it", sample.ErrRecord)
	}
	r.inChain = true
	return err
}

// position returns the position that the first of three fields leads to: a FEN,
// or the move played in the position before.
func (r *Reader) position(field []byte) (chess.Position, error) {
	if !r.inChain {
		pos, err := chess.ParseFENBytes(r.variant, field)
		if err != nil {
			err = fmt.Errorf("%w: %w", sample.ErrRecord, err)
		}
		return pos, err
	}
	pos := r.prev.Pos
	played, partial := r.prev.Move, r.prev.Partial
	if len(field) != 0 {
		var err error
		if played, partial, err = sample.ParseMove(&pos, field); err != nil {
			return pos, err
		}
	}
	if partial || !pos.IsLegal(played) {
		return pos, fmt.Errorf("%w: move played: found %s in %s, expected a legal move",
			sample.ErrRecord, sample.AppendMove(nil, &pos, played, partial), pos.FEN())
	}
	pos.Make(played)
	return pos, nil
}

// Writer writes chains, or a line for each sample. It implements sample.Writer.
type Writer struct {
	w      *bufio.Writer
	chains bool
	begun  bool // prev is set
	prev   sample.Sample
	text   []byte
	moves  chess.MoveList
}

// NewWriter returns a Writer, of chains if chains is set. Scores are to be in
// sample.InternalUnit. Files may be appended to.
func NewWriter(w io.Writer, chains bool) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 64<<10), chains: chains}
}

// Write adds a sample. It continues the chain if a legal move leads from the
// sample before to this one: to the same board, hands, side to move, rights to
// castle and legal en passant captures.
func (w *Writer) Write(s *sample.Sample) error {
	if err := s.Check(); err != nil {
		return err
	}
	b := w.text[:0]
	if played, ok := w.played(&s.Pos); ok {
		b = append(b, ',')
		if w.prev.Partial || played != w.prev.Move {
			b = w.prev.Pos.AppendUCI(b, played)
		}
	} else {
		if w.begun {
			b = append(b, '\n')
		}
		b = s.Pos.AppendFEN(b)
	}
	b = strconv.AppendInt(append(b, ','), int64(s.Score), 10)
	b = sample.AppendMove(append(b, ','), &s.Pos, s.Move, s.Partial)
	w.text, w.prev, w.begun = b, *s, true
	_, err := w.w.Write(b)
	return err
}

// Close ends the last line and writes what is held back, but does not close the
// stream below.
func (w *Writer) Close() error {
	if w.begun {
		w.begun = false
		_ = w.w.WriteByte('\n') // Flush returns its error
	}
	return w.w.Flush()
}

// played returns the legal move that leads from the sample before to next, the
// best move first.
func (w *Writer) played(next *chess.Position) (chess.Move, bool) {
	prev := &w.prev.Pos
	if !w.chains || !w.begun || prev.Variant() != next.Variant() || prev.SideToMove() == next.SideToMove() {
		return chess.NoMove, false
	}
	if best := w.prev.Move; !w.prev.Partial && prev.IsLegal(best) && leads(prev, best, next) {
		return best, true
	}
	prev.Legal(&w.moves)
	changed := prev.Occupied() ^ next.Occupied()
	for _, m := range w.moves.Slice() {
		if sign := m.From(); !m.IsCastle() { // a square that the move empties or fills
			if m.IsDrop() {
				sign = m.To()
			}
			if !changed.Has(sign) {
				continue
			}
		}
		if leads(prev, m, next) {
			return m, true
		}
	}
	return chess.NoMove, false
}

// leads reports whether the legal move m leads from prev to next, of which the
// clocks and the manner of writing castling do not matter.
func leads(prev *chess.Position, m chess.Move, next *chess.Position) bool {
	got, want := *prev, *next
	got.Make(m)
	if got.Occupied() != want.Occupied() {
		return false
	}
	for _, p := range [...]*chess.Position{&got, &want} {
		if p.EnPassant() != chess.NoSquare && !canCapture(p) {
			p.ClearEnPassant()
		}
		p.SetClocks(0, 1)
		p.SetChess960(false) // unless a right says it, as a FEN
	}
	return got == want
}

// canCapture reports whether a capture en passant is legal in p, which has an en
// passant square.
func canCapture(p *chess.Position) bool {
	ep := p.EnPassant()
	us := p.SideToMove()
	for pawns := chess.PawnAttacks(us.Other(), ep) & p.Pieces(us, chess.Pawn); pawns != 0; pawns &= pawns - 1 {
		if p.IsLegal(chess.NewMove(pawns.First(), ep, chess.EnPassant)) {
			return true
		}
	}
	return false
}
