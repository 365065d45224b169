package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// window is a part of an epoch in memory, in the order it is drawn. Windows are
// numbered through all epochs.
type window struct {
	number  uint64
	from    uint64 // samples drawn before it
	samples store
	order   []uint32
}

// loaded is a window read, in order, or why it was not.
type loaded struct {
	window window
	err    error
}

// windowStream separates the order of windows from other uses of the seed.
const windowStream = 0x77696e646f77 // "window"

// dealtTo says to which of an epoch's windows the sample of an ordinal goes.
func (s *Set) dealtTo(epoch, ordinal uint64) int {
	if s.windows == 1 {
		return 0
	}
	return int(splitmix.Hash(splitmix.Hash(s.seed^windowStream^epoch<<32)^ordinal) % uint64(s.windows))
}

// sizes returns the sizes of an epoch's windows.
func (s *Set) sizes(epoch uint64) []int {
	sizes := make([]int, s.windows)
	if s.windows == 1 {
		sizes[0] = int(s.n)
		return sizes
	}
	for i := range s.cut {
		if s.train.has(i) {
			sizes[s.dealtTo(epoch, i)]++
		}
	}
	return sizes
}

// place returns the window that holds the sample drawn after at others, and how
// many are drawn before that window.
func (s *Set) place(at uint64) (number, from uint64) {
	epoch := at / s.n
	number, from = epoch*uint64(s.windows), epoch*s.n
	if s.windows == 1 {
		return number, from
	}
	for _, size := range s.sizes(epoch) {
		if at < from+uint64(size) {
			break
		}
		from += uint64(size)
		number++
	}
	return number, from
}

// reach makes the window of the sample drawn after at others the present one, and
// begins to read the next.
func (s *Set) reach(at uint64) error {
	w := &s.window
	if at >= w.from && at < w.from+uint64(len(w.order)) {
		return nil
	}
	number, from := s.place(at)
	switch {
	case s.windows == 1:
		w.number = number
		s.shuffle(w)
	case s.ahead != nil:
		next := <-s.ahead
		s.ahead = nil
		if next.err != nil {
			return next.err
		}
		*w = next.window
	}
	if w.number != number {
		next := s.load(s.ctx, number, false, nil)
		if next.err != nil {
			return next.err
		}
		*w = next.window
	}
	w.from = from
	if s.windows > 1 {
		ahead := make(chan loaded, 1)
		s.ahead = ahead
		go func() { ahead <- s.load(s.ctx, number+1, false, nil) }()
	}
	return nil
}

// shuffle gives a window the order it is drawn in.
func (s *Set) shuffle(w *window) {
	if len(w.order) != w.samples.n {
		w.order = make([]uint32, w.samples.n)
	}
	for i := range w.order {
		w.order[i] = uint32(i)
	}
	rng := rand.New(rand.NewPCG(s.seed, windowStream^w.number<<8))
	rng.Shuffle(len(w.order), func(i, j int) { w.order[i], w.order[j] = w.order[j], w.order[i] })
}

// load reads the samples of a window and, if measured is set, those to measure.
func (s *Set) load(ctx context.Context, number uint64, measured bool, progress Progress) loaded {
	epoch, part := number/uint64(s.windows), int(number%uint64(s.windows))
	w, size := window{number: number}, s.sizes(epoch)[part]
	held, newest := thinned{most: s.cfg.Measured}, thinned{most: s.cfg.Measured}
	read, err := readInputs(ctx, s.cfg.Variant, s.cfg.Clock, s.inputs, progress, func(e *entry) {
		train, out, late := s.side(e.ordinal)
		if train || out || late {
			s.cfg.Filter.Replace(e.Sample) // which the survey has found to have a leaf
		}
		switch {
		case train && s.dealtTo(epoch, e.ordinal) == part && w.samples.n < size:
			w.samples.add(e.Sample)
		case measured && out:
			held.add(e.Sample)
		case measured && late:
			newest.add(e.Sample)
		}
	})
	if err == nil && (read.Samples != s.Counts.Samples || w.samples.n != size) {
		err = fmt.Errorf("%w: found %d samples, expected %d as before", ErrChanged, read.Samples, s.Counts.Samples)
	}
	if err != nil {
		return loaded{err: err}
	}
	if measured {
		s.heldOut, s.newest = held.even(), newest.even()
	}
	s.shuffle(&w)
	return loaded{window: w}
}

// thinned keeps up to twice most samples, evenly from all: when it is full it drops
// every second one and takes only half as many from then on.
type thinned struct {
	most    int
	samples []sample.Sample
	every   int
	skip    int
}

func (t *thinned) add(s *sample.Sample) {
	if t.most == 0 {
		return
	}
	if t.skip > 0 {
		t.skip--
		return
	}
	if len(t.samples) == 2*t.most {
		kept := t.samples[:0]
		for i := 0; i < len(t.samples); i += 2 {
			kept = append(kept, t.samples[i])
		}
		t.samples = kept
		t.every = 2 * max(t.every, 1)
	}
	t.samples = append(t.samples, *s)
	t.skip = max(t.every, 1) - 1
}

// even returns the samples, at most most of them.
func (t *thinned) even() []sample.Sample {
	n := len(t.samples)
	if n <= t.most {
		return t.samples
	}
	chosen := make([]sample.Sample, t.most)
	spread(chosen, t.samples)
	return chosen
}

// spread copies samples to dst, evenly from all if there are more, and returns how
// many it has copied.
func spread(dst, samples []sample.Sample) int {
	n := len(samples)
	if n <= len(dst) {
		return copy(dst, samples)
	}
	for i := range dst {
		dst[i] = samples[i*n/len(dst)]
	}
	return len(dst)
}
