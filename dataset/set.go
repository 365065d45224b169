package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
)

var (
	// ErrConfig says that a setting is out of range.
	ErrConfig = errors.New("unusable data settings")
	// ErrEmpty says that no samples are left to train on.
	ErrEmpty = errors.New("no samples to train on")
	// ErrChanged says that an input was not the same when it was read again.
	ErrChanged = errors.New("data changed while training")
)

// sampleSize is the memory a sample without a policy takes, its place in the order
// included.
const sampleSize = packedSize + 4

// sizeOf returns the memory that a sample takes.
func sizeOf(s *sample.Sample) int64 {
	if s.Policy == nil {
		return sampleSize
	}
	return sampleSize + int64(unsafe.Sizeof(*s.Policy)) + int64(len(s.Policy.Moves))*int64(unsafe.Sizeof(sample.MoveWeight{}))
}

// SetConfig says how a Set is made of its inputs.
type SetConfig struct {
	Variant *chess.Variant
	Seed    uint64 // of filters that leave to chance, and of a set that OpenSet makes
	Filter  sample.Filter
	// Memory bounds the bytes of samples held at once; 0 is no bound.
	Memory int64
	// Split keeps held-out games from training.
	Split bool
	// Newest is the share of the positions, at the end of the inputs, that are
	// kept from training as a second set to measure; below 1.
	Newest float64
	// Measured is how many positions of each of the two sets are kept, evenly
	// from all of it.
	Measured int
	// Mirror is the probability that a position drawn is mirrored left to
	// right. Positions with rights to castle never are.
	Mirror float64
	// Clock is how the positions of whole games count their clocks.
	Clock sample.Clock
	// Bucket says which layer stack serves a position, for the statistics; nil
	// for none.
	Bucket func(*chess.Position) int
	// Progress, if not nil, is called now and then while the inputs are read
	// for the first time and, beyond the memory, for the first window, by
	// whatever reads. Reading ahead is not reported.
	Progress Progress
}

func (c *SetConfig) validate() error {
	if err := c.Filter.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	switch {
	case c.Variant == nil:
		return fmt.Errorf("%w: found no variant, expected one", ErrConfig)
	case c.Memory < 0 || c.Measured < 0:
		return fmt.Errorf("%w: %d bytes of memory, %d positions measured, expected numbers from 0", ErrConfig, c.Memory, c.Measured)
	case !(c.Newest >= 0 && c.Newest < 1):
		return fmt.Errorf("%w: newest share %g, expected 0 to less than 1", ErrConfig, c.Newest)
	case !(c.Mirror >= 0 && c.Mirror <= 1):
		return fmt.Errorf("%w: probability %g to mirror, expected 0 to 1", ErrConfig, c.Mirror)
	}
	return nil
}

// Data is what was found in inputs. It does not change and may serve several sets
// at once, which then share the samples in memory.
type Data struct {
	cfg    SetConfig
	inputs []Input

	// Counts says what became of the inputs' samples.
	Counts Counts
	// Stats describes the positions kept.
	Stats SetStats

	train, held bitset // by ordinal of the sample
	cut         uint64 // ordinal where the newest part begins
	n           uint64 // positions to train on
	size        int64  // bytes that these take in memory
	windows     int

	samples         *store // to train on; nil if they are more than there is memory for
	heldOut, newest []sample.Sample
}

// Set is a source of samples for a trainer. Only one goroutine may draw.
type Set struct {
	*Data
	seed uint64          // of the order, and of the split into windows
	ctx  context.Context // of reading ahead, until Close
	stop context.CancelFunc

	heldOut, newest []sample.Sample

	window window
	ahead  chan loaded
	at     uint64 // samples drawn
}

// OpenSet reads the inputs once and loads the first window of a set with the seed of
// cfg. It is Read and Data.Set.
func OpenSet(ctx context.Context, cfg SetConfig, inputs ...Input) (*Set, error) {
	d, err := Read(ctx, cfg, inputs...)
	if err != nil {
		return nil, err
	}
	return d.Set(ctx, cfg.Seed)
}

// Read reads the inputs once. It may take long and ends with ctx. The error wraps
// ErrConfig, ErrEmpty, or is that of an input.
func Read(ctx context.Context, cfg SetConfig, inputs ...Input) (*Data, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	d := &Data{cfg: cfg, inputs: inputs, windows: 1}
	var err error
	if d.samples, err = d.survey(ctx); err != nil {
		return nil, err
	}
	if d.n == 0 {
		return nil, d.Counts.empty()
	}
	if d.samples == nil {
		d.windows = int((2*d.size + cfg.Memory - 1) / cfg.Memory) // two at a time: one in use, one being read
	}
	return d, nil
}

// Measured reads positions to measure: of those that pass the filters of cfg,
// games held out or not, up to cfg.Measured, evenly from all of them and in order.
// No more than twice as many are in memory, whatever cfg.Memory says. Errors are
// those of Read.
func Measured(ctx context.Context, cfg SetConfig, inputs ...Input) ([]sample.Sample, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var counts Counts
	x := newSelector(cfg.Filter)
	measured := thinned{most: cfg.Measured}
	read, err := readInputs(ctx, cfg.Variant, cfg.Clock, inputs, cfg.Progress, func(e *entry) {
		why := x.against(e, cfg.number(e))
		if counts.Count(why); why == sample.Kept {
			measured.add(e.Sample)
		}
	})
	if err != nil {
		return nil, err
	}
	if counts.of(&read); counts.Kept == 0 {
		return nil, counts.empty()
	}
	return measured.even(), nil
}

// number is the number of an entry for what a selector leaves out at random.
func (c *SetConfig) number(e *entry) uint64 { return splitmix.Hash(c.Seed) ^ 2*e.ordinal }

