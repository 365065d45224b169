package binpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// readBuffer is the size of the buffer before the stream: all the memory that
// reading takes, however large the blocks are.
const readBuffer = 64 << 10

// Reader reads the samples of a .binpack stream. It implements sample.Reader.
//
// Every move it returns is legal, but for chess.NoMove where the file says that
// there is none. Castling rights without king and rook in place are dropped. An
// en passant square is kept as package chess keeps it where a chain begins, and
// by the rule of the format inside.
type Reader struct {
	in     *bufio.Reader
	offset int64 // of the next byte
	at     int64 // of the record read last
	record int64 // number of the next record
	err    error // returned from now on, unless nil

	block    int64 // number of the block, from 1; 0 before the first
	blockAt  int64 // offset of its header
	left     int64 // bytes of its payload not yet read
	trailing int64 // bytes at its end that were no record
	damaged  bool  // what is left of it cannot be made sense of

	chain   int64          // number of the chain in the block, from 1
	more    int            // continuations to come in the chain
	bits    uint           // bits already read of the next byte
	rights  chess.Bitboard // corners of the rooks that may castle
	current sample.Sample  // the last read
}

// NewReader returns a Reader of the stream in, from which it may take more than
// it needs for the samples returned so far.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, readBuffer)}
}

// Unit returns the unit of the scores.
func (r *Reader) Unit() sample.Unit { return Unit }

// Offset returns where the record begins that Read returned last: its stem, or
// the byte its continuation begins in.
func (r *Reader) Offset() int64 { return r.at }

// Trailing returns, after io.EOF, the number of bytes at the end that were not
// read: too few for a chain, or for the record that was cut off there.
func (r *Reader) Trailing() int64 { return r.trailing }

// Read reads the next sample into s; see sample.Reader.
//
// A chain can only be read from its beginning, and the next chain be found only
// at its end. So after an error that wraps sample.ErrRecord, Read goes on with
// the next block, or with the next chain if the bad one was a single sample.
// Records passed over are not counted. A stream may end inside a block: its
// records up to there are read.
func (r *Reader) Read(s *sample.Sample) error {
	if r.err != nil {
		return r.err
	}
	if r.more == 0 {
		if err := r.nextChain(); err != nil {
			return r.fail(r.offset, err)
		}
	}
	at := r.offset
	var err error
	if r.more == 0 {
		err = r.readStem()
	} else {
		err = r.readContinuation()
	}
	if err != nil {
		return r.fail(at, err)
	}
	*s = r.current
	r.record++
	r.at = at
	return nil
}

// fail returns err with where it happened, and prepares for what comes after.
func (r *Reader) fail(at int64, err error) error {
	if err == io.EOF {
		r.err = io.EOF
		return io.EOF
	}
	if r.block > 0 {
		err = fmt.Errorf("block %d at byte %d, chain %d: %w", r.block, r.blockAt, r.chain, err)
	}
	err = &sample.ReadError{Record: r.record, Offset: at, Err: err}
	if errors.Is(err, sample.ErrRecord) {
		r.record++
		r.damaged = r.more > 0
		r.more = 0
	} else {
		r.err = err
	}
	return err
}

// bad returns an error about a record, which leaves the blocks after it
// readable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{sample.ErrRecord}, args...)...)
}

// nextChain goes to the next stem. It returns io.EOF at the end of the stream.
func (r *Reader) nextChain() error {
	if r.damaged {
		r.damaged = false
		if err := r.skip(r.left); err != nil {
			return err
		}
	}
	for r.left < chainSize {
		if err := r.nextBlock(); err != nil {
			return err
		}
	}
	r.chain++
	return nil
}

