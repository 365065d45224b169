package nnue

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

// All file formats hold the parameters in one order, little endian, without
// gaps:
//
//	int16 FTBias, int16 FTRow of every feature, int32 PSQTRow of every feature,
//	then per stack
//	int32 L1Bias, int8 L1Weights, int32 L2Bias, int8 L2Weights,
//	int32 OutBias, int8 OutWeights
//
// each array in the order Network and Stack document, padding included.

// codec is a decoder, which fills what it is given, or an encoder.
type codec interface {
	int16s([]int16)
	int32s([]int32)
	int8s([]int8)
}

func (n *Network) codeTransformer(c codec) {
	c.int16s(n.FTBias)
	for f := range n.set.Size() {
		c.int16s(n.FTRow(f))
	}
	if n.arch.PSQT == 0 {
		return
	}
	for f := range n.set.Size() {
		c.int32s(n.PSQTRow(f))
	}
}

func (s *Stack) code(c codec) {
	c.int32s(s.L1Bias)
	c.int8s(s.L1Weights)
	c.int32s(s.L2Bias)
	c.int8s(s.L2Weights)
	bias := []int32{s.OutBias}
	c.int32s(bias)
	if bias[0] != s.OutBias { // an encoder changes nothing, so that networks can be shared
		s.OutBias = bias[0]
	}
	c.int8s(s.OutWeights)
}

// chunk is how many bytes a decoder or encoder handles at once: more than a row
// of the widest transformer.
const chunk = 1 << 16

// decoder takes values from the front of a file whose length is known and
// keeps the first error, after which it gives zeros.
type decoder struct {
	r    *bufio.Reader
	left int64     // bytes of the file not yet taken
	hash hash.Hash // of all that is taken, if not nil
	err  error
}

func newDecoder(r io.Reader, size int64) *decoder {
	return &decoder{r: bufio.NewReaderSize(r, chunk), left: size}
}

var zeros [chunk]byte

// take returns the next n bytes, at most chunk, until the next call.
func (d *decoder) take(n int) []byte {
	if d.err != nil {
		return zeros[:n]
	}
	b, err := d.r.Peek(n)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: found the end, expected %d more bytes", ErrFormat, d.left-int64(len(b)))
		}
		d.err = err
		return zeros[:n]
	}
	d.left -= int64(n)
	if d.hash != nil {
		d.hash.Write(b)
	}
	_, _ = d.r.Discard(n) // cannot fail after Peek
	return b
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

// expect takes one word and compares it.
func (d *decoder) expect(name string, want uint32) {
	if found := d.uint32(); d.err == nil && found != want {
		d.fail("found %s %#08x, expected %#08x", name, found, want)
	}
}

// fail notes that the file is not as it should be.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
}

func (d *decoder) text(n int) string {
	text := make([]byte, 0, n)
	for len(text) < n {
		text = append(text, d.take(min(n-len(text), chunk))...)
	}
	return string(text)
}

func (d *decoder) int16s(dst []int16) {
	src := d.take(2 * len(dst))
	for len(dst) >= 8 && len(src) >= 16 { // large networks hold 28 million
		v, w := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		x := (*[8]int16)(dst)
		x[0], x[1], x[2], x[3] = int16(v), int16(v>>16), int16(v>>32), int16(v>>48)
		x[4], x[5], x[6], x[7] = int16(w), int16(w>>16), int16(w>>32), int16(w>>48)
		dst, src = dst[8:], src[16:]
	}
	for i := range dst {
		dst[i] = int16(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func (d *decoder) int32s(dst []int32) {
	src := d.take(4 * len(dst))
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func (d *decoder) int8s(dst []int8) {
	for len(dst) > 0 {
		n := min(len(dst), chunk)
		for i, b := range d.take(n) {
			dst[i] = int8(b)
		}
		dst = dst[n:]
	}
}

// encoder writes values through a buffer and keeps the first error.
type encoder struct {
	w   io.Writer
	buf []byte
	err error
}

func newEncoder(w io.Writer) *encoder {
	return &encoder{w: w, buf: make([]byte, 0, 2*chunk)}
}

// flush writes what is buffered and returns the first error of all.
func (e *encoder) flush() error {
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
	return e.err
}

// room makes sure that chunk bytes fit the buffer.
func (e *encoder) room() {
	if len(e.buf) >= chunk {
		_ = e.flush() // kept in e.err
	}
}

func (e *encoder) bytes(b []byte) {
	_ = e.flush() // kept in e.err
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) uint32(v uint32) {
	e.room()
	e.buf = binary.LittleEndian.AppendUint32(e.buf, v)
}

func (e *encoder) int16s(src []int16) {
	e.room()
	for _, v := range src {
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(v))
	}
}

func (e *encoder) int32s(src []int32) {
	e.room()
	for _, v := range src {
		e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(v))
	}
}

func (e *encoder) int8s(src []int8) {
	for len(src) > 0 {
		e.room()
		n := min(len(src), chunk)
		for _, v := range src[:n] {
			e.buf = append(e.buf, byte(v))
		}
		src = src[n:]
	}
}