// Set returns a source of the data in the order of a seed. What the data are does
// not depend on it but on the seed they were read with. If they do not fit into
// memory its first window is read, which ends with ctx.
func (d *Data) Set(ctx context.Context, seed uint64) (*Set, error) {
	s := &Set{Data: d, seed: seed, heldOut: d.heldOut, newest: d.newest}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if d.samples != nil {
		s.window.samples = *d.samples
		s.shuffle(&s.window)
		return s, nil
	}
	first := s.load(ctx, 0, true, s.cfg.Progress)
	s.window = first.window
	if first.err != nil {
		s.stop()
		return nil, first.err
	}
	return s, nil
}

// Close ends reading ahead. The set must not be drawn from any more.
func (s *Set) Close() {
	s.stop()
	if s.ahead != nil {
		<-s.ahead
	}
}

// Inputs returns what the data were read from.
func (d *Data) Inputs() []Input { return d.inputs }

// Len returns the number of positions trained on in an epoch.
func (d *Data) Len() uint64 { return d.n }

// Windows returns the number of parts an epoch is dealt into.
func (d *Data) Windows() int { return d.windows }

// HeldOut copies positions of held-out games to dst, evenly from all if there are
// more.
func (s *Set) HeldOut(dst []sample.Sample) []sample.Sample { return dst[:spread(dst, s.heldOut)] }

// Newest returns positions of the newest part of the data.
func (s *Set) Newest() []sample.Sample { return s.newest }

// group is where a game begins.
type group struct {
	ordinal uint64 // of its first sample
	trained uint64 // samples before it that are trained on
	size    int64  // memory that these take, in bytes
}

// survey reads everything and decides what is trained on. It returns the samples
// to train on, nil if they are more than there is memory for.
func (d *Data) survey(ctx context.Context) (*store, error) {
	var counts Counts
	var groups []group // only cutNewest asks for them, and they are not counted as memory
	x := newSelector(d.cfg.Filter)
	stats := newGatherer(d.cfg.Bucket)
	all, held := new(store), thinned{most: d.cfg.Measured}
	read, err := readInputs(ctx, d.cfg.Variant, d.cfg.Clock, d.inputs, d.cfg.Progress, func(e *entry) {
		if e.begins {
			if d.cfg.Newest > 0 {
				groups = append(groups, group{e.ordinal, d.n, d.size})
			}
			stats.game(e)
		}
		stats.plies++
		why := x.against(e, d.cfg.number(e))
		if counts.Count(why); why != sample.Kept {
			return
		}
		if d.cfg.Mirror > 0 && !mirrors(&e.Sample.Pos) {
			counts.Unmirrored++
		}
		stats.position(e.Sample)
		if e.held && d.cfg.Split {
			d.held.set(e.ordinal)
			held.add(e.Sample)
			return
		}
		d.train.set(e.ordinal)
		d.n++
		if d.size += sizeOf(e.Sample); d.cfg.Memory > 0 && d.size > d.cfg.Memory {
			all = nil
		}
		if all != nil {
			all.add(e.Sample)
		}
	})
	if err != nil {
		return nil, err
	}
	counts.of(&read)
	d.Counts, d.Stats = counts, stats.finish()
	d.cutNewest(groups, counts.Samples)
	if all == nil {
		return nil, nil
	}
	newest := thinned{most: d.cfg.Measured}
	var one sample.Sample
	for i := d.n; i < uint64(all.n); i++ {
		all.get(int(i), &one)
		newest.add(&one)
	}
	all.n = int(d.n)
	d.heldOut, d.newest = held.even(), newest.even()
	return all, nil
}

// cutNewest lays the newest games aside that have the wanted share.
func (d *Data) cutNewest(groups []group, all uint64) {
	d.cut = all
	keep := uint64((1 - d.cfg.Newest) * float64(d.n))
	i := sort.Search(len(groups), func(i int) bool { return groups[i].trained >= keep })
	if d.cfg.Newest > 0 && i > 0 && i < len(groups) {
		d.cut, d.n, d.size = groups[i].ordinal, groups[i].trained, groups[i].size
	}
}

// side says what becomes of a sample.
func (d *Data) side(ordinal uint64) (train, held, newest bool) {
	train, held = d.train.has(ordinal), d.held.has(ordinal)
	newest = train && ordinal >= d.cut
	return train && !newest, held, newest
}

// Draw fills dst with the next samples of the epoch, and of those after it. Rng
// decides only which of them are mirrored.
func (s *Set) Draw(rng *rand.Rand, dst []sample.Sample) error {
	for n := 0; n < len(dst); {
		if err := s.reach(s.at); err != nil {
			return err
		}
		w := &s.window
		from := s.at - w.from
		got := min(uint64(len(dst)-n), uint64(len(w.order))-from)
		for i, k := range w.order[from : from+got] {
			w.samples.get(int(k), &dst[n+i])
		}
		n += int(got)
		s.at += got
	}
	Mirror(rng, s.cfg.Mirror, dst)
	return nil
}

// Seek goes to where the set is after drawn samples.
func (s *Set) Seek(drawn uint64) error {
	s.at = drawn
	return nil
}

// Some returns up to n positions drawn evenly from the window loaded.
func (s *Set) Some(n int) []sample.Sample {
	order := s.window.order
	some := make([]sample.Sample, min(n, len(order)))
	for i, k := range order[:len(some)] {
		s.window.samples.get(int(k), &some[i])
	}
	return some
}

// bitset is a set of ordinals.
type bitset []uint64

func (b *bitset) set(i uint64) {
	for uint64(len(*b)) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitset) has(i uint64) bool { return i/64 < uint64(len(b)) && b[i/64]>>(i%64)&1 != 0 }
