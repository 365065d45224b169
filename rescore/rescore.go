// Package rescore gives training data other scores: a player searches its positions
// again.
//
// Positions are read in their order and filtered as they are. Each that is kept is
// searched by itself, by a player that knows nothing of the others (game.Player.NewGame),
// so its score does not depend on which goroutine searches it. The score and the best
// move take the place of what the sample had; result and ply stay. Games come out as
// samples, for the moves played are no longer those of the searches. So what only whole
// games keep is lost: policies, repetitions and plies left. A position that a player
// resigns is left out, as one without a legal move is.
//
// With a first player only positions that surprise it are searched again: those whose
// score by its search is far from the one they have.
//
// # Files
//
// A run that was stopped at any moment goes on where its file ends. Beside the file lies
// one named like it with ".run" after it,
//
//	{"run":ID,"read":N,"input":HASH,"written":N,"stuck":N,"calm":N,"bytes":N,"done":BOOL}
//
// which is replaced whenever positions have been written: read is how many samples of the
// input were, and HASH says which; bytes is the length of the file; what is after that is
// cut off. ID follows from all that decides the content but the input. A run that goes on
// reads these samples again and ends if they are others. More samples may come after them,
// as in a replay buffer that grows: then it goes on with these, if it was complete too.
package rescore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrConfig is wrapped by every error about the settings of a run.
var ErrConfig = errors.New("rescore: bad settings")

// ErrUnfit says that the format of the output does not take a position.
var ErrUnfit = errors.New("rescore: no position of this format")

// Settings are what decides the content of the file, besides the input.
type Settings struct {
	// Player names the player and all that its moves depend on, Net the net it uses.
	Player, Net string
	// Limits are those of every search.
	Limits search.Limits
	Filter sample.Filter
	Seed   uint64 // of what Filter leaves out at random
	First  First
}

// First says which positions are searched again by a shorter search before.
type First struct {
	Player, Net string // as of Settings
	Limits      search.Limits
	// Surprise is how far, in centipawns, the score of that search is at least from
	// the one that the position has, both within ±1,000 (game.SurpriseLimit). A position
	// without a score is always searched. 0 means that there is no first search.
	Surprise int
}

// Config says how a run goes.
type Config struct {
	Settings

	Sources []*dataset.Source // in this order, each at its beginning
	Target  dataset.Target    // a file; Append and Force have no effect

	// New makes a player, once for each thread. A player that is an io.Closer is
	// closed in the end.
	New func() (game.Player, error)
	// NewFirst makes a player of First in the same way.
	NewFirst func() (game.Player, error)
	Threads  int // positions searched at a time; 0 means 1

	// SaveInterval is how long positions may wait to be saved; 0 means 10 s.
	SaveInterval time.Duration
	// Note is called with what was found at the beginning, Progress after every
	// batch of positions. Both may be nil.
	Note     func(string)
	Progress func(Progress)
}

// Progress says how far a run has come.
type Progress struct {
	Read    int64 // samples of the input
	Written int64
	Stuck   int64 // positions kept by the filter, but without a legal move or resigned by a player
	Calm    int64 // of the others, those that did not surprise First
	// What follows counts from this call of Run on.
	Counts   sample.Counts // of samples read, those passed over at the beginning included
	Searched int64
	Nodes    uint64
	Elapsed  time.Duration
}

// mostBatch is how many positions are searched between two writes at most, for each
// thread. There are fewer where searches take long, so that a batch is a small part of the
// interval of saving.
const mostBatch = 256

// runner is a run in progress.
type runner struct {
	cfg       *Config
	at        state
	progress  Progress
	selection sample.Selection
	players   []game.Player
	first     []game.Player // one for each of players, or none
	source    int           // the one being read
	input     uint64        // hash of the samples read
	batchSize int           // positions of the next batch, for each thread
	samples   []sample.Sample
	results   []search.Result
	fates     []fate
	began     time.Time
}

// fate is what becomes of a position.
type fate uint8

const (
	searched fate = iota
	stuck         // it has no legal move, or a player resigned
	calm          // it did not surprise
)

// Run writes the file, or goes on writing it. When ctx ends, what was searched so far is
// written and the error is that of ctx; calling Run again with the same settings and
// input then completes the file. Errors wrap ErrConfig, ErrOther, ErrDamaged,
// ErrUnfit, or come from input, player or file.
func Run(ctx context.Context, cfg Config) (done Progress, err error) {
	r := &runner{cfg: &cfg, batchSize: 1}
	run, err := cfg.run()
	if err != nil {
		return done, err
	}
	defer r.leave()
	if err := r.join(); err != nil {
		return done, err
	}
	unlock, err := r.open(run)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r.began = time.Now()
	defer func() { done = r.now(&r.at) }()
	if r.at.Done && r.at.Input == 0 && r.at.Read > 0 {
		return done, nil // of an earlier build: its input is not known
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, 0))
	r.selection = sample.Selection{Filter: cfg.Filter, Chance: func(sample.Reason) float64 { return rng.Float64() }}
	if err := r.skip(ctx); err != nil {
		return done, err
	}
	for ended := false; !ended && err == nil; {
		err = r.part(ctx)
		ended = r.at.Done
	}
	return done, err
}

