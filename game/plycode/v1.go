package plycode

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// DecoderV1 reads the plies of game records of version 1, which nobody writes
// any more. They differ in two things: flags have two bits, score above train,
// and a move is its index among the legal ones, sorted by their 16-bit code, in
// the fixed width of ⌈log2(number of them)⌉ bits.
type DecoderV1 struct {
	Decoder
	legal chess.MoveList
}

// Next reads a ply. It fails if it is none that version 1 has.
func (d *DecoderV1) Next(p *Ply) error {
	if d.r.read(1) != 0 {
		f := d.r.read(2)
		if f = f>>1 | f&1<<1; f == d.flags {
			return d.malformed("flags %02b once more", f)
		}
		d.flags = f
	}
	*p = Ply{HasScore: d.flags&flagScore != 0, Train: d.flags&flagTrain != 0}
	d.pos.Legal(&d.legal)
	n := d.legal.N
	if n == 0 {
		return fmt.Errorf("%w: ply %d: no legal move in %s", ErrIllegal, d.plies, d.pos.FEN())
	}
	i := int(d.r.read(uint(bits.Len(uint(n - 1)))))
	if i >= n {
		return fmt.Errorf("%w: ply %d: move number %d of %d legal ones", ErrIllegal, d.plies, i, n)
	}
	p.Move = sortedMove(d.legal.Slice(), i)
	return d.finish(p)
}

// sortedMove returns the move that would have index n if moves were sorted by
// code. Sorting them all would take longer than generating them, so only the
// moves that share the six high bits of the one sought are sorted. It may
// reorder moves.
func sortedMove(moves []chess.Move, n int) chess.Move {
	var count [64]int
	for _, m := range moves {
		count[m>>10]++
	}
	high := 0
	for n >= count[high] {
		n -= count[high]
		high++
	}
	same := moves[:0]
	for _, m := range moves {
		if int(m>>10) == high {
			same = append(same, m)
		}
	}
	slices.Sort(same)
	return same[n]
}
