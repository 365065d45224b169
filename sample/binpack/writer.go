package binpack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// maxContinuations is the largest number of continuations a chain can count.
const maxContinuations = 1<<16 - 1

// errClosed is returned by a Writer after Close.
var errClosed = errors.New("binpack: writer is closed")

// Writer writes samples of chess as a .binpack stream, in the chains and blocks
// that Stockfish's tools make of them. It implements sample.Writer and holds at
// most one block, of little more than a MiB, in memory. What it writes may follow
// another .binpack.
//
// A sample continues the chain if its position is the one after the move of the
// sample before, its ply the next, and its result the opposite one. So samples
// should come in the order of the game, without gaps.
type Writer struct {
	out   io.Writer
	block []byte // header and payload so far
	err   error  // returned from now on, unless nil

	countAt int // where in block the count of the open chain stands; 0 if none is open
	count   int // its continuations
	bits    bitWriter

	// Of the last sample written: the position after its move, clocks apart, and
	// what else decides about a continuation.
	next   chess.Position
	move   chess.Move
	score  int16
	result int8
	ply    uint16
}

// NewWriter returns a Writer to the stream out.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, block: make([]byte, headerSize, headerSize+fullPayload+fullPayload/16)}
	copy(w.block, magic)
	return w
}

// Write adds a sample; see sample.Writer. Its score is in Unit. A sample without
// a move, chess.NoMove, is a chain of its own.
//
// Refused, with an error that wraps sample.ErrRecord, are positions of other
// variants or with the castling rights of Chess960, or of more than 32 pieces;
// moves that are not legal or not fully known; scores of more than 16 bits; and
// plies from 16384 where a chain begins, which leaves room for 14 bits only.
func (w *Writer) Write(s *sample.Sample) error {
	if w.err != nil {
		return w.err
	}
	if err := check(s); err != nil {
		return err
	}
	pos := s.Pos
	pos.SetChess960(false)
	trimEnPassant(&pos)
	if w.continues(s, &pos) {
		w.addContinuation(s, &pos)
	} else if err := w.beginChain(s, &pos); err != nil {
		return err
	}
	w.move, w.score, w.result, w.ply = s.Move, int16(s.Score), s.Result, s.Ply
	if s.Move != chess.NoMove {
		w.next = pos
		afterMove(&w.next, s.Move)
	}
	return nil
}

// Close writes the last block. It does not close the stream below.
func (w *Writer) Close() error {
	if w.err != nil {
		if w.err == errClosed {
			return nil
		}
		return w.err
	}
	w.endChain()
	if err := w.flush(); err != nil {
		return err
	}
	w.err = errClosed
	return nil
}

// check returns an error if the format cannot hold s at all.
func check(s *sample.Sample) error {
	pos := &s.Pos
	switch {
	case pos.Variant() != chess.Chess:
		return bad("a position of %s, expected one of standard chess: the format has no pieces in hand and no drops", pos.Variant().Name)
	case pos.Occupied().Count() > maxPieces:
		return bad("%d pieces, expected at most %d", pos.Occupied().Count(), maxPieces)
	case s.Partial:
		return bad("a move whose promotion is not known, expected the piece")
	case s.Score < sample.MinScore || s.Score > sample.MaxScore:
		return bad("score %d, expected %d to %d", int(s.Score), int(sample.MinScore), int(sample.MaxScore))
	case s.Result < -1 || s.Result > 1:
		return bad("result %d, expected -1, 0 or 1", s.Result)
	case s.Move != chess.NoMove && !pos.IsLegal(s.Move):
		return bad("%v%v, kind %d, is not legal in %s", s.Move.From(), s.Move.To(), s.Move.Kind(), pos.FEN())
	case pos.Chess960() && !standardRights(pos):
		return bad("castling rights of Chess960 in %s, expected those of standard chess", pos.FEN())
	}
	return nil
}

// standardRights reports whether standard chess has all castling rights of p.
func standardRights(p *chess.Position) bool {
	standard := *p
	standard.SetChess960(false)
	return !standard.Chess960()
}

// continues reports whether s, whose position is p by the rules of the format,
// is what the last sample leads to.
func (w *Writer) continues(s *sample.Sample, p *chess.Position) bool {
	if w.countAt == 0 || w.count == maxContinuations || w.move == chess.NoMove || s.Move == chess.NoMove ||
		s.Result != -w.result || int(s.Ply) != int(w.ply)+1 || p.Key() != w.next.Key() {
		return false
	}
	w.next.SetClocks(p.HalfmoveClock(), p.FullmoveNumber())
	return w.next == *p
}

// beginChain ends the chain, and the block if it is full, and begins anew.
func (w *Writer) beginChain(s *sample.Sample, p *chess.Position) error {
	if s.Ply > maxStemPly {
		return bad("ply %d where a chain begins, expected at most %d", s.Ply, maxStemPly)
	}
	w.endChain()
	if len(w.block)-headerSize >= fullPayload {
		if err := w.flush(); err != nil {
			return err
		}
	}
	var stem [stemSize]byte
	encodeStem(&stem, s, p)
	w.block = append(w.block, stem[:]...)
	w.countAt = len(w.block)
	w.count = 0
	w.block = append(w.block, 0, 0)
	return nil
}

// addContinuation adds move and score of s to the chain.
func (w *Writer) addContinuation(s *sample.Sample, p *chess.Position) {
	own := p.ByColor(p.SideToMove())
	c := choicesOf(p, p.CastlingRooks(), s.Move.From())
	w.block = w.bits.put(w.block, uint(rank(own, s.Move.From())), width(own.Count()))
	w.block = w.bits.put(w.block, uint(c.number(s.Move)), width(c.count()))
	w.block = w.bits.score(w.block, int16(s.Score)+w.score)
	w.count++
}

// endChain completes the open chain, if there is one.
func (w *Writer) endChain() {
	if w.countAt == 0 {
		return
	}
	w.block = w.bits.flush(w.block)
	binary.BigEndian.PutUint16(w.block[w.countAt:], uint16(w.count))
	w.countAt = 0
}

// flush writes the block, unless it is empty, and begins a new one.
func (w *Writer) flush() error {
	if len(w.block) == headerSize {
		return nil
	}
	binary.LittleEndian.PutUint32(w.block[len(magic):], uint32(len(w.block)-headerSize))
	if _, err := w.out.Write(w.block); err != nil {
		w.err = fmt.Errorf("binpack: block of %d bytes: %w", len(w.block), err)
		return w.err
	}
	w.block = w.block[:headerSize]
	return nil
}
