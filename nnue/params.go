package nnue

import (
	"encoding/binary"
	"io"
)

// Both file formats hold the parameters in one order, little endian, without
// gaps:
//
//	int16 FTBias, int16 FTWeights, int32 PSQT, then per stack
//	int32 L1Bias, int8 L1Weights, int32 L2Bias, int8 L2Weights,
//	int32 OutBias, int8 OutWeights
//
// each array in the order Network and Stack document, padding included.

// decoder takes values from the front of bytes whose length has been checked.
type decoder struct{ rest []byte }

func (d *decoder) take(n int) []byte {
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }

func (d *decoder) int16s(dst []int16) {
	src := d.take(2 * len(dst))
	for len(dst) >= 4 { // four at a time: large networks hold 28 million
		v := binary.LittleEndian.Uint64(src)
		dst[0], dst[1], dst[2], dst[3] = int16(v), int16(v>>16), int16(v>>32), int16(v>>48)
		dst, src = dst[4:], src[8:]
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
	for i, b := range d.take(len(dst)) {
		dst[i] = int8(b)
	}
}

func (d *decoder) transformer(n *Network) {
	d.int16s(n.FTBias)
	d.int16s(n.FTWeights)
	d.int32s(n.PSQT)
}

func (d *decoder) stack(s *Stack) {
	d.int32s(s.L1Bias)
	d.int8s(s.L1Weights)
	d.int32s(s.L2Bias)
	d.int8s(s.L2Weights)
	s.OutBias = int32(d.uint32())
	d.int8s(s.OutWeights)
}

// encoder writes values through a buffer and keeps the first error.
type encoder struct {
	w   io.Writer
	buf []byte
	err error
}

// encoderBuffer is the size at which an encoder hands bytes on.
const encoderBuffer = 1 << 16

func newEncoder(w io.Writer) *encoder {
	return &encoder{w: w, buf: make([]byte, 0, encoderBuffer+8)}
}

// flush writes what is buffered and returns the first error of all.
func (e *encoder) flush() error {
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
	return e.err
}

// room makes sure a few bytes fit the buffer.
func (e *encoder) room() {
	if len(e.buf) >= encoderBuffer {
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
	for _, v := range src {
		e.room()
		e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(v))
	}
}

func (e *encoder) int32s(src []int32) {
	for _, v := range src {
		e.uint32(uint32(v))
	}
}

func (e *encoder) int8s(src []int8) {
	for _, v := range src {
		e.room()
		e.buf = append(e.buf, byte(v))
	}
}

func (e *encoder) transformer(n *Network) {
	e.int16s(n.FTBias)
	e.int16s(n.FTWeights)
	e.int32s(n.PSQT)
}

func (e *encoder) stack(s *Stack) {
	e.int32s(s.L1Bias)
	e.int8s(s.L1Weights)
	e.int32s(s.L2Bias)
	e.int8s(s.L2Weights)
	e.uint32(uint32(s.OutBias))
	e.int8s(s.OutWeights)
}
