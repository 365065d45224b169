package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// Shuffling puts samples, or games, into random order. What does not fit into
// memory is dealt out at random to temporary files, each of which is then
// shuffled in the same way; every order is equally likely.
type Shuffling struct {
	Memory int64 // bytes for samples, roughly
	ByGame bool  // keep the samples of a game together, in their order
	Temp   string
	Rand   *rand.Rand
	Step   func() // called for every sample or game read, unless nil

	Samples, Games int64 // read; games only if ByGame
	Spilled        int64 // bytes written to temporary files

	held heap
}

const (
	// buckets is how many temporary files samples are dealt out to at once.
	buckets = 64
	// maxLevel bounds how often what was dealt out is dealt out again: more than
	// 64^4 times the memory are no honest case.
	maxLevel = 4
)

var (
	sampleBytes = int64(reflect.TypeFor[sample.Sample]().Size())
	gameBytes   = int64(reflect.TypeFor[Game]().Size())
)

// ErrMemory says that there is too little memory for the data.
var ErrMemory = errors.New("too little memory to shuffle in")

// Run writes the samples of all sources to dst.
func (h *Shuffling) Run(ctx context.Context, sources []*Source, dst *Sink) error {
	readers := make([]gameReader, len(sources))
	for i, src := range sources {
		readers[i] = gameReader{src: src, whole: h.ByGame && dst.Games()}
	}
	next := func(g *Game) error {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(readers) == 0 {
				return io.EOF
			}
			err := h.read(&readers[0], g, dst.Unit)
			if err != io.EOF {
				return err
			}
			readers = readers[1:]
		}
	}
	return h.level(0, next, dst)
}

// read reads the next unit of shuffling, its scores in the given unit.
func (h *Shuffling) read(r *gameReader, g *Game, unit sample.Unit) error {
	var err error
	if h.ByGame {
		if err = r.read(g); err == nil {
			h.Games++
		}
	} else {
		g.Record = nil
		g.Samples = slices.Grow(g.Samples[:0], 1)[:1]
		err = r.src.Read(&g.Samples[0])
	}
	if err != nil {
		return err
	}
	for i := range g.Samples {
		g.Samples[i].Score = sample.Convert(g.Samples[i].Score, r.src.Unit(), unit)
		g.Samples[i].Policy = nil // no file keeps it without its game, and heap does not count its memory
	}
	h.Samples += int64(len(g.Samples))
	if h.Step != nil {
		h.Step()
	}
	return nil
}

// level shuffles all that next gives.
func (h *Shuffling) level(level int, next func(*Game) error, dst *Sink) error {
	h.held.reset()
	var g Game
	for {
		err := next(&g)
		if err == io.EOF {
			return h.held.write(h.Rand, dst)
		}
		if err != nil {
			return err
		}
		full := h.held.bytes >= h.Memory
		h.held.add(&g)
		if full {
			break
		}
	}
	if level == maxLevel {
		return fmt.Errorf("%w: found %d bytes, expected more for so much data", ErrMemory, h.Memory)
	}
	return h.deal(level, next, dst)
}

// deal deals what is held and what next gives out to files, and shuffles those.
func (h *Shuffling) deal(level int, next func(*Game) error, dst *Sink) (err error) {
	dir, err := os.MkdirTemp(h.Temp, ".shuffle-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var files [buckets]*bucket
	defer func() {
		for _, b := range files {
			if b != nil {
				b.close()
			}
		}
	}()
	for i := range files {
		if files[i], err = newBucket(dir, dst); err != nil {
			return err
		}
	}
	if err := h.held.each(func(g *Game) error { return files[h.Rand.IntN(buckets)].add(g) }); err != nil {
		return err
	}
	var g Game
	for {
		err := next(&g)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = files[h.Rand.IntN(buckets)].add(&g)
		}
		if err != nil {
			return err
		}
	}
	for _, b := range files {
		size, err := b.rewind()
		if err != nil {
			return err
		}
		h.Spilled += size
		if err := h.level(level+1, b.next, dst); err != nil {
			return err
		}
		b.close()
	}
	return nil
}

