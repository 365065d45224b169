package match

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/game"
)

// Run plays a match, or what is missing of it if there is a log, and returns
// what it has shown. A player that fails (an error, an illegal move, no answer
// in time) loses that game and is made anew for the next.
//
// With an error there is a result too, of the pairs finished before it. Errors:
// [ErrConfig], [rating.ErrSPRT] and [game.ErrConfig] for settings,
// [ErrOtherSchedule] and [ErrBadLog] for the log, [ErrNoPlayer] if a player
// cannot be made, [game.ErrOpening] or what else Openings return, the context's
// error if the match was stopped, and those of writing log and PGN.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	log, pairs, err := openLog(cfg.Log, cfg.schedule())
	if err != nil {
		return Result{}, err
	}
	m := &run{cfg: &cfg, log: log, done: make(map[int]bool), tally: newTally(Result{
		A: cfg.A.Name, B: cfg.B.Name, Conditions: cfg.conditions(), SPRT: cfg.SPRT,
	})}
	err = m.resume(pairs)
	if err == nil {
		err = m.play(ctx)
	}
	return m.tally.snapshot(), errors.Join(err, log.close())
}

// run is a match being played.
type run struct {
	cfg *Config

	mu    sync.Mutex // guards all below
	log   *pairLog
	tally *tally
	done  map[int]bool // pairs of the log
	next  int          // no pair from here on has been handed out
}

// resume counts the pairs of the log.
func (m *run) resume(pairs []Pair) error {
	for i, p := range pairs {
		if p.Number >= m.cfg.Pairs {
			continue // of a longer match
		}
		if i == 0 { // one opening tells whether the generator is the same
			if _, text, err := m.opening(p.Number); err != nil {
				return err
			} else if p.Opening != text {
				return fmt.Errorf("%w: pair %d began with %q, expected %q", ErrOtherSchedule, p.Number, p.Opening, text)
			}
		}
		m.done[p.Number] = true
		m.tally.add(p)
	}
	return nil
}

// opening returns the opening of a pair, and its text for the record.
func (m *run) opening(pair int) (game.Opening, string, error) {
	o, err := m.cfg.Openings.Opening(pair)
	if err != nil {
		return o, "", fmt.Errorf("match: opening of pair %d: %w", pair, err)
	}
	text, err := openingText(o)
	if err != nil {
		return o, "", fmt.Errorf("match: opening of pair %d: %w", pair, err)
	}
	return o, text, nil
}

// play plays the missing pairs, several at a time.
func (m *run) play(ctx context.Context) error {
	missing := m.cfg.Pairs - len(m.done)
	if m.tally.decided() || missing == 0 {
		return nil
	}
	tables := make([][2]*seat, min(max(m.cfg.Concurrency, 1), missing))
	for i := range tables {
		for side, c := range []*Contestant{&m.cfg.A, &m.cfg.B} {
			s := &seat{contestant: c, timeout: m.cfg.MoveTimeout}
			defer s.leave()
			if err := s.sit(); err != nil {
				return err
			}
			tables[i][side] = s
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, table := range tables {
		group.Go(func() error { return m.work(ctx, table) })
	}
	return group.Wait()
}

// work plays pairs at one table until there are none left.
func (m *run) work(ctx context.Context, table [2]*seat) error {
	for {
		number, ok := m.take()
		if !ok {
			return nil
		}
		pair, games, err := m.playPair(ctx, table, number)
		if err != nil {
			return err
		}
		if err := m.record(pair, games); err != nil {
			return err
		}
	}
}

// take hands out the next pair to play.
func (m *run) take() (number int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.next < m.cfg.Pairs && m.done[m.next] {
		m.next++
	}
	if m.next >= m.cfg.Pairs || m.tally.decided() {
		return 0, false
	}
	m.next++
	return m.next - 1, true
}

// record makes a finished pair durable, then counts and announces it.
func (m *run) record(p Pair, games [2]*game.Game) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.log.append(p); err != nil {
		return err
	}
	m.tally.add(p)
	if m.cfg.PGN != nil {
		for i, g := range games {
			if err := game.WritePGN(m.cfg.PGN, g, m.tags(&p, i)); err != nil {
				return fmt.Errorf("match: PGN: %w", err)
			}
		}
	}
	if m.cfg.OnPair != nil {
		m.cfg.OnPair(p, games, m.tally.snapshot())
	}
	return nil
}
