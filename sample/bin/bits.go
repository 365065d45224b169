package bin

import "encoding/binary"

// bitReader takes numbers from a stream of bits, the lowest bits first.
type bitReader struct {
	data [96]byte // zeros after the record, so that reads may run over its end
	at   uint     // next bit
}

// peekBits is how many bits peek returns at least.
const peekBits = 57

// peek returns the next bits; those from peekBits on may be missing.
func (r *bitReader) peek() uint64 {
	return binary.LittleEndian.Uint64(r.data[r.at>>3:]) >> (r.at & 7)
}

// read returns the next n bits, at most peekBits.
func (r *bitReader) read(n uint) uint64 {
	v := r.peek() & (1<<n - 1)
	r.at += n
	return v
}

// empty reports whether there are only zeros from the next bit on.
func (r *bitReader) empty() bool {
	rest := r.data[r.at>>3:]
	bits := rest[0] >> (r.at & 7)
	for _, b := range rest[1:] {
		bits |= b
	}
	return bits == 0
}

// bitWriter makes a stream of bits, the lowest bits first.
type bitWriter struct {
	words [8]uint64
	full  uint   // words complete
	part  uint64 // the next word
	n     uint   // bits in part
}

// write appends v, which must fit in n bits, at most 64. The stream must not
// become longer than words.
func (w *bitWriter) write(v uint64, n uint) {
	w.part |= v << (w.n & 63)
	w.n += n
	if w.n >= 64 {
		w.words[w.full&7] = w.part
		w.full++
		w.n -= 64
		w.part = v >> (n - w.n)
	}
}

// store writes the first bytes of the stream to b, at most 64.
func (w *bitWriter) store(b []byte) {
	w.words[w.full&7] = w.part
	for i := range len(b) / 8 {
		binary.LittleEndian.PutUint64(b[8*i:], w.words[i&7])
	}
}
