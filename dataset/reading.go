package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Counts says what became of the samples of inputs, and of the inputs.
type Counts struct {
	sample.Counts
	Games      uint64 `json:"games"`                // games begun
	Unreadable uint64 `json:"unreadable,omitempty"` // records of files that are damaged
	Unmirrored uint64 `json:"unmirrored,omitempty"` // of those kept, with rights to castle, if there is mirroring

	// Damage says of the first records and ends of files that were not read where
	// they are and why.
	Damage []string `json:"damage,omitempty"`
}

// of completes the counts of a filter by what was counted while reading.
func (c *Counts) of(read *Counts) {
	c.Samples, c.Untrained, c.Games = read.Samples, read.Untrained, read.Games
	c.Unreadable, c.Damage = read.Unreadable, read.Damage
}

// reasons says in words why samples were left out, each reason after a comma.
func (c *Counts) reasons() string {
	var text strings.Builder
	for why, n := range c.LeftOut {
		fmt.Fprintf(&text, ", %d %s", n, why.Samples())
	}
	return text.String()
}

// empty is the error that there are no samples, or that none is left to train on.
func (c *Counts) empty() error {
	switch {
	case c.Kept > 0:
		return fmt.Errorf("%w: all %d that pass the filters are of held-out games, one in %d: give more games, or positions to measure by, so that none is held out",
			ErrEmpty, c.Kept, sample.HeldOutEvery)
	case c.Samples > 0:
		return fmt.Errorf("%w: of %d found none passes the filters%s", ErrEmpty, c.Samples, c.reasons())
	case len(c.Damage) > 0:
		return fmt.Errorf("%w: found none that can be read; %s", ErrEmpty, strings.Join(c.Damage, "; "))
	}
	return fmt.Errorf("%w: found none in the data", ErrEmpty)
}

// PrintDamage writes a line for each of c.Damage.
func (c *Counts) PrintDamage(w io.Writer) error {
	for _, what := range c.Damage {
		if _, err := fmt.Fprintf(w, "not read: %s\n", what); err != nil {
			return err
		}
	}
	return nil
}

// reading reads inputs and passes on their samples, in centipawns.
type reading struct {
	ctx     context.Context
	variant *chess.Variant
	// take is given every sample that may be trained on, which lasts until it
	// returns.
	take     func(e *entry)
	clock    sample.Clock
	counts   Counts
	err      error
	progress Progress // may be nil
	shown    time.Time

	name string // of the present input

	ordinal uint64 // of the next sample
	games   uint64 // begun by samples of no whole game, in the present input
	gameKey uint64 // decides on which side of the split such a game is
	sample  sample.Sample
	last    place // of the sample before, of the same input, if begun
	begun   bool
	samples []sample.Sample
}

