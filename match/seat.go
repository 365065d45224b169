package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrNoPlayer says that a player could not be made: at the start of the match,
// or several times in a row after it had failed.
var ErrNoPlayer = errors.New("match: no player")

// A player that is missing is tried to be made maxAttempts times in a row,
// with a pause between that doubles each time, before the match is given up.
const (
	maxAttempts  = 3
	attemptPause = 50 * time.Millisecond
)

// errTimeout is the failure of a player that did not answer within
// Config.MoveTimeout.
var errTimeout = errors.New("no move in time")

// seat is one contestant's place at one board. It hands the contestant's limits
// to the player, watches the time of every move and replaces a failed player.
type seat struct {
	contestant *Contestant
	timeout    time.Duration // 0: none
	player     game.Player   // nil before the first sit and after a failure
	searched   time.Duration // spent in searches
}

// sit makes a player unless there is one.
func (s *seat) sit() (err error) {
	if s.player != nil {
		return nil
	}
	if s.player, err = s.contestant.New(); err != nil {
		s.player = nil
		return fmt.Errorf("%w: %s: %w", ErrNoPlayer, s.contestant.Name, err)
	}
	return nil
}

// sitAgain is sit with several attempts.
func (s *seat) sitAgain(ctx context.Context) error {
	err := s.sit()
	for attempt := 1; err != nil && attempt < maxAttempts; attempt++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(attemptPause << attempt):
			err = s.sit()
		}
	}
	return err
}

// leave closes the player, if there is one. How a player ends does not matter
// to the match.
func (s *seat) leave() {
	if c, ok := s.player.(io.Closer); ok {
		_ = c.Close()
	}
	s.player = nil
}

// NewGame implements [game.Player].
func (s *seat) NewGame() error { return s.player.NewGame() }

// Search implements [game.Player]. Of the limits given it keeps the clocks; the
// others are the contestant's.
func (s *seat) Search(ctx context.Context, line *chess.Line, clocks search.Limits) (search.Result, error) {
	lim := s.contestant.Limits
	lim.Time, lim.Inc = clocks.Time, clocks.Inc
	began := time.Now()
	result, err := s.watched(ctx, line, lim)
	if result.Elapsed == 0 { // a player that does not say, or has failed
		result.Elapsed = time.Since(began)
	}
	s.searched += result.Elapsed
	return result, err
}

// watched searches, for no longer than the timeout.
func (s *seat) watched(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if s.timeout == 0 {
		return s.player.Search(ctx, line, lim)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errTimeout)
	defer cancel()
	result, err := s.player.Search(ctx, line, lim)
	if errors.Is(context.Cause(ctx), errTimeout) { // an answer now was cut short
		return search.Result{}, fmt.Errorf("%w: %v", errTimeout, s.timeout)
	}
	return result, err
}

// lobby keeps the players that are not at a board until they are wanted again.
type lobby struct {
	contestants []Contestant
	timeout     time.Duration
	most        int // seats kept

	mu   sync.Mutex
	idle []*seat // the longest idle first
}

// newLobby keeps one seat of every contestant, and as many again as sit at the
// boards.
func newLobby(cfg *Config) *lobby {
	return &lobby{contestants: cfg.Players, timeout: cfg.MoveTimeout, most: len(cfg.Players) + 2*cfg.Concurrency}
}

// take returns a seat of the contestant with an index, with its player still
// there if possible.
func (l *lobby) take(contestant int) *seat {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.contestants[contestant]
	for i, s := range slices.Backward(l.idle) {
		if s.contestant == c {
			l.idle = slices.Delete(l.idle, i, i+1)
			return s
		}
	}
	return &seat{contestant: c, timeout: l.timeout}
}

// give takes a seat back after a pair.
func (l *lobby) give(s *seat) {
	if s.contestant.Fresh {
		s.leave()
		return
	}
	l.keep(s)
}

// keep adds an idle seat. If there are too many, the one that was idle for the
// longest time loses its player.
func (l *lobby) keep(s *seat) {
	l.mu.Lock()
	l.idle = append(l.idle, s)
	var oldest *seat
	if len(l.idle) > l.most {
		oldest = l.idle[0]
		l.idle = slices.Delete(l.idle, 0, 1)
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.leave()
	}
}

// fill makes a player of each contestant wanted, so that one that cannot be
// made is known before the first game.
func (l *lobby) fill(wanted []bool) error {
	for i, want := range wanted {
		if !want {
			continue
		}
		s := l.take(i)
		err := s.sit()
		l.keep(s)
		if err != nil {
			return err
		}
	}
	return nil
}

// close closes all players, several at a time: an engine may take seconds to
// end. No seat is away.
func (l *lobby) close() {
	var all sync.WaitGroup
	for _, s := range l.idle {
		all.Go(s.leave)
	}
	all.Wait()
}
