package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// Input is games and samples that are the same whenever they are read.
type Input struct {
	Name string
	// read gives all to the sink, in order, until that wants no more.
	read   func(s *sink) error
	extent *Extent // of a replay buffer
}

// Extent says which games of a replay buffer an input is: so many from the oldest
// on, or for the zero Extent those that are there when it is first read. Games
// that are stored later come behind them.
type Extent struct {
	First string `json:"first"` // id of the oldest
	Games uint64 `json:"games"`
}

// Extent returns which games an input is, once it was read to its end. It reports
// false if it is no replay buffer.
func (in Input) Extent() (Extent, bool) {
	if in.extent == nil {
		return Extent{}, false
	}
	return *in.extent, true
}

// Replay is games of the replay buffer in dir, which may grow but not delete them:
// reading then ends with ErrChanged.
func Replay(dir string, e Extent) Input {
	return Input{Name: dir, extent: &e, read: func(s *sink) error {
		var found Extent
		var damage []replay.Damage // behind the last game, where it is none of the input's
		err := replay.VisitGames(dir, func(g *game.Game) bool {
			if found.Games == 0 {
				found.First = g.ID
			}
			if e.Games > 0 && found.First != e.First {
				return false
			}
			found.Games++
			for _, d := range damage {
				s.unreadable(errors.New(d.String()))
			}
			damage = damage[:0]
			return s.game(g) && found.Games != e.Games
		}, func(d replay.Damage) { damage = append(damage, d) })
		switch {
		case err != nil || s.err != nil:
			return err
		case e.Games == 0:
			e = found
		case found != e:
			return fmt.Errorf("%s: %w: found %d games from %q on, expected %d from %q on: old games were deleted; train on a copy", dir, ErrChanged, found.Games, found.First, e.Games, e.First)
		}
		return nil
	}}
}

// Chain is the games and chains of a .chain file.
func Chain(path string) Input {
	return Input{Name: path, read: func(s *sink) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		r := chain.NewReader(f)
		for more := true; more; {
			if more, err = readChain(r, s); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		s.trailing(r.Trailing())
		return nil
	}}
}

// readChain reads the next game, or the next sample that belongs to none.
func readChain(r *chain.Reader, s *sink) (more bool, err error) {
	record, err := r.Record(s.record[:0])
	s.record = record
	if err == nil && len(record) > 0 {
		g, err := game.Decode(record)
		if err != nil {
			s.unreadable(fmt.Errorf("game at byte %d: %w", r.Offset(), err))
			return true, nil
		}
		return s.game(g), nil
	}
	if err == nil {
		err = r.Read(&s.sample)
	}
	if err != nil {
		return s.failed(err)
	}
	at := r.Offset()
	begins := at != s.chainAt
	s.chainAt = at
	return s.next(r.Unit(), begins), nil
}

// Samples is what a reader of a file of samples reads. Open opens the file anew,
// and done closes it. A game begins where the ply does not go up or the result is
// another.
func Samples(name string, open func() (r sample.Reader, done func(), err error)) Input {
	return Input{Name: name, read: func(s *sink) error {
		r, done, err := open()
		if err != nil {
			return err
		}
		defer done()
		last, result := -1, int8(0)
		for more := true; more; {
			if err := r.Read(&s.sample); err != nil {
				if more, err = s.failed(err); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				continue
			}
			ply, white := int(s.sample.Ply), s.sample.Result
			if s.sample.Pos.SideToMove() == chess.Black {
				white = -white
			}
			begins := ply <= last || white != result || last < 0
			last, result = ply, white
			more = s.next(r.Unit(), begins)
		}
		s.trailing(r.Trailing())
		return nil
	}}
}

// sink takes what inputs read and hands on samples in centipawns.
type sink struct {
	ctx     context.Context
	variant *chess.Variant
	// take is given every sample that may be trained on, which lasts until it
	// returns.
	take    func(e *entry)
	history bool // complete samples of games
	counts  Counts
	err     error

	name string   // of the present input
	tell Progress // nil: nobody
	told time.Time

	ordinal uint64 // of the next sample
	games   uint64
	gameKey uint64 // decides on which side of the split an unnamed game is
	sample  sample.Sample
	samples []sample.Sample
	record  []byte
	chainAt int64
}

// entry is a sample and what is known of its game.
type entry struct {
	*sample.Sample
	ordinal uint64
	begins  bool // it is the first of its game
	held    bool // its game is held out
	scored  bool
	whole   bool // it is of a whole game
	length  int  // plies of its game, 0 if not known
}

// checkEvery is how many samples lie between two looks at the context.
const checkEvery = 1 << 12

