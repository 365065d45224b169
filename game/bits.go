package game

import (
	"errors"
	"math/bits"
)

// errBits says that a string of bits ended early or holds an impossible code.
var errBits = errors.New("bits end early or are not a code")

// bitWriter appends bits to a byte slice, highest bit of each byte first.
type bitWriter struct {
	b    []byte
	free uint // unused low bits of the last byte
}

// write appends the low n bits of v, n ≤ 32.
func (w *bitWriter) write(v uint32, n uint) {
	for n > 0 {
		if w.free == 0 {
			w.b = append(w.b, 0)
			w.free = 8
		}
		k := min(n, w.free)
		part := byte(v >> (n - k) & (1<<k - 1))
		w.b[len(w.b)-1] |= part << (w.free - k)
		w.free -= k
		n -= k
	}
}

// golomb appends v in the Exp-Golomb code of order k; v + 2^k must stay below
// 2^maxGolomb.
func (w *bitWriter) golomb(v uint32, k uint) {
	u := v + 1<<k
	w.write(0, uint(bits.Len32(u))-1-k)
	w.write(u, uint(bits.Len32(u)))
}

// golombLen returns the number of bits golomb would write.
func golombLen(v uint32, k uint) int {
	return 2*bits.Len32(v+1<<k) - 1 - int(k)
}

// maxGolomb bounds the bits of a code word's second half. Scores need 18.
const maxGolomb = 20

// bitReader reads what bitWriter wrote.
type bitReader struct {
	b   []byte
	pos uint // in bits
}

// read returns the next n bits, n ≤ 32.
func (r *bitReader) read(n uint) (uint32, error) {
	if r.pos+n > uint(len(r.b))*8 {
		return 0, errBits
	}
	var v uint32
	for n > 0 {
		left := 8 - r.pos&7
		k := min(n, left)
		v = v<<k | uint32(r.b[r.pos>>3]>>(left-k))&(1<<k-1)
		r.pos += k
		n -= k
	}
	return v, nil
}

// golomb reads an Exp-Golomb code of order k ≤ 15.
func (r *bitReader) golomb(k uint) (uint32, error) {
	n := k // bits after the leading one
	for {
		bit, err := r.read(1)
		if err != nil {
			return 0, err
		}
		if bit == 1 {
			break
		}
		if n++; n >= maxGolomb {
			return 0, errBits
		}
	}
	low, err := r.read(n)
	return 1<<n + low - 1<<k, err
}

// padded reports whether only zero bits of the last byte are left.
func (r *bitReader) padded() bool {
	left := uint(len(r.b))*8 - r.pos
	return left < 8 && (left == 0 || r.b[len(r.b)-1]&(1<<left-1) == 0)
}

// zigzag maps 0, −1, 1, −2, 2 … to 0, 1, 2, 3, 4 …
func zigzag(d int32) uint32 { return uint32(d<<1 ^ d>>31) }

// unzigzag undoes zigzag.
func unzigzag(u uint32) int32 { return int32(u>>1) ^ -int32(u&1) }
