package dataset

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/binpack"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
)

// Source is an open file of samples.
type Source struct {
	sample.Reader
	Name    string
	Format  Format
	Variant *chess.Variant // of the positions; nil in a .chain file without any

	games interface {
		Record(dst []byte) ([]byte, error)
	}
	record []byte
	close  func()
}

// Open opens a file for reading, "-" being stdin. Formats that do not say which
// variant they are of are taken for v.
func Open(name string, f Format, v *chess.Variant, stdin io.Reader) (*Source, error) {
	if f == Replay {
		return openReplay(name)
	}
	s := &Source{Name: name, Format: f, Variant: f.variant(v), close: func() {}}
	r := stdin
	if name == "-" {
		s.Name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		s.close = func() { _ = file.Close() } // was only read
		r = file
	}
	switch f {
	case Bin:
		s.Reader = bin.NewReader(r, v, bin.Bits512)
	case Bin256:
		s.Reader = bin.NewReader(r, chess.Chess, bin.Bits256)
	case Plain:
		s.Reader = plain.NewReader(r, v)
	case Binpack:
		s.Reader = binpack.NewReader(r)
	case Text, Compact:
		s.Reader = thesis.NewReader(r, v)
	default:
		c := chain.NewReader(r)
		s.Reader, s.games, s.Variant = c, c, c.Variant()
	}
	return s, nil
}

// Close closes the file.
func (s *Source) Close() { s.close() }

// Game returns the record of the next game, which is then passed over, if the
// next sample is the first of a game that the file has whole; else nil. It is
// valid until the next call.
func (s *Source) Game() ([]byte, error) {
	if s.games == nil {
		return nil, nil
	}
	record, err := s.games.Record(s.record[:0])
	if err != nil {
		return nil, s.where(err)
	}
	s.record = record
	if len(record) == 0 {
		return nil, nil
	}
	return record, nil
}

// Read reads the next sample. Its errors name the file.
func (s *Source) Read(dst *sample.Sample) error { return s.where(s.Reader.Read(dst)) }

// where adds the file's name to an error.
func (s *Source) where(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// games are those of a replay buffer, as a sample.Reader and as records.
type games struct {
	next func() (*game.Game, bool)
	stop func()
	err  error
	game *game.Game // the next one, of which samples are read; nil if not yet known

	samples []sample.Sample // of the game
	at      int
}

// openReplay opens the buffer in the directory behind replayPrefix.
func openReplay(name string) (*Source, error) {
	dir := strings.TrimPrefix(name, replayPrefix)
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	g := new(games)
	g.next, g.stop = iter.Pull(func(yield func(*game.Game) bool) { g.err = replay.VisitGames(dir, yield, nil) })
	s := &Source{Reader: g, Name: name, Format: Replay, games: g, close: g.stop}
	if err := g.advance(); err != nil && err != io.EOF {
		g.stop()
		return nil, err
	}
	if g.game != nil {
		s.Variant = g.game.Variant
	}
	return s, nil
}

// advance takes the next game if there is none in work.
func (g *games) advance() error {
	if g.game != nil {
		return nil
	}
	next, ok := g.next()
	if !ok {
		if g.err != nil {
			return g.err
		}
		return io.EOF
	}
	g.game, g.samples, g.at = next, sample.From(next, sample.Filter{}, nil, g.samples[:0]), 0
	return nil
}

// Unit returns centipawns.
func (g *games) Unit() sample.Unit { return sample.CentipawnUnit }

// Trailing returns 0.
func (g *games) Trailing() int64 { return 0 }

// Offset returns -1: games are found by their ids.
func (g *games) Offset() int64 { return -1 }

// Read reads the next position that may be trained on.
func (g *games) Read(s *sample.Sample) error {
	for {
		if err := g.advance(); err != nil {
			return err
		}
		if g.at < len(g.samples) {
			*s = g.samples[g.at]
			g.at++
			return nil
		}
		g.game = nil
	}
}

// Record returns the record of the next game, unless part of it was read.
func (g *games) Record(dst []byte) ([]byte, error) {
	if g.game != nil && g.at > 0 {
		if g.at < len(g.samples) {
			return dst, nil
		}
		g.game = nil
	}
	if err := g.advance(); err != nil {
		return dst, err
	}
	record, err := game.Encode(dst, g.game)
	g.game = nil
	return record, err
}
