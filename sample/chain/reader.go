package chain

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/game/plycode"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Reader reads the samples of a .chain stream, or the records of its games. It
// implements sample.Reader and holds one block in memory.
//
// Every move made is checked for being legal, and every position a chain begins
// with; that the outcome of a game is true to its moves is not, game.Decode does
// that. A damaged block or item is a *sample.ReadError that wraps
// sample.ErrRecord.
type Reader struct {
	in     *bufio.Reader
	offset int64 // of what in gives next
	until  int64 // no block from here on is read, unless 0
	begun  bool
	head   header // of the block; variant and unit are those of all
	blocks int64
	usual  chess.Position // start position of the variant

	block   []byte // rest of the payload; bytes of in's buffer
	blockAt int64
	toSkip  int // bytes of in that block lies in
	items   uint32
	plies   uint32
	spoilt  bool // an item was bad, so the counts will not fit
	before  game.Header

	dec    plycode.Decoder
	inGame bool        // the item is one
	keys   sample.Keys // of the game's positions
	itemAt int64
	left   int // plies of the item to be read
	result int8
	ply    uint16

	record    int64
	untrained uint64 // plies passed over
	rest      int64
	lost      error // damage to be reported before the next block
	err       error // returned from now on
}

// NewReader returns a Reader of a stream from its beginning.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, headerSize+MaxPayload)}
}

// NewSection returns a Reader of the blocks of a file of the given size that begin
// at the offsets from ≤ o < to. Sections that cover the file without overlapping
// have each of its samples once, but that damage is reported by the section of
// the block before it only.
func NewSection(r io.ReaderAt, size, from, to int64) *Reader {
	s := NewReader(io.NewSectionReader(r, from, size-from))
	s.offset, s.until = from, to
	if from > 0 {
		s.begun = true
		s.err = s.resync(0, math.MaxInt64)
	}
	return s
}

// Unit returns the unit of the scores, that of games if there are none.
func (r *Reader) Unit() sample.Unit {
	if r.begin(); r.head.unit == 0 {
		return sample.CentipawnUnit
	}
	return r.head.unit
}

// Variant returns the variant of the positions, nil if there are none.
func (r *Reader) Variant() *chess.Variant {
	r.begin()
	return r.head.variant
}

// Offset returns where the chain or game begins whose sample, or record, was read
// last.
func (r *Reader) Offset() int64 { return r.itemAt }

// InGame reports whether the sample read last is of a whole game.
func (r *Reader) InGame() bool { return r.inGame }

// Trailing returns, after io.EOF, the bytes at the end that are no whole block.
func (r *Reader) Trailing() int64 { return r.rest }

// begin looks at the first header without reading it.
func (r *Reader) begin() {
	if r.begun {
		return
	}
	r.begun = true
	b, _ := r.in.Peek(headerSize)
	if len(b) >= len(magic) && string(b[:len(magic)]) != magic {
		r.beginLate(fmt.Errorf("found magic %q, expected %q of a %s file", b[:len(magic)], magic, Extension))
		b, _ = r.in.Peek(headerSize)
	}
	if len(b) == headerSize && r.err == nil {
		h, err := parseHeader(b)
		if errors.Is(err, errNoHeader) {
			h = r.nextHeader()
		}
		r.head.variant, r.head.unit = h.variant, h.unit
	}
}

// nextHeader looks for the next header after a damaged one, which may lie as far on as a
// block is large, without reading anything. It is empty if there is none.
func (r *Reader) nextHeader() header {
	b, _ := r.in.Peek(headerSize + MaxPayload)
	for {
		i := bytes.Index(b[1:], []byte(magic)) + 1
		if i == 0 || len(b)-i < headerSize {
			return header{}
		}
		b = b[i:]
		if h, err := parseHeader(b); err == nil {
			return h
		}
	}
}

// beginLate goes on to the first whole block of a file that begins otherwise. If it is
// one of ours, but damaged, another block begins after at most the bytes of the largest.
func (r *Reader) beginLate(why error) {
	at := r.offset
	switch err := r.resync(1, at+headerSize+MaxPayload); {
	case err == nil:
		r.lost = r.leftOut(at, why)
	case errors.Is(err, io.EOF) || errors.Is(err, errNoHeader):
		r.err = r.errorAt(at, fmt.Errorf("%w: %w", sample.ErrFormat, why))
	}
}

// Read reads the next sample; see sample.Reader.
func (r *Reader) Read(s *sample.Sample) error {
	r.begin()
	for {
		for r.left == 0 {
			if err := r.nextItem(); err != nil {
				return err
			}
		}
		var p plycode.Ply
		s.Pos = *r.dec.Pos()
		s.Ply, s.Repetitions, s.PliesLeft, s.NoResult = r.ply, 0, 0, false
		if r.inGame {
			r.keys = append(r.keys, s.Pos.Key())
			s.Repetitions, s.PliesLeft = r.keys.Repetitions(), uint16(r.left)
		}
		if err := r.nextPly(&p); err != nil {
			return err
		}
		if !p.Train {
			r.untrained++
			continue
		}
		s.Move, s.Score, s.Partial, s.Policy = p.Move, p.Score, p.Partial, p.Policy
		if !p.HasScore {
			s.Score = sample.NoScore
		}
		if s.Result = r.result; s.Pos.SideToMove() == chess.Black {
			s.Result = -r.result
		}
		if p.Partial || p.Other != chess.NoMove || r.dec.Ended() {
			if err := s.Check(); err != nil {
				return r.bad(err)
			}
		}
		r.record++
		return nil
	}
}