// heap holds samples and games in memory. What it has allocated it uses again.
type heap struct {
	samples store // alone in their units
	games   []Game
	bytes   int64
}

func (p *heap) reset() {
	clear(p.games)
	p.games, p.samples.n, p.bytes = p.games[:0], 0, 0
}

// add adds a copy of g.
func (p *heap) add(g *Game) {
	if g.Record != nil || len(g.Samples) != 1 {
		p.games = append(p.games, Game{bytes.Clone(g.Record), slices.Clone(g.Samples)})
		p.bytes += gameBytes + int64(len(g.Record)) + int64(len(g.Samples))*sampleBytes
		return
	}
	p.samples.add(&g.Samples[0])
	p.bytes += packedSize
}

// each calls do with all that is held.
func (p *heap) each(do func(*Game) error) error {
	for i := range p.games {
		if err := do(&p.games[i]); err != nil {
			return err
		}
	}
	g := Game{Samples: make([]sample.Sample, 1)}
	for i := range p.samples.n {
		p.samples.get(i, &g.Samples[0])
		if err := do(&g); err != nil {
			return err
		}
	}
	return nil
}

// write writes all that is held in random order.
func (p *heap) write(rng *rand.Rand, dst *Sink) error {
	var one sample.Sample
	for _, i := range rng.Perm(len(p.games) + p.samples.n) {
		var err error
		if i < len(p.games) {
			err = dst.write(&p.games[i], dst.Unit)
		} else {
			p.samples.get(i-len(p.games), &one)
			err = dst.Write(&one, dst.Unit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket is a temporary .chain file, with a second one that says how it falls
// into games: a varint for each, 0 for a record, else the number of samples.
type bucket struct {
	data, sizes *os.File
	w           *chain.Writer
	sizesOut    *bufio.Writer
	sizesIn     *bufio.Reader
	r           *chain.Reader
}

func newBucket(dir string, dst *Sink) (b *bucket, err error) {
	b = new(bucket)
	if b.data, err = os.CreateTemp(dir, "data-*"); err != nil {
		return nil, err
	}
	if b.sizes, err = os.CreateTemp(dir, "sizes-*"); err == nil {
		b.sizesOut = bufio.NewWriter(b.sizes)
		b.w, err = chain.NewWriter(b.data, dst.Variant, dst.Unit)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bucket) close() {
	for _, f := range []**os.File{&b.data, &b.sizes} {
		if *f != nil {
			_ = (*f).Close() // temporary
			*f = nil
		}
	}
	b.r, b.w = nil, nil
}

func (b *bucket) add(g *Game) error {
	var buf [binary.MaxVarintLen64]byte
	if _, err := b.sizesOut.Write(binary.AppendUvarint(buf[:0], uint64(len(g.Samples)))); err != nil {
		return err
	}
	if g.Record != nil {
		return b.w.WriteRecord(g.Record)
	}
	for i := range g.Samples {
		if err := b.w.Write(&g.Samples[i]); err != nil {
			return err
		}
	}
	return nil
}

// rewind ends writing and begins reading. It returns the size.
func (b *bucket) rewind() (int64, error) {
	if err := errors.Join(b.w.Close(), b.sizesOut.Flush()); err != nil {
		return 0, err
	}
	b.w, b.sizesOut = nil, nil
	size, err := b.data.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	for _, f := range []*os.File{b.data, b.sizes} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	b.r, b.sizesIn = chain.NewReader(b.data), bufio.NewReader(b.sizes)
	return size, nil
}

// next reads what add wrote.
func (b *bucket) next(g *Game) error {
	n, err := binary.ReadUvarint(b.sizesIn)
	if err != nil {
		return err
	}
	g.Samples = g.Samples[:0]
	if n == 0 {
		g.Record, err = b.r.Record(g.Record[:0])
		return err
	}
	g.Record = nil
	for range n {
		var s sample.Sample
		if err := b.r.Read(&s); err != nil {
			return err
		}
		g.Samples = append(g.Samples, s)
	}
	return nil
}
