package plycode

import (
	"encoding/binary"
	"math/bits"
)

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

// choice appends i, one of n numbers from 0, in truncated binary: the u lowest
// take one bit less than the others, with u = 2^(k+1) − n and k = ⌊log2 n⌋.
func (w *bitWriter) choice(i, n uint) {
	k, u := choiceWidth(n)
	if i < u {
		w.write(uint32(i), k)
	} else {
		w.write(uint32(i+u), k+1)
	}
}

// golomb appends v in the Exp-Golomb code of order k; v + 2^k must stay below
// 2^maxGolomb.
func (w *bitWriter) golomb(v uint32, k uint) {
	u := v + 1<<k
	w.write(0, uint(bits.Len32(u))-1-k)
	w.write(u, uint(bits.Len32(u)))
}

// choiceWidth returns the k and u of choice, for n ≥ 1.
func choiceWidth(n uint) (k, u uint) {
	k = uint(bits.Len(n)) - 1
	return k, 2<<k - n
}

// golombLen returns the number of bits golomb would write.
func golombLen(v uint32, k uint) int {
	return 2*bits.Len32(v+1<<k) - 1 - int(k)
}

// maxGolomb bounds the bits of a code word's second half. Scores need 18.
const maxGolomb = 20

// bitReader reads what bitWriter wrote. After the end it reads zeros; its
// user looks at over from time to time.
type bitReader struct {
	b   []byte
	pos uint // in bits
}

// peek returns the next bits, the first of them in bit 63. At least 57 are
// there.
func (r *bitReader) peek() uint64 {
	i := r.pos >> 3
	if i+8 <= uint(len(r.b)) {
		return binary.BigEndian.Uint64(r.b[i:]) << (r.pos & 7)
	}
	var v uint64
	for j := range uint(8) {
		v <<= 8
		if i+j < uint(len(r.b)) {
			v |= uint64(r.b[i+j])
		}
	}
	return v << (r.pos & 7)
}

// over reports whether bits after the end were read.
func (r *bitReader) over() bool { return r.pos > uint(len(r.b))*8 }

// read returns the next n bits, n ≤ 32.
func (r *bitReader) read(n uint) uint32 {
	v := uint32(r.peek() >> 32 >> (32 - n))
	r.pos += n
	return v
}

// choice reads one of n numbers, 1 ≤ n < 2^31.
func (r *bitReader) choice(n uint) uint {
	k, u := choiceWidth(n)
	x := uint(r.peek() >> 1 >> (62 - k)) // k + 1 bits
	i := x >> 1
	if i < u {
		r.pos += k
		return i
	}
	r.pos += k + 1
	return x - u
}

// golomb reads an Exp-Golomb code of order k ≤ 15; ok is false if it is none
// that golomb would write.
func (r *bitReader) golomb(k uint) (v uint32, ok bool) {
	x := r.peek()
	zeros := uint(bits.LeadingZeros64(x))
	n := k + zeros // bits after the leading one
	if n >= maxGolomb {
		return 0, false
	}
	r.pos += zeros + 1 + n
	return uint32(x<<zeros>>(63-n)) - 1<<k, true
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