// nextBlock passes over the rest of the block, too little for a chain, and reads
// the header of the next. It returns io.EOF at the end of the stream.
func (r *Reader) nextBlock() error {
	r.trailing = r.left
	if err := r.skip(r.left); err != nil {
		return err
	}
	header, err := r.in.Peek(headerSize)
	if len(header) == 0 && err == io.EOF {
		return io.EOF
	}
	if found := string(header[:min(len(header), len(magic))]); !strings.HasPrefix(magic, found) {
		return fmt.Errorf("%w: found %q, expected %q at the start of a block", sample.ErrFormat, found, magic)
	}
	if err != nil {
		return r.short(len(header), err)
	}
	size := int64(binary.LittleEndian.Uint32(header[len(magic):]))
	if size > maxPayload {
		return fmt.Errorf("%w: block of %d bytes, expected at most %d", sample.ErrFormat, size, maxPayload)
	}
	r.block++
	r.chain = 0
	r.blockAt = r.offset
	r.left = headerSize + size
	return r.skip(headerSize)
}

// skip passes over n bytes of the block.
func (r *Reader) skip(n int64) error {
	done, err := r.in.Discard(int(n))
	r.offset += int64(done)
	r.left -= int64(done)
	if err != nil {
		return r.short(done, err)
	}
	return nil
}

// short returns the error of a stream that did not give what the block's header
// or the chain promises, but n bytes. Its end is that of the samples, as in other
// formats: a download may have been interrupted.
func (r *Reader) short(n int, err error) error {
	r.trailing = int64(n)
	return err
}

// readStem reads the first sample of a chain and the number of those to follow.
func (r *Reader) readStem() error {
	b, err := r.in.Peek(chainSize)
	if err != nil {
		n := len(b)
		if r.chain == 1 { // nothing of the block is whole
			n += headerSize
		}
		return r.short(n, err)
	}
	r.more = int(binary.BigEndian.Uint16(b[stemSize:]))
	r.bits = 0
	r.rights, err = decodeStem((*[stemSize]byte)(b), &r.current)
	if err == nil && r.more > 0 && r.current.Move == chess.NoMove {
		err = fmt.Errorf("%d continuations of a position without a move, expected none", r.more)
	}
	if skipped := r.skip(chainSize); skipped != nil {
		return skipped
	}
	if err != nil {
		return bad("%w", err)
	}
	return nil
}

// readContinuation reads a sample whose position follows from the last one.
func (r *Reader) readContinuation() error {
	if r.current.Ply == math.MaxUint16 {
		return bad("ply %d, expected at most %d", math.MaxUint16+1, math.MaxUint16)
	}
	r.advance()
	b, streamErr := r.in.Peek(8)
	in := newBitReader(b, r.bits)
	err := r.decode(&in)
	if there := min(r.left, int64(len(b))); int64(in.used) > 8*there {
		if there < r.left {
			return r.short(len(b), streamErr)
		}
		return bad("%d continuations do not fit into the block, expected its end after them", r.more)
	}
	if err != nil {
		return err
	}
	r.more--
	if r.more == 0 {
		in.used += 7 // the next chain begins with a byte
	}
	r.bits = in.used % 8
	return r.skip(int64(in.used / 8))
}

// advance makes the move of the current sample and sets all but move and score
// for the position reached.
func (r *Reader) advance() {
	s := &r.current
	r.rights = keepRights(r.rights, s.Move)
	afterMove(&s.Pos, s.Move)
	s.Ply++
	s.Result = -s.Result
	s.Pos.SetClocks(s.Pos.HalfmoveClock(), int(fullmove(s.Ply)))
}

// decode takes move and score of the current sample, whose score is still that
// of the sample before.
func (r *Reader) decode(in *bitReader) error {
	s := &r.current
	own := s.Pos.ByColor(s.Pos.SideToMove())
	pieces := own.Count()
	piece := in.take(width(pieces))
	if piece >= pieces {
		return bad("piece %d, expected less than %d", piece, pieces)
	}
	from := nth(own, piece)
	c := choicesOf(&s.Pos, r.rights, from)
	n := c.count()
	i := in.take(width(n))
	if i >= n {
		return bad("move %d of the piece on %v, expected less than %d in %s", i, from, n, s.Pos.FEN())
	}
	s.Move = c.at(&s.Pos, from, i)
	if !s.Pos.IsLegal(s.Move) {
		return bad("%v%v is not legal in %s", from, s.Move.To(), s.Pos.FEN())
	}
	delta, ok := in.score()
	if !ok {
		return bad("score of more than %d bits", 16)
	}
	s.Score = search.Score(delta - int16(s.Score))
	return nil
}
