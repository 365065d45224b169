package dataset

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
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

	games  gameSource // nil if the format keeps none
	parted bool
	record []byte
	close  func()
}

// gameSource are the games of a source beside its samples.
type gameSource interface {
	// Record appends to dst the record of the next game, which is then passed
	// over, if the next sample is the first of a game; else it returns dst.
	Record(dst []byte) ([]byte, error)
	// nextGame is Record for the game itself, nil if there is no record. Games
	// that cannot be read are left out and passed to damaged, or are in lost.
	nextGame(damaged func(error)) (*game.Game, error)
	// lost says what was left out so far that belongs to no call.
	lost() []string
	// InGame reports whether the sample read last is of a whole game.
	InGame() bool
	// Untrained returns how many opening and random moves were passed over
	// between samples.
	Untrained() uint64
}

// chainGames are the games of a .chain file.
type chainGames struct {
	*chain.Reader
	record []byte
}

func (c *chainGames) lost() []string { return nil }

func (c *chainGames) nextGame(damaged func(error)) (*game.Game, error) {
	for {
		record, err := c.Record(c.record[:0])
		if c.record = record; err != nil || len(record) == 0 {
			return nil, err
		}
		g, err := game.Decode(record)
		if err == nil {
			return g, nil
		}
		damaged(fmt.Errorf("game at byte %d: %w", c.Offset(), err))
	}
}

// Open opens a file for reading, "-" being stdin. Formats that do not say which
// variant they are of are taken for v.
func Open(name string, f Format, v *chess.Variant, stdin io.Reader) (*Source, error) {
	if f == Replay {
		return openBuffer(strings.TrimPrefix(name, BufferPrefix), new(Extent))
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
		s.Reader, s.games, s.Variant = c, &chainGames{Reader: c}, c.Variant()
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

// Damage says which parts of a replay buffer could not be read so far, or are
// missing. Elsewhere damage is an error of Read.
func (s *Source) Damage() []string {
	if s.games == nil {
		return nil
	}
	return s.games.lost()
}

// Excluded returns the number of games of a replay buffer that were left out since their
// actors are excluded. It is known when all games are read.
func (s *Source) Excluded() uint64 {
	b, ok := s.games.(*bufferGames)
	if !ok {
		return 0
	}
	return b.excluded
}

// InGame reports whether the sample read last is of a whole game.
func (s *Source) InGame() bool { return s.games != nil && s.games.InGame() }

// untrained returns how many opening and random moves of games Read has passed over.
func (s *Source) untrained() uint64 {
	if s.games == nil {
		return 0
	}
	return s.games.Untrained()
}

// Read reads the next sample. Its errors name the file.
func (s *Source) Read(dst *sample.Sample) error {
	err := s.Reader.Read(dst)
	s.parted = s.parted || err == nil && s.InGame()
	return s.where(err)
}

// Parted reports whether samples of whole games were read, instead of the games.
func (s *Source) Parted() bool { return s.parted }

// where adds the file's name to an error.
func (s *Source) where(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}
