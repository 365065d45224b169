package replay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// maxDry is how many games in a row may yield no position before Draw gives
// up.
const maxDry = 1000

// Draw fills dst with positions of the window, none of them held out: it draws
// games in proportion to their positions, takes up to perGame different
// positions of each that pass f, and shuffles what it has. A game may be drawn
// more than once. The same games stored in the same order and the same rng
// give the same samples. The error wraps ErrEmpty if there are no games,
// ErrNoSamples if f passes nothing.
func (b *Buffer) Draw(rng *rand.Rand, perGame int, f sample.Filter, dst []sample.Sample) error {
	if perGame < 1 {
		return fmt.Errorf("%w: %d samples per game: want at least 1", ErrConfig, perGame)
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	rows := b.index.windowRows()
	if rows == 0 {
		return ErrEmpty
	}
	var s scratch
	for n, dry := 0, 0; n < len(dst); {
		got := s.choose(rng, perGame, b.samples(&s, b.index.at(rng.Uint64N(rows)), f), dst[n:])
		n += got
		if got > 0 {
			dry = 0
		} else if dry++; dry == maxDry {
			return fmt.Errorf("%w: %d games in a row", ErrNoSamples, dry)
		}
	}
	rng.Shuffle(len(dst), func(i, j int) { dst[i], dst[j] = dst[j], dst[i] })
	return nil
}

// HeldOut fills dst with the positions of held-out games that pass f, newest
// game first and each game from its beginning, and returns the part it filled.
func (b *Buffer) HeldOut(f sample.Filter, dst []sample.Sample) []sample.Sample {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var s scratch
	n := 0
	for i := len(b.index.heldOut) - 1; i >= 0 && n < len(dst); i-- {
		n += copy(dst[n:], b.samples(&s, b.index.heldOut[i], f))
	}
	return dst[:n]
}

// scratch is memory that serves one game after another.
type scratch struct {
	game    game.Game
	samples []sample.Sample
}

// samples returns the positions of e that pass f. They last until the next
// call. A game that cannot be read has none.
func (b *Buffer) samples(s *scratch, e *entry, f sample.Filter) []sample.Sample {
	p := e.replay.Load()
	if p == nil {
		var err error
		if p, err = b.read(e); err != nil {
			b.unreadable.Add(1)
			p = new(packed) // do not try again
		}
		e.replay.Store(p)
	}
	p.unpack(b.opt.Variant, &s.game)
	s.samples = sample.From(&s.game, f, nil, s.samples[:0])
	return s.samples
}

// choose moves up to n of from, drawn without replacement, to dst and returns
// how many.
func (s *scratch) choose(rng *rand.Rand, n int, from, dst []sample.Sample) int {
	n = min(n, len(from), len(dst))
	for i := range n {
		j := i + rng.IntN(len(from)-i)
		dst[i] = from[j]
		from[j] = from[i]
	}
	return n
}

// read gets a game from its segment.
func (b *Buffer) read(e *entry) (*packed, error) {
	encoded, err := b.readRecord(e)
	if err != nil {
		return nil, err
	}
	g, err := game.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("segment %s, offset %d: %w", segmentName(e.segment), e.offset, err)
	}
	return pack(g), nil
}

func (b *Buffer) readRecord(e *entry) ([]byte, error) {
	f, err := os.Open(filepath.Join(b.dir, segmentName(e.segment)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, frameBytes+e.size)
	if _, err := f.ReadAt(data, e.offset); err != nil {
		return nil, fmt.Errorf("segment %s, offset %d: %w", segmentName(e.segment), e.offset, err)
	}
	r, ok := parseFrame(data)
	if !ok {
		return nil, fmt.Errorf("segment %s, offset %d: %w", segmentName(e.segment), e.offset, ErrDamaged)
	}
	return r.game, nil
}
