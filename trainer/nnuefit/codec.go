package nnuefit

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"

	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// encoder writes numbers and their checksum; the first error sticks.
type encoder struct {
	w   *bufio.Writer
	crc hash.Hash32
	buf []byte
	err error
}

func newEncoder(w io.Writer) *encoder {
	return &encoder{w: bufio.NewWriterSize(w, 1<<16), crc: crc32.New(castagnoli)}
}

func (e *encoder) bytes(b []byte) {
	if e.err == nil {
		e.crc.Write(b)
		_, e.err = e.w.Write(b)
	}
}

func (e *encoder) uint32(v uint32)   { e.bytes(binary.LittleEndian.AppendUint32(e.buf[:0], v)) }
func (e *encoder) uint64(v uint64)   { e.bytes(binary.LittleEndian.AppendUint64(e.buf[:0], v)) }
func (e *encoder) float64(v float64) { e.uint64(math.Float64bits(v)) }

func (e *encoder) params(p params) {
	for _, table := range [][]float32{p.w, p.m, p.v} {
		e.table(table)
	}
}

func (e *encoder) table(table []float32) {
	e.buf = e.buf[:0]
	for _, v := range table {
		e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(v))
	}
	e.bytes(e.buf)
}

// rows writes data of the shape of t.
func (e *encoder) rows(data []float32, t *table) {
	for r := range t.count {
		e.table(data[r*t.stride:][:t.length])
	}
}

func (e *encoder) close() error {
	e.uint32(e.crc.Sum32())
	if e.err != nil {
		return fmt.Errorf("write model checkpoint: %w", e.err)
	}
	return e.w.Flush()
}

// decoder is the reverse; after an error it returns zeros.
type decoder struct {
	r       *bufio.Reader
	crc     hash.Hash32
	buf     []byte
	err     error
	version uint32
}

func newDecoder(r io.Reader) *decoder {
	return &decoder{r: bufio.NewReaderSize(r, 1<<16), crc: crc32.New(castagnoli)}
}

// bytes reads n bytes, valid until the next call. n is never taken from the
// stream, only from the model's own sizes.
func (d *decoder) bytes(n int) []byte {
	d.buf = grow(d.buf, n)
	if d.err == nil {
		if _, d.err = io.ReadFull(d.r, d.buf); d.err == nil {
			d.crc.Write(d.buf)
			return d.buf
		}
	}
	clear(d.buf)
	return d.buf
}

func (d *decoder) text(n int) string { return string(d.bytes(n)) }
func (d *decoder) uint32() uint32    { return binary.LittleEndian.Uint32(d.bytes(4)) }
func (d *decoder) uint64() uint64    { return binary.LittleEndian.Uint64(d.bytes(8)) }
func (d *decoder) float64() float64  { return math.Float64frombits(d.uint64()) }

func (d *decoder) params(p params) {
	for _, table := range [][]float32{p.w, p.m, p.v} {
		d.table(table)
	}
}

func (d *decoder) table(table []float32) {
	b := d.bytes(4 * len(table))
	for i := range table {
		table[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// rows reads data of the shape of t.
func (d *decoder) rows(data []float32, t *table) {
	for r := range t.count {
		d.table(data[r*t.stride:][:t.length])
	}
}

// mean reads the averaged net, if there is one; the model may do without it.
func (d *decoder) mean(c *core) error {
	present := d.uint32()
	if d.err == nil && present > 1 {
		return fmt.Errorf("%w: found %d for the averaged net, expected 0 or 1", trainer.ErrCheckpoint, present)
	}
	if present == 0 {
		return nil
	}
	to := c.mean.shadow
	if c.mean.decay == 0 {
		to = newShadow(c)
	}
	d.shadow(&to, c)
	return nil
}

// shadow reads weights that follow the parameters.
func (d *decoder) shadow(s *shadow, c *core) {
	d.rows(s.virtual, &c.virtualRows)
	d.table(s.dense)
	for f := range c.storedRows() {
		d.table(s.row(f, c))
	}
}

// optimiser reads which one wrote the checkpoint.
func (d *decoder) optimiser() (trainer.Optimiser, error) {
	if d.version < 3 {
		return trainer.AdamW, nil
	}
	all := trainer.Optimisers()
	n := d.uint32()
	if n >= uint32(len(all)) {
		return "", fmt.Errorf("%w: found optimiser %d, expected 0 to %d", trainer.ErrCheckpoint, n, len(all)-1)
	}
	return all[n], d.failure()
}

// psqtStart reads how the PSQT weights of a set began.
func (d *decoder) psqtStart(set features.Set) (PSQTStart, error) {
	if d.version < 4 {
		if _, ok := set.(features.HalfKAv2); ok {
			return StartPieces, nil
		}
		return StartZero, nil
	}
	all := append([]PSQTStart{""}, PSQTStarts()...)
	n := d.uint32()
	if n >= uint32(len(all)) {
		return "", fmt.Errorf("%w: found start %d of PSQT weights, expected 0 to %d", trainer.ErrCheckpoint, n, len(all)-1)
	}
	return all[n], d.failure()
}

// optimiserState reads the optimiser's count of steps and what each did to rows.
func (d *decoder) optimiserState(k *optimiserState) {
	k.step = d.uint64()
	if d.version >= 3 {
		k.started = d.uint64()
	}
	for i := range k.ring {
		p := &k.ring[i]
		p.Rate = d.float64()
		if d.version >= 3 {
			p.Plain = d.float64()
		}
		p.Keep = d.float64()
	}
}

// failure is the reading error so far; an early end is damage.
func (d *decoder) failure() error {
	if errors.Is(d.err, io.EOF) || errors.Is(d.err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", trainer.ErrCheckpoint)
	}
	return d.err
}

// close checks the checksum and the end of the stream.
func (d *decoder) close() error {
	sum := d.crc.Sum32()
	found := d.uint32()
	if err := d.failure(); err != nil {
		return err
	}
	if found != sum {
		return fmt.Errorf("%w: found checksum %08x, expected %08x", trainer.ErrCheckpoint, found, sum)
	}
	if _, err := d.r.ReadByte(); err != io.EOF {
		return fmt.Errorf("%w: data after its end", trainer.ErrCheckpoint)
	}
	return nil
}