// input reads all of an input.
func (r *reading) input(in Input) error {
	r.name, r.begun = in.Name, false
	r.games = 0 // an input that is there twice is split alike both times
	src, err := in.open()
	if err != nil {
		return err
	}
	defer src.Close()
	for more := true; more; {
		if more, err = r.next(src); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if n := src.Trailing(); n > 0 && r.err == nil {
		r.damaged("the last %d bytes are no whole record", n)
	}
	for _, what := range src.Damage() {
		r.unreadable(errors.New(what))
	}
	return nil
}

// next reads the next game, or the next sample that belongs to none.
func (r *reading) next(src *Source) (more bool, err error) {
	if src.games != nil {
		g, err := src.games.nextGame(r.unreadable)
		if err != nil {
			return r.failed(err)
		}
		if g != nil {
			r.begun = false
			return r.game(g), nil
		}
	}
	if err := src.Reader.Read(&r.sample); err != nil {
		return r.failed(err)
	}
	at := placeOf(&r.sample)
	begins := !r.begun || r.last.newGame(at)
	r.last, r.begun = at, true
	return r.one(src.Unit(), begins), nil
}

// entry is a sample and what is known of its game.
type entry struct {
	*sample.Sample
	ordinal uint64
	begins  bool // it is the first of its game
	held    bool // its game is held out
	whole   bool // it is of a whole game
	length  int  // plies of its game, 0 if not known
}

// checkEvery is the number of samples between two checks of the context.
const checkEvery = 1 << 12

// game passes on the samples of a game.
func (r *reading) game(g *game.Game) bool {
	if g.Variant != r.variant {
		r.err = fmt.Errorf("%w: found a game of %v, expected %v", sample.ErrFormat, g.Variant, r.variant)
		return false
	}
	r.samples = sample.From(g, r.clock, r.samples[:0])
	untrained := uint64(len(g.Plies) - len(r.samples))
	r.counts.Samples += untrained
	r.counts.Untrained += untrained
	r.counts.Games++
	held := sample.HeldOut(g.ID)
	for i := range r.samples {
		if !r.give(&entry{Sample: &r.samples[i], begins: i == 0, held: held, whole: true, length: len(g.Plies)}) {
			return false
		}
	}
	return true
}

// one passes on r.sample, whose score is in a reader's unit.
func (r *reading) one(unit sample.Unit, begins bool) bool {
	one := &r.sample
	if one.Pos.Variant() != r.variant {
		r.err = fmt.Errorf("%w: found samples of %v, expected %v", sample.ErrFormat, one.Pos.Variant(), r.variant)
		return false
	}
	one.Score = sample.Convert(one.Score, unit, sample.CentipawnUnit)
	if begins {
		r.counts.Games++
		r.games++
		r.gameKey = splitmix.Hash(one.Pos.Key() + r.games)
	}
	return r.give(&entry{Sample: one, begins: begins, held: r.gameKey%sample.HeldOutEvery == 0})
}

func (r *reading) give(e *entry) bool {
	if r.ordinal%checkEvery == 0 {
		if r.err = r.ctx.Err(); r.err != nil {
			return false
		}
		r.show()
	}
	e.ordinal = r.ordinal
	r.ordinal++
	r.counts.Samples++
	r.take(e)
	return true
}

// Progress receives the input being read and the positions read so far, of all
// inputs.
type Progress func(input string, positions uint64)

// progressPeriod is the least time between two calls of a Progress.
const progressPeriod = 10 * time.Second

func (r *reading) show() {
	if now := time.Now(); r.progress != nil && now.Sub(r.shown) >= progressPeriod {
		r.shown = now
		r.progress(r.name, r.counts.Samples)
	}
}

// failed says whether reading can go on after an error of a reader.
func (r *reading) failed(err error) (more bool, _ error) {
	switch {
	case errors.Is(err, io.EOF):
		return false, nil
	case errors.Is(err, sample.ErrRecord):
		r.unreadable(err)
		return r.ctx.Err() == nil, r.ctx.Err()
	}
	return false, err
}

// unreadable counts a damaged record.
func (r *reading) unreadable(err error) {
	r.counts.Unreadable++
	r.damaged("%v", err)
}

// mostDamage is how much damage is reported.
const mostDamage = 10

func (r *reading) damaged(format string, args ...any) {
	if len(r.counts.Damage) < mostDamage {
		r.counts.Damage = append(r.counts.Damage, r.name+": "+fmt.Sprintf(format, args...))
	}
}

// readInputs gives the samples of all inputs to take, those of games with clocks of
// the given kind, and reports to progress, if that is not nil.
func readInputs(ctx context.Context, v *chess.Variant, clock sample.Clock, inputs []Input, progress Progress, take func(*entry)) (Counts, error) {
	r := &reading{ctx: ctx, variant: v, clock: clock, take: take, progress: progress, shown: time.Now()}
	for _, in := range inputs {
		if err := r.input(in); err != nil {
			return r.counts, fmt.Errorf("read samples: %w", err)
		}
		if r.err != nil {
			return r.counts, fmt.Errorf("read samples: %s: %w", in.Name, r.err)
		}
	}
	return r.counts, nil
}

// Visit gives take the samples of the inputs that the filter keeps, in order,
// with scores in centipawns. Begins says that a sample is the first kept of its
// game. The sample lasts until take returns. Errors wrap ErrConfig or are those
// of Read.
func Visit(ctx context.Context, v *chess.Variant, f sample.Filter, inputs []Input, take func(s *sample.Sample, begins bool)) (Counts, error) {
	if err := f.Validate(); err != nil {
		return Counts{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	var counts Counts
	x := newSelector(f)
	begins := false
	read, err := readInputs(ctx, v, sample.RulesClock, inputs, nil, func(e *entry) {
		begins = begins || e.begins
		why := x.against(e, splitmix.Hash(e.ordinal))
		if counts.Count(why); why == sample.Kept {
			take(e.Sample, begins)
			begins = false
		}
	})
	counts.of(&read)
	return counts, err
}

// selector applies a filter to entries. What it leaves out at random follows from
// a number of each entry, so that all readings leave out the same.
type selector struct {
	sample.Selection
	number uint64 // of the present entry
}

func newSelector(f sample.Filter) *selector {
	x := &selector{Selection: sample.Selection{Filter: f}}
	x.Chance = func(why sample.Reason) float64 {
		n := x.number
		if why == sample.Skipped {
			n++
		}
		return float64(splitmix.Hash(n)>>11) / (1 << 53)
	}
	return x
}

// against returns the first reason against the entry of a number, or Kept.
func (x *selector) against(e *entry, number uint64) sample.Reason {
	x.number = number
	return x.Against(e.Sample, sample.CentipawnUnit, e.whole)
}