// Untrained returns how many opening and random moves Read has passed over so far.
func (r *Reader) Untrained() uint64 { return r.untrained }

// nextPly reads a ply of the item. After the last it checks that nothing is left.
func (r *Reader) nextPly(p *plycode.Ply) error {
	err := r.dec.Next(p)
	r.left--
	r.ply++
	if err == nil && r.left == 0 {
		err = r.dec.End()
	}
	if err != nil {
		r.left = 0
		return r.bad(fmt.Errorf("%w: %w", sample.ErrRecord, err))
	}
	return nil
}

// Record appends to dst the record of the next game, which is then passed over,
// if the next sample is the first of a game. If not, it returns dst as it is: the
// samples up to the next game, or the end, are for Read. The record's checksum is
// right; game.Decode is needed to know that its game is.
func (r *Reader) Record(dst []byte) ([]byte, error) {
	r.begin()
	for r.left == 0 {
		item, err := r.takeItem()
		if err != nil {
			return dst, err
		}
		c := cursor{b: item}
		if item[0]&itemGame == 0 {
			if err := r.openChain(&c); err != nil {
				return dst, err
			}
			continue
		}
		if _, err := r.openGame(&c); err != nil {
			return dst, err
		}
		record, err := game.Join(dst, &r.before, c.b)
		if err != nil {
			return dst, r.bad(fmt.Errorf("%w: %w", sample.ErrRecord, err))
		}
		r.record += int64(r.before.Plies)
		return record, nil
	}
	return dst, nil
}

// nextItem goes on to the plies of the next item.
func (r *Reader) nextItem() error {
	item, err := r.takeItem()
	if err != nil {
		return err
	}
	c := cursor{b: item}
	if item[0]&itemGame == 0 {
		return r.openChain(&c)
	}
	start, err := r.openGame(&c)
	if err != nil {
		return err
	}
	r.left, r.ply, r.inGame, r.keys = r.before.Plies, 0, true, r.keys[:0]
	r.result = sample.ResultFor(chess.White, r.before.Outcome)
	if r.before.Policies {
		r.dec.ResetPolicies(c.b, &start)
	} else {
		r.dec.Reset(c.b, &start)
	}
	return nil
}

// openGame reads the fields of a game up to its plies.
func (r *Reader) openGame(c *cursor) (start chess.Position, err error) {
	start, err = readGame(c, &r.before, &r.usual)
	if err == nil && r.before.Policies && r.head.version != versionPolicies {
		err = fmt.Errorf("%w: game: found policies in a block of version %d, expected version %d", sample.ErrRecord, r.head.version, versionPolicies)
	}
	if err != nil {
		return start, r.bad(err)
	}
	r.plies += uint32(r.before.Plies)
	return start, nil
}

func (r *Reader) openChain(c *cursor) error {
	var h chainHead
	start, err := h.read(c, &r.usual)
	if err != nil {
		return r.bad(err)
	}
	r.plies += uint32(h.plies)
	r.left, r.ply, r.result, r.inGame = h.plies, h.ply, h.result, false
	r.dec.Reset(c.b, &start)
	return nil
}

// takeItem returns the next item, of at least one byte, in the next block if need
// be.
func (r *Reader) takeItem() ([]byte, error) {
	for len(r.block) == 0 {
		if err := r.nextBlock(); err != nil {
			return nil, err
		}
	}
	r.itemAt = r.offset + int64(r.toSkip-len(r.block))
	size, n := binary.Uvarint(r.block)
	if n <= 0 || size == 0 || size > uint64(len(r.block)-n) {
		left := len(r.block)
		r.block = nil
		return nil, r.bad(fmt.Errorf("%w: item: found length %d, expected 1 to %d", sample.ErrRecord, size, left-n))
	}
	item := r.block[n : n+int(size)]
	r.block = r.block[n+int(size):]
	r.items++
	return item, nil
}

