package replay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// maxDry is how many games in a row may yield no position before Draw gives
// up.
const maxDry = 50_000

// Draw fills dst with positions of the window, none of them held out: it draws
// games in proportion to their positions, draws perGame different positions of
// each, keeps those that pass f, and shuffles what it has. So every position
// that passes is as likely as any other. A game may be drawn more than once.
// The same games stored in the same order and the same rng give the same
// samples. The error wraps ErrEmpty if there are no games, ErrNoSamples if f
// passes nothing.
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
		p := b.replay(b.index.at(rng.Uint64N(rows)))
		s.choose(rng, p, &b.start, min(perGame, len(dst)-n))
		got := copy(dst[n:], s.from(f))
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
		p := b.replay(b.index.heldOut[i])
		p.unpack(&b.start, &s.game, len(p.plies))
		n += copy(dst[n:], s.from(f))
	}
	return dst[:n]
}

// scratch is memory that serves one game after another.
type scratch struct {
	game    game.Game
	samples []sample.Sample
	order   []uint16 // numbers of the plies that may be trained on
}

// from returns the positions of s.game that pass f. They last until the next
// call.
func (s *scratch) from(f sample.Filter) []sample.Sample {
	s.samples = sample.From(&s.game, f, nil, s.samples[:0])
	return s.samples
}

// choose puts p into s.game with n of its trainable plies, drawn without
// replacement, left trainable. What comes after the last of them is left out:
// most of the time goes into making moves.
func (s *scratch) choose(rng *rand.Rand, p *packed, usual *chess.Position, n int) {
	s.order = s.order[:0]
	for i, q := range p.plies {
		if q.flags&plyTrain != 0 {
			s.order = append(s.order, uint16(i))
		}
	}
	n = min(n, len(s.order))
	end := 0
	for i := range n {
		j := i + rng.IntN(len(s.order)-i)
		s.order[i], s.order[j] = s.order[j], s.order[i]
		end = max(end, int(s.order[i])+1)
	}
	p.unpack(usual, &s.game, end)
	for i := range s.game.Plies {
		s.game.Plies[i].Train = false
	}
	for _, i := range s.order[:n] {
		s.game.Plies[i].Train = true
	}
}

// replay returns the game of e, from its segment if it was not needed before.
// A game that cannot be read has no plies.
func (b *Buffer) replay(e *entry) *packed {
	p := e.replay.Load()
	if p != nil {
		return p
	}
	p, err := b.read(e)
	if err != nil {
		b.unreadable.Add(1)
		p = new(packed) // do not try again
	}
	e.replay.Store(p)
	return p
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
	return pack(g, &b.start), nil
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
