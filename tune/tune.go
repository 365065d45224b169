// Package tune finds values of a search's parameters by playing pairs of games of
// the search against itself, both sides with other values: [SPSA] moves numbers
// towards what wins, a [Screen] measures what each of many parameters is worth.
//
// It knows neither chess nor the search. [Config.Play] plays a pair. What values a
// pair is played with follows from the seed, the number of the pair and, in SPSA,
// the results of earlier batches. So a run that was killed and resumed, or that
// played another number of pairs at a time, ends as any other, given players that
// answer alike.
package tune

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrConfig is wrapped by every error about the settings of a run.
var ErrConfig = errors.New("tune: bad configuration")

// MaxPairs is the most pairs of a run.
const MaxPairs = 1 << 20

// Values are those of parameters, by their keys, as the text of a player has them.
type Values map[string]string

// Config says what SPSA and Screen have in common. Pairs and Play are required.
type Config struct {
	// Pairs is the number of opening pairs to play.
	Pairs int
	// Concurrency is the number of pairs played at a time; 0 means 1.
	Concurrency int
	// Seed is what the values of every pair are drawn from.
	Seed uint64
	// Play plays a pair and returns the points of A in its two games, counted in
	// half points: 0 to 4. It is called from several goroutines. An error ends
	// the run.
	Play func(ctx context.Context, pair int, a, b Values) (points int, err error)
	// Settings name whatever else the results follow from. A state with others
	// is refused.
	Settings map[string]string
	// State is the path of the file that makes the run resumable; empty keeps
	// none. It is written every second and at the end, also that by an error: a
	// process that is killed plays the pairs of its last second again. No two
	// processes use it at the same time.
	State string
	// OnPair, if not nil, is called after every pair with the number of pairs
	// finished. There is one call at a time.
	OnPair func(finished int)
}

func (c *Config) validate() error {
	switch {
	case c.Pairs < 1 || c.Pairs > MaxPairs:
		return fmt.Errorf("%w: %d pairs, expected 1 to %d", ErrConfig, c.Pairs, MaxPairs)
	case c.Concurrency < 0:
		return fmt.Errorf("%w: concurrency %d, expected 0 or more", ErrConfig, c.Concurrency)
	case c.Play == nil:
		return fmt.Errorf("%w: nothing that plays pairs", ErrConfig)
	}
	return nil
}

// streams keeps the random numbers of pairs apart from those that openings and games
// are drawn from by the same seed.
const streams = 1 << 32

// random is the source that the values of a pair are drawn from.
func (c *Config) random(pair int) *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed, streams+uint64(pair)))
}

// sign draws −1 or 1.
func sign(rng *rand.Rand) int { return 2*rng.IntN(2) - 1 }

// missing stands for a pair that has not been played, in place of the digit of its
// points.
const missing = '-'

// run plays pairs and keeps their results.
type run struct {
	cfg *Config

	mu       sync.Mutex
	settings map[string]string
	results  []byte // of all pairs
	finished int
	saved    time.Time // when results were written
}

// saveEvery is the least time between two writes of the state, but for the last.
const saveEvery = time.Second

// begin validates the settings and reads the state, if there is one. The method's
// own settings are those given.
func (c *Config) begin(method map[string]string) (*run, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	r := &run{cfg: c, settings: maps.Clone(method), results: make([]byte, c.Pairs)}
	r.settings["seed of values"] = fmt.Sprint(c.Seed)
	maps.Copy(r.settings, c.Settings)
	for i := range r.results {
		r.results[i] = missing
	}
	if c.State == "" {
		return r, nil
	}
	found, err := readState(c.State, r.settings, c.Pairs)
	for i := range found {
		r.results[i] = found[i]
		if found[i] != missing {
			r.finished++
		}
	}
	return r, err
}

// play plays those of the pairs from first to end, without end, that are missing.
func (r *run) play(ctx context.Context, first, end int, sides func(pair int) (a, b Values)) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(max(r.cfg.Concurrency, 1))
	for pair := first; pair < end && groupCtx.Err() == nil; pair++ {
		if r.results[pair] != missing {
			continue
		}
		group.Go(func() error {
			a, b := sides(pair)
			points, err := r.cfg.Play(groupCtx, pair, a, b)
			if err != nil {
				return err
			}
			return r.record(pair, points)
		})
	}
	return cmp.Or(group.Wait(), ctx.Err())
}

// record takes the points of a finished pair.
func (r *run) record(pair, points int) error {
	if points < 0 || points > 4 {
		return fmt.Errorf("tune: pair %d: found %d half points, expected 0 to 4", pair, points)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[pair] = '0' + byte(points)
	r.finished++
	if time.Since(r.saved) >= saveEvery {
		if err := r.save(); err != nil {
			return err
		}
	}
	if r.cfg.OnPair != nil {
		r.cfg.OnPair(r.finished)
	}
	return nil
}

// save writes the state. No pair is being recorded meanwhile.
func (r *run) save() error {
	if r.cfg.State == "" {
		return nil
	}
	r.saved = time.Now()
	return writeState(r.cfg.State, r.settings, r.results)
}

// points returns the half points of A in a finished pair; it is false if the pair is
// missing.
func (r *run) points(pair int) (int, bool) {
	return int(r.results[pair]) - '0', r.results[pair] != missing
}

// last is the greatest finished pair, −1 without one.
func (r *run) last() int { return bytes.LastIndexAny(r.results, "01234") }

// firstMissing is the least pair that is missing; the number of pairs if none is.
func (r *run) firstMissing() int {
	if i := bytes.IndexByte(r.results, missing); i >= 0 {
		return i
	}
	return len(r.results)
}
