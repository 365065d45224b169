package chain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/game/plycode"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// errClosed is returned by a Writer after Close.
var errClosed = errors.New("chain: writer is closed")

// Writer writes samples and games to a .chain stream. It implements
// sample.Writer. What it writes may follow another .chain file of the same
// variant and unit. It holds at most one block in memory.
//
// Samples should come in the order of the game: one that does not follow from
// the last begins a chain, and takes some 30 bytes instead of two or three.
type Writer struct {
	out    io.Writer
	head   header // of the block
	block  []byte // header and payload so far
	item   []byte // scratch
	before game.Header
	usual  chess.Position // start position of the variant
	err    error          // returned from now on, unless nil

	// The open chain, none if plies is empty.
	chain  chainHead
	start  chess.Position
	stem   []byte // start as it is written
	plies  []plycode.Ply
	scores plycode.Scores
	last   chess.Position // of the last sample
	next   chess.Position // after its move
	follow bool           // its move is legal and known, so that next means something
}

// NewWriter returns a Writer of positions of v with scores in the given unit,
// from 1 to 65535.
func NewWriter(out io.Writer, v *chess.Variant, unit sample.Unit) (*Writer, error) {
	if variantNumber(v) == 0 {
		return nil, fmt.Errorf("%w: variant %v has no number", sample.ErrFormat, v)
	}
	if unit < 1 || unit > math.MaxUint16 {
		return nil, fmt.Errorf("%w: unit: found %d, expected 1 to %d", sample.ErrFormat, int(unit), math.MaxUint16)
	}
	w := &Writer{out: out, head: header{variant: v, unit: unit, version: versionPlain}, usual: v.Start()}
	w.block = make([]byte, headerSize, headerSize+fullPayload+game.MaxRecordBytes)
	return w, nil
}

// Write adds a sample; see sample.Writer. A sample with a move that is not legal,
// or whose piece is not known, is kept too. What a search made of the moves, how
// often the position stood before and how far the end is come with games only.
func (w *Writer) Write(s *sample.Sample) error {
	if w.err != nil {
		return w.err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if v := s.Pos.Variant(); v != w.head.variant {
		return fmt.Errorf("%w: found a position of %s, expected one of %s", sample.ErrRecord, v.Name, w.head.variant.Name)
	}
	if !w.continues(s) {
		if err := w.endChain(); err != nil {
			return err
		}
		w.chain = chainHead{result: s.ResultForWhite(), ply: s.Ply}
		w.start, w.stem = s.Pos, w.stem[:0]
		w.scores = plycode.Scores{}
		if s.Pos != w.usual {
			var err error
			if w.stem, err = appendPosition(w.stem, &s.Pos, s.Ply); err != nil {
				return err
			}
		}
	}
	w.add(s)
	return nil
}

// continues reports whether s follows from the last sample, and notes the move
// that leads to it if that is another than the sample's.
func (w *Writer) continues(s *sample.Sample) bool {
	n := len(w.plies)
	if n == 0 || n == MaxPlies || int(s.Ply) != int(w.chain.ply)+n || s.ResultForWhite() != w.chain.result {
		return false
	}
	if w.follow && s.Pos == w.next {
		return true
	}
	m := connect(&w.last, &s.Pos)
	if m == chess.NoMove {
		return false
	}
	w.plies[n-1].Other = m
	return true
}

// add makes s the last of the chain.
func (w *Writer) add(s *sample.Sample) {
	w.plies = append(w.plies, plycode.Ply{Move: s.Move, Score: s.Score, HasScore: true, Train: true, Partial: s.Partial})
	w.scores.Add(s.Score)
	w.last = s.Pos
	if w.follow = !s.Partial && s.Pos.IsLegal(s.Move); w.follow {
		w.next = s.Pos
		w.next.Make(s.Move)
	}
}

// endChain puts the open chain into the block.
func (w *Writer) endChain() error {
	n := len(w.plies)
	if n == 0 {
		return nil
	}
	w.chain.plies = n
	var e plycode.Encoder
	e.Reset(w.chain.append(w.item[:0], w.stem), &w.start, w.scores.Order())
	for i := range w.plies {
		if err := e.Add(&w.plies[i]); err != nil {
			return w.fail(err)
		}
	}
	w.item, w.plies = e.Bytes(), w.plies[:0]
	return w.addItem(n)
}

// WriteGame adds a whole game, with everything that is known about it. The unit
// must be centipawns. The error wraps sample.ErrRecord if the game has no record,
// and nothing of it is written.
func (w *Writer) WriteGame(g *game.Game) error {
	record, err := game.Encode(nil, g)
	if err != nil {
		return fmt.Errorf("%w: %w", sample.ErrRecord, err)
	}
	return w.WriteRecord(record)
}

// WriteRecord is WriteGame for the record of a game, such as game.Encode writes.
// Its plies are taken over as they are.
func (w *Writer) WriteRecord(record []byte) error {
	if w.err != nil {
		return w.err
	}
	h, plies, err := game.Split(record)
	if err != nil {
		return fmt.Errorf("%w: %w", sample.ErrRecord, err)
	}
	if h.Variant != w.head.variant || w.head.unit != sample.CentipawnUnit {
		return fmt.Errorf("%w: game: found one of %s, with scores in %v, expected %s and %v",
			sample.ErrRecord, h.Variant.Name, sample.CentipawnUnit, w.head.variant.Name, w.head.unit)
	}
	if err := w.endChain(); err != nil {
		return err
	}
	item, err := appendGame(w.item[:0], &h, &w.before, plies)
	if err != nil {
		return fmt.Errorf("%w: %w", sample.ErrRecord, err)
	}
	w.item, w.before = item, h
	if h.Policies {
		w.head.version = versionPolicies
	}
	return w.addItem(h.Plies)
}

// addItem puts w.item into the block, and writes that if it is full.
func (w *Writer) addItem(plies int) error {
	w.block = binary.AppendUvarint(w.block, uint64(len(w.item)))
	w.block = append(w.block, w.item...)
	w.head.items++
	w.head.plies += uint32(plies)
	if len(w.block)-headerSize < fullPayload {
		return nil
	}
	return w.flush()
}

// flush writes the block, unless it is empty, and begins another.
func (w *Writer) flush() error {
	if w.head.items == 0 {
		return nil
	}
	w.head.put(w.block)
	if _, err := w.out.Write(w.block); err != nil {
		return w.fail(fmt.Errorf("chain: block of %d bytes: %w", len(w.block), err))
	}
	w.block = w.block[:headerSize]
	w.head.items, w.head.plies, w.head.version = 0, 0, versionPlain
	w.before = game.Header{}
	return nil
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}

// Close writes the open chain and the last block. It does not close the stream
// below.
func (w *Writer) Close() error {
	if w.err != nil {
		if errors.Is(w.err, errClosed) {
			return nil
		}
		return w.err
	}
	if err := w.endChain(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.err = errClosed
	return nil
}