// join makes the players.
func (r *runner) join() error {
	for range max(1, r.cfg.Threads) {
		p, err := r.cfg.New()
		if err != nil {
			return fmt.Errorf("player: %w", err)
		}
		r.players = append(r.players, p)
		if r.cfg.First.Surprise > 0 {
			p, err := r.cfg.NewFirst()
			if err != nil {
				return fmt.Errorf("first player: %w", err)
			}
			r.first = append(r.first, p)
		}
	}
	return nil
}

// run returns what names the run: a hash of all that decides the content.
func (c *Config) run() (string, error) {
	switch {
	case c.Limits.Nodes == 0 && c.Limits.Depth == 0 && c.Limits.MoveTime == 0:
		return "", fmt.Errorf("%w: found no limit of a search, expected nodes, a depth or a time", ErrConfig)
	case c.First.Surprise < 0 || c.First.Surprise > 2*game.SurpriseLimit:
		return "", fmt.Errorf("%w: found a surprise of %d centipawns, expected 0 to %d", ErrConfig, c.First.Surprise, 2*game.SurpriseLimit)
	case c.Target.Name == "-":
		return "", fmt.Errorf("%w: found standard output, expected a file, which a run can go on with", ErrConfig)
	}
	target := c.Target
	target.Append = true
	if err := target.Check(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrConfig, err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %+v %d %v", c.Player, c.Net, game.LimitsText(c.Limits), c.Filter, c.Seed, c.Target.Format)
	for _, s := range c.Sources {
		fmt.Fprintf(h, " %q", s.Name)
	}
	if f := c.First; f.Surprise > 0 {
		fmt.Fprintf(h, " first %q %q %q %d", f.Player, f.Net, game.LimitsText(f.Limits), f.Surprise)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// now says how far the run has come if it is at the given state.
func (r *runner) now(at *state) Progress {
	p := r.progress
	p.Read, p.Written, p.Stuck, p.Calm, p.Elapsed = at.Read, at.Written, at.Stuck, at.Calm, time.Since(r.began)
	return p
}

// leave closes the players. How they end does not matter.
func (r *runner) leave() {
	for _, p := range slices.Concat(r.players, r.first) {
		if c, ok := p.(io.Closer); ok {
			_ = c.Close()
		}
	}
}

// skip passes over what an earlier call has read, with the same numbers drawn.
func (r *runner) skip(ctx context.Context) error {
	var s sample.Sample
	for n := int64(0); n < r.at.Read; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := r.next(&s); errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %s: the input has %d samples, expected %d at least, as it had: of a buffer that deletes old games rescore a copy; %s", ErrOther, stateName(r.cfg.Target.Name), n, r.at.Read, remedy)
		} else if err != nil {
			return err
		}
	}
	// States of earlier builds do not say which samples they were.
	if r.at.Input != 0 && r.at.Input != r.input {
		return fmt.Errorf("%w: %s: the first %d samples of the input are others than they were, expected the same: of a buffer that deletes old games rescore a copy; %s", ErrOther, stateName(r.cfg.Target.Name), r.at.Read, remedy)
	}
	return nil
}

// mix takes a sample into the hash of those read.
func (r *runner) mix(s *sample.Sample) {
	for _, word := range [...]uint64{s.Pos.Key(), uint64(s.Move) | uint64(s.Ply)<<16 | uint64(uint8(s.Result))<<32, uint64(s.Score)} {
		r.input = splitmix.Mix(r.input ^ word)
	}
	r.input |= 1 // 0 stands for none
}

// next reads the next sample of the input and reports whether it is to be searched. The
// error is io.EOF at the end.
func (r *runner) next(s *sample.Sample) (kept bool, err error) {
	for r.source < len(r.cfg.Sources) {
		src := r.cfg.Sources[r.source]
		err := src.Read(s)
		if errors.Is(err, io.EOF) {
			r.source++
			continue
		}
		if err != nil {
			return false, err
		}
		r.mix(s)
		why := r.selection.Against(s, src.Unit(), src.InGame())
		r.progress.Counts.Count(why)
		return why == sample.Kept, nil
	}
	return false, io.EOF
}

// part writes what is searched within the interval of saving, and then the state.
func (r *runner) part(ctx context.Context) error {
	interval := r.cfg.SaveInterval
	if interval <= 0 {
		interval = 10 * time.Second
	}
	until := time.Now().Add(interval)
	at := r.at
	target := r.cfg.Target
	target.Append, target.Force, target.Locked = true, false, true
	var stopped error
	err := target.Create(func(sink *dataset.Sink) error {
		for {
			began := time.Now()
			stopped = r.batch(ctx, sink, &at)
			r.resize(time.Since(began), interval)
			if stopped != nil && ctx.Err() == nil {
				return stopped
			}
			if r.cfg.Progress != nil {
				r.cfg.Progress(r.now(&at))
			}
			if at.Done || stopped != nil || time.Now().After(until) {
				return nil
			}
		}
	})
	if err != nil {
		return err
	}
	if err := r.save(at); err != nil {
		return err
	}
	return stopped
}

// resize chooses the next batch's size by the time that the last one took.
func (r *runner) resize(took, interval time.Duration) {
	switch {
	case took < interval/8:
		r.batchSize = min(2*r.batchSize, mostBatch)
	case took > interval/4:
		r.batchSize = max(r.batchSize/2, 1)
	}
}

// batch reads, searches and writes positions. If it fails, none of them counts in at.
func (r *runner) batch(ctx context.Context, sink *dataset.Sink, at *state) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	read, done := at.Read, false
	r.samples = r.samples[:0]
	var s sample.Sample
	for len(r.samples) < r.batchSize*len(r.players) {
		kept, err := r.next(&s)
		if errors.Is(err, io.EOF) {
			done = true
			break
		}
		if err != nil {
			return err
		}
		if kept {
			s.Policy = nil // of the search before, and in the reader's memory
			s.Score = sample.Convert(s.Score, r.cfg.Sources[r.source].Unit(), sample.CentipawnUnit)
			r.samples = append(r.samples, s)
		}
		if read++; read%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if err := r.search(ctx); err != nil {
		return err
	}
	count := [...]int64{searched: at.Written, stuck: at.Stuck, calm: at.Calm}
	for i := range r.samples {
		s := &r.samples[i]
		count[r.fates[i]]++
		if r.fates[i] != searched {
			continue
		}
		s.Move, s.Partial = r.results[i].Move, false
		s.Score = max(-search.MateScore, min(search.MateScore, r.results[i].Score))
		if err := sink.Write(s, sample.CentipawnUnit); err != nil {
			if errors.Is(err, sample.ErrRecord) {
				err = fmt.Errorf("%w: %w", ErrUnfit, err)
			}
			return fmt.Errorf("%s: position %q: %w", sink.Name, s.Pos.FEN(), err)
		}
	}
	at.Read, at.Input, at.Written, at.Stuck, at.Calm, at.Done = read, r.input, count[searched], count[stuck], count[calm], done
	return nil
}

// search searches the samples in hand, on all threads.
func (r *runner) search(ctx context.Context) error {
	n := len(r.samples)
	r.results = append(r.results[:0], make([]search.Result, n)...)
	r.fates = append(r.fates[:0], make([]fate, n)...)
	errs := make([]error, len(r.players))
	parallel.Do(len(r.players), n, func(worker, i int) {
		if errs[worker] == nil {
			errs[worker] = r.one(ctx, worker, i)
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for i := range r.results {
		r.progress.Nodes += r.results[i].Nodes
		if r.fates[i] == searched {
			r.progress.Searched++
		}
	}
	return nil
}

// one searches a sample, if it is to be searched. A player that resigns leaves nothing
// to write.
func (r *runner) one(ctx context.Context, worker, i int) (err error) {
	r.fates[i], err = r.treat(ctx, worker, i)
	if errors.Is(err, game.ErrResigned) {
		r.fates[i], err = stuck, nil
	}
	return err
}

// treat searches a sample and returns what becomes of it.
func (r *runner) treat(ctx context.Context, worker, i int) (what fate, err error) {
	s := &r.samples[i]
	if !s.Pos.HasLegalMove() {
		return stuck, nil
	}
	if first := r.cfg.First; first.Surprise > 0 {
		found, err := searchAlone(ctx, r.first[worker], &s.Pos, first.Limits)
		if err != nil {
			return searched, fmt.Errorf("first player: %w", err)
		}
		if s.Score != sample.NoScore && distance(found.Score, s.Score) < first.Surprise {
			return calm, nil
		}
	}
	r.results[i], err = searchAlone(ctx, r.players[worker], &s.Pos, r.cfg.Limits)
	return searched, err
}

// searchAlone has a player search a position of which it knows nothing.
func searchAlone(ctx context.Context, p game.Player, pos *chess.Position, limits search.Limits) (found search.Result, err error) {
	if err = p.NewGame(); err == nil {
		found, err = p.Search(ctx, chess.NewLine(*pos), limits)
	}
	if err == nil && !pos.IsLegal(found.Move) {
		err = fmt.Errorf("found the move %v, expected a legal one", found.Move)
	}
	if err != nil {
		return found, fmt.Errorf("position %q: %w", pos.FEN(), err)
	}
	return found, nil
}

// distance is how far two scores are from each other, as far as they count.
func distance(a, b search.Score) int {
	const limit = game.SurpriseLimit
	d := max(-limit, min(limit, int(a))) - max(-limit, min(limit, int(b)))
	return max(d, -d)
}