// nextBlock reads and checks the next block, after it has compared the last one
// with its header.
func (r *Reader) nextBlock() error {
	if r.err != nil {
		return r.err
	}
	if err := r.lost; err != nil {
		r.lost = nil
		return err
	}
	if err := r.endBlock(); err != nil {
		return err
	}
	if r.until != 0 && r.offset >= r.until {
		r.err = io.EOF
		return r.err
	}
	b, err := r.in.Peek(headerSize)
	if err != nil {
		return r.end(len(b), err)
	}
	h, err := parseHeader(b)
	if errors.Is(err, errNoHeader) {
		return r.damage(err, true)
	}
	if err == nil && r.head.variant != nil && (h.variant != r.head.variant || h.unit != r.head.unit) {
		err = fmt.Errorf("%w: found a block of %s with scores in %v, expected %s and %v as before",
			sample.ErrFormat, h.variant.Name, h.unit, r.head.variant.Name, r.head.unit)
	}
	if err != nil {
		r.err = r.errorAt(r.offset, err)
		return r.err
	}
	size := headerSize + h.size
	b, err = r.in.Peek(size)
	switch {
	case errors.Is(err, io.EOF): // a writer was stopped; other files may have been appended
		return r.damage(fmt.Errorf("found %d bytes of a block of %d", len(b), size), true)
	case err != nil:
		return r.end(len(b), err)
	}
	if found := crc32.Checksum(b[headerSize:], castagnoli); found != h.crc {
		return r.damage(fmt.Errorf("block of %d bytes: checksum %08x, its bytes give %08x", size, h.crc, found), false)
	}
	if r.blocks++; r.blocks == 1 {
		r.usual = h.variant.Start()
	}
	r.head = h
	r.blockAt, r.toSkip = r.offset, size
	r.block = b[headerSize:]
	r.items, r.plies, r.spoilt = 0, 0, false
	r.before = game.Header{}
	return nil
}

// endBlock passes over the block that has been read.
func (r *Reader) endBlock() error {
	if r.toSkip == 0 {
		return nil
	}
	if err := r.skip(r.toSkip); err != nil {
		return err
	}
	r.toSkip = 0
	if !r.spoilt && (r.items != r.head.items || r.plies != r.head.plies) {
		return r.badAt(r.blockAt, fmt.Errorf("%w: block: found %d items with %d plies, expected %d and %d as its header says",
			sample.ErrRecord, r.items, r.plies, r.head.items, r.head.plies))
	}
	return nil
}

func (r *Reader) skip(n int) error {
	done, err := r.in.Discard(n)
	r.offset += int64(done)
	if err != nil {
		r.err = r.errorAt(r.offset, err)
	}
	return r.err
}

// end is the end of the stream, or an error of it, with n bytes left.
func (r *Reader) end(n int, err error) error {
	if r.err = io.EOF; !errors.Is(err, io.EOF) {
		r.err = r.errorAt(r.offset, err)
	}
	r.rest = int64(n)
	return r.err
}

// damage goes on to the next whole block, which may lie in what a header says is its
// payload. What is after the last one is not damage but the rest, if it may be what a
// stopped writer left.
func (r *Reader) damage(why error, stopped bool) error {
	at := r.offset
	err := r.resync(1, math.MaxInt64)
	ended := errors.Is(err, io.EOF)
	if ended && stopped {
		r.rest = r.offset - at
	}
	if err == nil || ended && !stopped {
		return r.leftOut(at, why)
	}
	r.err = err
	return err
}

// leftOut is the error of the bytes passed over since an offset.
func (r *Reader) leftOut(at int64, why error) error {
	return r.badAt(at, fmt.Errorf("%w: %d bytes left out: %w", sample.ErrRecord, r.offset-at, why))
}

// resync passes over the stream up to the next whole block that begins skip bytes
// from here or later. The error wraps errNoHeader if none begins up to the offset
// last.
func (r *Reader) resync(skip int, last int64) error {
	for {
		if err := r.skip(skip); err != nil {
			return err
		}
		if r.offset > last {
			return errNoHeader
		}
		b, err := r.in.Peek(headerSize)
		if err != nil {
			n := len(b)
			if skipErr := r.skip(n); skipErr != nil {
				return skipErr
			}
			return r.end(0, err)
		}
		if r.wholeBlock(b) {
			return nil
		}
		b, _ = r.in.Peek(r.in.Buffered())
		if skip = bytes.Index(b[1:], []byte(magic)) + 1; skip == 0 {
			skip = len(b) - len(magic) + 1
		}
	}
}

// wholeBlock reports whether the stream goes on with one, whose header may begin
// in b.
func (r *Reader) wholeBlock(b []byte) bool {
	h, err := parseHeader(b)
	if err != nil {
		return errors.Is(err, sample.ErrFormat) // nextBlock reports it
	}
	b, err = r.in.Peek(headerSize + h.size)
	return err == nil && crc32.Checksum(b[headerSize:], castagnoli) == h.crc
}

func (r *Reader) errorAt(offset int64, err error) error {
	return &sample.ReadError{Record: r.record, Offset: offset, Err: err}
}

// bad is the error of an item, badAt that of anything at an offset. Either counts
// as a record.
func (r *Reader) bad(err error) error {
	r.spoilt = true
	return r.badAt(r.itemAt, err)
}

func (r *Reader) badAt(offset int64, err error) error {
	err = r.errorAt(offset, err)
	r.record++
	return err
}
