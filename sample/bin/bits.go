package bin

import "encoding/binary"

// stream is a position as a stream of bits. Bit n is bit n mod 64 of word n/64.
// Words beyond those of the record let reads and writes run over its end.
type stream struct {
	words [10]uint64
	at    uint // next bit
}

// load makes s the stream of the bytes of b, as far as they fit.
func (s *stream) load(b []byte) {
	*s = stream{}
	for i := range min(len(b)/8, len(s.words)) {
		s.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// store writes the first bytes of s to b, at most 64.
func (s *stream) store(b []byte) {
	for i := range len(b) / 8 {
		binary.LittleEndian.PutUint64(b[8*i:], s.words[i])
	}
}

// peek returns the next 64 bits.
func (s *stream) peek() uint64 {
	i, shift := s.at>>6, s.at&63
	return s.words[i]>>shift | s.words[i+1]<<(64-shift)
}

// read returns the next n bits, fewer than 64.
func (s *stream) read(n uint) uint64 {
	v := s.peek() & (1<<n - 1)
	s.at += n
	return v
}

// put sets the bits of v, which are still 0 in s, from bit at on.
func (s *stream) put(v uint64, at uint) {
	i, shift := at>>6, at&63
	s.words[i] |= v << shift
	s.words[i+1] |= v >> (64 - shift)
}

// write appends v, which must fit in n bits.
func (s *stream) write(v uint64, n uint) {
	s.put(v, s.at)
	s.at += n
}

// rest reports whether a bit from the next one on is set.
func (s *stream) rest() bool {
	i := s.at >> 6
	bits := s.words[i] >> (s.at & 63)
	for _, w := range s.words[i+1:] {
		bits |= w
	}
	return bits != 0
}
