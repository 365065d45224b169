package replay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// maxDry is how many games in a row may yield no position before Draw gives
// up.
const maxDry = 50_000

// Drawing says which positions Draw takes.
type Drawing struct {
	PerGame int // different positions of a game at a time, at least 1
	Filter  sample.Filter
	// Researched is how many times as likely as another of its game a position is
	// that was searched again; 0 stands for 1.
	Researched float64
	// Newest is the share of the window that positions are drawn from, its newest
	// games, above 0 to 1; 0 stands for 1.
	Newest float64
}

// Draw fills dst with positions of the window, none of them held out: it draws
// games in proportion to their positions, draws d.PerGame different positions of
// each, keeps those that pass d.Filter, and shuffles what it has. So every position
// that passes is as likely as any other, but for d.Researched, and for games of n
// positions, fewer than d.PerGame: theirs are n/d.PerGame times as likely. A game may be
// drawn more than once. The same games stored in the same order and the same rng give the
// same samples. The error wraps ErrEmpty if there are no games, ErrNoSamples if the
// filter passes nothing, ErrConfig if it is to leave out duplicates, which Draw does
// not know.
func (b *Buffer) Draw(rng *rand.Rand, d Drawing, dst []sample.Sample) error {
	f := &d.Filter
	if d.PerGame < 1 {
		return fmt.Errorf("%w: %d samples per game: want at least 1", ErrConfig, d.PerGame)
	}
	if f.SkipDuplicates {
		return fmt.Errorf("%w: found a filter of duplicates, expected none: positions are drawn again and again", ErrConfig)
	}
	chance := func(sample.Reason) float64 { return rng.Float64() }
	b.mu.RLock()
	defer b.mu.RUnlock()
	rows := b.index.windowRows()
	if rows == 0 {
		return ErrEmpty
	}
	first := uint64(0)
	if d.Newest > 0 && d.Newest < 1 {
		first = rows - max(1, uint64(d.Newest*float64(rows)))
	}
	var plies []uint16
	for n, dry := 0, 0; n < len(dst); {
		p := b.replay(b.index.at(first + rng.Uint64N(rows-first)))
		plies = p.choose(rng, min(d.PerGame, len(dst)-n), d.Researched, plies[:0])
		before := n
		n = len(p.samples(&b.start, plies, f, chance, dst[:n]))
		if n > before {
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
// Nothing is left out at random, nor duplicates.
func (b *Buffer) HeldOut(f sample.Filter, dst []sample.Sample) []sample.Sample {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var plies []uint16
	var samples []sample.Sample
	n := 0
	for i := len(b.index.heldOut) - 1; i >= 0 && n < len(dst); i-- {
		p := b.replay(b.index.heldOut[i])
		plies = p.trainable(plies[:0])
		samples = p.samples(&b.start, plies, &f, nil, samples[:0])
		n += copy(dst[n:], samples)
	}
	return dst[:n]
}

// trainable appends to dst the numbers of the plies that may be trained on.
func (p *packed) trainable(dst []uint16) []uint16 {
	for i, q := range p.plies {
		if q.flags&plyTrain != 0 {
			dst = append(dst, uint16(i))
		}
	}
	return dst
}

// choose draws n of the plies that may be trained on, or all if there are fewer,
// without replacement. One that was searched again has the given weight where the
// others have 1; 0 stands for 1. It returns them in order, in the memory of buf.
func (p *packed) choose(rng *rand.Rand, n int, researched float64, buf []uint16) []uint16 {
	plies := p.trainable(buf)
	n = min(n, len(plies))
	if researched != 0 && researched != 1 {
		p.chooseByWeight(rng, researched, plies)
	} else {
		for i := range n {
			j := i + rng.IntN(len(plies)-i)
			plies[i], plies[j] = plies[j], plies[i]
		}
	}
	slices.Sort(plies[:n])
	return plies[:n]
}

// chooseByWeight puts plies into the order in which they are drawn without
// replacement by weight: that of exponential random numbers divided by the weights.
func (p *packed) chooseByWeight(rng *rand.Rand, researched float64, plies []uint16) {
	at := make([]float64, len(p.plies))
	for _, i := range plies {
		at[i] = rng.ExpFloat64()
		if p.plies[i].flags&plyResearched != 0 {
			at[i] /= researched
		}
	}
	slices.SortFunc(plies, func(i, j uint16) int { return cmp.Compare(at[i], at[j]) })
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
		b.cannotRead(e, err)
		p = new(packed) // do not try again
	}
	e.replay.Store(p)
	return p
}

// cannotRead counts a game that a draw could not read, and says so in Damage, once
// for each segment.
func (b *Buffer) cannotRead(e *entry, err error) {
	b.unread.Add(1)
	name := segmentName(e.segment)
	b.damageMu.Lock()
	defer b.damageMu.Unlock()
	i, before := b.unreadable[name]
	if !before {
		i = len(b.damage)
		b.unreadable[name] = i
		b.damage = append(b.damage, Damage{Segment: name, Reason: "found when drawn: " + err.Error()})
	}
	b.damage[i].Games++
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
