package dataset

import (
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Extent says which games of a replay buffer an input is. The zero Extent stands
// for those that are there when it is first read. Games that are stored later come
// after them.
type Extent struct {
	First string `json:"first"` // id of the oldest
	Games uint64 `json:"games"` // number of games, from that on
}

// bufferGames are games of a replay buffer, as a sample.Reader and as records.
type bufferGames struct {
	next   func() (*game.Game, bool)
	stop   func()
	err    error
	game   *game.Game // the next one, of which samples are read; nil if not yet known
	damage []string   // up to that game

	excluded uint64 // games of excluded actors, which are left out; known at the end

	samples   []sample.Sample // of the game
	at        int
	untrained uint64 // plies of the games read that are no samples
}

// openBuffer opens the buffer in a directory. At the end of the games a zero
// extent becomes what was found; if it was not zero and other games are found, the
// error wraps ErrChanged.
func openBuffer(dir string, extent *Extent) (*Source, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	b := new(bufferGames)
	b.next, b.stop = iter.Pull(func(yield func(*game.Game) bool) { b.err = b.visit(dir, extent, yield) })
	s := &Source{Reader: b, Name: BufferPrefix + dir, Format: Replay, games: b, close: b.stop}
	if err := b.advance(); err != nil && err != io.EOF {
		b.stop()
		return nil, err
	}
	if b.game != nil {
		s.Variant = b.game.Variant
	}
	return s, nil
}

// visit yields the games of the extent.
func (b *bufferGames) visit(dir string, extent *Extent, yield func(*game.Game) bool) error {
	want, found, stopped := *extent, Extent{}, false
	var damage []string // after the last game, where it is none of the extent's
	excluded, err := replay.VisitGames(dir, func(g *game.Game) bool {
		if found.Games == 0 {
			found.First = g.ID
		}
		if want.Games > 0 && found.First != want.First {
			return false
		}
		found.Games++
		b.damage, damage = append(b.damage, damage...), nil
		stopped = !yield(g)
		return !stopped && found.Games != want.Games
	}, func(d replay.Damage) { damage = append(damage, d.String()) })
	b.excluded = excluded
	switch {
	case err != nil || stopped:
		return err
	case want.Games == 0:
		*extent = found
		b.damage = append(b.damage, damage...)
	case found != want:
		return fmt.Errorf("%w: found %d games from %q on, expected %d from %q on: old games were deleted; train on a copy", ErrChanged, found.Games, found.First, want.Games, want.First)
	}
	return nil
}

// advance takes the next game if the last one is done with.
func (b *bufferGames) advance() error {
	if b.game != nil {
		return nil
	}
	next, ok := b.next()
	if !ok {
		if b.err != nil {
			return b.err
		}
		return io.EOF
	}
	b.game, b.samples, b.at = next, sample.From(next, sample.RulesClock, b.samples[:0]), 0
	return nil
}

// Unit returns centipawns.
func (b *bufferGames) Unit() sample.Unit { return sample.CentipawnUnit }

// Trailing returns 0.
func (b *bufferGames) Trailing() int64 { return 0 }

// Offset returns -1: games are found by their ids.
func (b *bufferGames) Offset() int64 { return -1 }

// InGame returns true.
func (b *bufferGames) InGame() bool { return true }

// Read reads the next position that may be trained on.
func (b *bufferGames) Read(s *sample.Sample) error {
	for {
		if err := b.advance(); err != nil {
			return err
		}
		if b.at < len(b.samples) {
			*s = b.samples[b.at]
			b.at++
			return nil
		}
		if b.game.Outcome != chess.Ongoing {
			b.untrained += uint64(len(b.game.Plies) - len(b.samples))
		}
		b.game = nil
	}
}

// Untrained returns how many opening and random moves were passed over.
func (b *bufferGames) Untrained() uint64 { return b.untrained }

// lost says what could not be read so far.
func (b *bufferGames) lost() []string { return b.damage }

// nextGame takes the next game, unless part of it was read.
func (b *bufferGames) nextGame(func(error)) (*game.Game, error) {
	if b.game != nil && b.at > 0 {
		if b.at < len(b.samples) {
			return nil, nil
		}
		b.game = nil
	}
	if err := b.advance(); err != nil {
		return nil, err
	}
	g := b.game
	b.game = nil
	return g, nil
}

// Record returns the record of the next game, unless part of it was read.
func (b *bufferGames) Record(dst []byte) ([]byte, error) {
	g, err := b.nextGame(nil)
	if err != nil || g == nil {
		return dst, err
	}
	return game.Encode(dst, g)
}
