package binpack

import (
	"encoding/binary"
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// bitReader takes numbers from 64 bits, the most significant first. That is
// enough for a continuation after up to 7 bits of the one before: 5 bits for one
// of at most 32 pieces, 5 for one of at most 28 moves, 20 for the score.
type bitReader struct {
	word uint64 // what is left, at the top
	used uint
}

// newBitReader reads b, at most 8 bytes, from after the first skip bits, less
// than 8. After the end of b it finds zeros.
func newBitReader(b []byte, skip uint) bitReader {
	var word uint64
	if len(b) == 8 {
		word = binary.BigEndian.Uint64(b)
	} else {
		for i, v := range b {
			word |= uint64(v) << (56 - 8*i)
		}
	}
	return bitReader{word: word << (skip & 7), used: skip}
}

// take returns the next n bits, at most 32. What it takes beyond the end is
// counted in used.
func (r *bitReader) take(n uint) int {
	v := r.word >> 32 >> (32 - n)
	r.word <<= n
	r.used += n
	return int(v)
}

// score takes the difference of a score from the one expected: its zigzag number
// in groups of four bits, the least significant first, each after a bit that
// tells whether another follows. It reports whether the groups end.
func (r *bitReader) score() (delta int16, ok bool) {
	v := 0
	for shift := 0; shift < 16; shift += 4 {
		group := r.take(5)
		v |= group & 15 << shift
		if group < 16 {
			return unzigzag(uint16(v)), true
		}
	}
	return 0, false
}

// bitWriter appends numbers to bytes, the most significant bit first.
type bitWriter struct {
	word uint64 // bits not yet appended, at the bottom
	n    uint   // their number, less than 8 between calls
}

// put adds the n low bits of v, which has no others, and appends the bytes that
// are full to dst; n is at most 32.
func (w *bitWriter) put(dst []byte, v, n uint) []byte {
	w.word = w.word<<n | uint64(v)
	for w.n += n; w.n >= 8; {
		w.n -= 8
		dst = append(dst, byte(w.word>>w.n))
	}
	return dst
}

// score adds a score's difference from the one expected, as bitReader.score
// takes it.
func (w *bitWriter) score(dst []byte, delta int16) []byte {
	v := uint(zigzag(delta))
	for ; v > 15; v >>= 4 {
		dst = w.put(dst, v&15|16, 5)
	}
	return w.put(dst, v, 5)
}

// flush fills the last byte up with zeros and appends it.
func (w *bitWriter) flush(dst []byte) []byte {
	if w.n > 0 {
		dst = w.put(dst, 0, 8-w.n)
	}
	return dst
}

// zigzag numbers 0, −1, 1, −2, 2, … from 0.
func zigzag(v int16) uint16 { return uint16(v<<1 ^ v>>15) }

func unzigzag(v uint16) int16 { return int16(v>>1) ^ -int16(v&1) }

// width returns the bits that a choice among n takes.
func width(n int) uint {
	if n == 0 {
		return 0
	}
	return uint(bits.Len(uint(n - 1)))
}

// nth returns the square that has n lower ones in set, which must have more.
func nth(set chess.Bitboard, n int) chess.Square {
	for ; n > 0; n-- {
		set &= set - 1
	}
	return set.First() & 63
}

// rank returns the number of squares of set below s.
func rank(set chess.Bitboard, s chess.Square) int {
	return (set & (s.Bitboard() - 1)).Count()
}