// game hands on the samples of a game.
func (s *sink) game(g *game.Game) bool {
	if g.Variant != s.variant {
		s.err = fmt.Errorf("%w: found a game of %v, expected %v", sample.ErrFormat, g.Variant, s.variant)
		return false
	}
	var n sample.Counts
	s.samples = sample.From(g, sample.Filter{}, &n, s.samples[:0])
	if s.history {
		sample.Complete(g, s.samples)
	}
	s.counts.Samples += n.Untrained
	s.counts.Untrained += n.Untrained
	s.counts.Games++
	held := sample.HeldOut(g.ID)
	for i := range s.samples {
		one := &s.samples[i]
		e := entry{Sample: one, begins: i == 0, held: held, whole: true, scored: g.Plies[one.Ply].HasScore, length: len(g.Plies)}
		if !s.give(&e) {
			return false
		}
	}
	return true
}

// next hands on s.sample, of a reader's unit.
func (s *sink) next(unit sample.Unit, begins bool) bool {
	one := &s.sample
	if one.Pos.Variant() != s.variant {
		s.err = fmt.Errorf("%w: found samples of %v, expected %v", sample.ErrFormat, one.Pos.Variant(), s.variant)
		return false
	}
	scored := isScored(one.Score)
	one.Score = sample.Convert(one.Score, unit, sample.CentipawnUnit)
	if !scored {
		one.Score = 0 // as in games
	}
	if begins {
		s.counts.Games++
		s.games++
		s.gameKey = splitmix.Hash(one.Pos.Key() + s.games)
	}
	return s.give(&entry{Sample: one, begins: begins, held: s.gameKey%sample.HeldOutEvery == 0, scored: scored})
}

func (s *sink) give(e *entry) bool {
	if s.ordinal%checkEvery == 0 {
		if s.err = s.ctx.Err(); s.err != nil {
			return false
		}
		s.progress()
	}
	e.ordinal = s.ordinal
	s.ordinal++
	s.counts.Samples++
	s.take(e)
	return true
}

// Progress is told the input being read and the positions read so far, of all
// inputs.
type Progress func(input string, positions uint64)

// progressPeriod is the least time between two calls of a Progress.
const progressPeriod = 10 * time.Second

func (s *sink) progress() {
	if now := time.Now(); s.tell != nil && now.Sub(s.told) >= progressPeriod {
		s.told = now
		s.tell(s.name, s.counts.Samples)
	}
}

// failed says whether reading can go on after an error of a reader.
func (s *sink) failed(err error) (more bool, _ error) {
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.Is(err, sample.ErrRecord):
		s.unreadable(err)
		return s.ctx.Err() == nil, s.ctx.Err()
	}
	return false, err
}

// unreadable counts a damaged record.
func (s *sink) unreadable(err error) {
	s.counts.Unreadable++
	s.damaged("%v", err)
}

// trailing notes that so many bytes at the end of an input are no whole record.
func (s *sink) trailing(n int64) {
	if n > 0 {
		s.damaged("the last %d bytes are no whole record", n)
	}
}

// mostDamage is how much damage is told of.
const mostDamage = 10

func (s *sink) damaged(format string, args ...any) {
	if len(s.counts.Damage) < mostDamage {
		s.counts.Damage = append(s.counts.Damage, s.name+": "+fmt.Sprintf(format, args...))
	}
}

// readAll gives the samples of all inputs to take, those of games completed if
// history is set, and tells progress of it, if that is not nil.
func readAll(ctx context.Context, v *chess.Variant, history bool, inputs []Input, progress Progress, take func(*entry)) (Counts, error) {
	s := &sink{ctx: ctx, variant: v, history: history, take: take, tell: progress, told: time.Now()}
	for _, in := range inputs {
		s.name, s.chainAt = in.Name, -1
		if err := in.read(s); err != nil {
			return s.counts, fmt.Errorf("read samples: %w", err)
		}
		if s.err != nil {
			return s.counts, fmt.Errorf("read samples: %s: %w", in.Name, s.err)
		}
	}
	return s.counts, nil
}

// Visit gives take the samples of the inputs that the filter keeps, in order,
// with scores in centipawns. Begins says that a sample is the first kept of its
// game. The sample lasts until take returns. Errors wrap ErrConfig or are those
// of Open.
func Visit(ctx context.Context, v *chess.Variant, f Filter, inputs []Input, take func(s *sample.Sample, begins bool)) (Counts, error) {
	if err := f.validate(); err != nil {
		return Counts{}, err
	}
	var counts Counts
	seen := make(keySet)
	begins := false
	read, err := readAll(ctx, v, false, inputs, nil, func(e *entry) {
		begins = begins || e.begins
		if why := f.against(&counts, e, splitmix.Hash(e.ordinal), seen); why != nil {
			*why++
			return
		}
		counts.Kept++
		take(e.Sample, begins)
		begins = false
	})
	counts.of(&read)
	return counts, err
}
