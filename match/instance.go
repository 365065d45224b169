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

// A player that is missing is made in at most maxAttempts attempts in a row,
// with a pause between them that doubles each time, before the match is given up.
const (
	maxAttempts  = 3
	attemptPause = 50 * time.Millisecond
)

// errTimeout is the failure of a player that did not answer within
// Config.MoveTimeout.
var errTimeout = errors.New("no move in time")

// instance plays one contestant's side of a game, and of others later. It hands
// the contestant's limits to the player, limits the time of every move and replaces
// a player that failed.
type instance struct {
	contestant *Contestant
	timeout    time.Duration // for a move of the pair under way; 0: none
	player     game.Player   // nil before the first start and after a failure
	searched   time.Duration // spent in searches of that pair
}

// start makes a player unless there is one.
func (s *instance) start() (err error) {
	if s.player != nil {
		return nil
	}
	if s.player, err = s.contestant.New(); err != nil {
		s.player = nil
		return fmt.Errorf("%w: %s: %w", ErrNoPlayer, s.contestant.Name, err)
	}
	return nil
}

// startAgain is start with several attempts.
func (s *instance) startAgain(ctx context.Context) error {
	err := s.start()
	for attempt := 1; err != nil && attempt < maxAttempts; attempt++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(attemptPause << attempt):
			err = s.start()
		}
	}
	return err
}

// stop closes the player, if there is one. How a player ends does not matter
// to the match.
func (s *instance) stop() {
	if c, ok := s.player.(io.Closer); ok {
		_ = c.Close()
	}
	s.player = nil
}

// NewGame implements [game.Player].
func (s *instance) NewGame() error { return s.player.NewGame() }

// Search implements [game.Player]. Of the limits given it keeps the clocks; the
// others are the contestant's.
func (s *instance) Search(ctx context.Context, line *chess.Line, clocks search.Limits) (search.Result, error) {
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
func (s *instance) watched(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
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

// idleInstances keeps the instances that play no game for later ones.
type idleInstances struct {
	contestants []Contestant
	most        int // instances kept

	mu   sync.Mutex
	list []*instance // the longest idle first
}

// newIdleInstances keeps one instance of every contestant, and as many again as
// play at a time.
func newIdleInstances(cfg *Config) *idleInstances {
	return &idleInstances{contestants: cfg.Players, most: len(cfg.Players) + 2*cfg.Concurrency}
}

// take returns an instance of the contestant with an index, with its player still
// there if possible.
func (l *idleInstances) take(contestant int) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.contestants[contestant]
	for i, s := range slices.Backward(l.list) {
		if s.contestant == c {
			l.list = slices.Delete(l.list, i, i+1)
			return s
		}
	}
	return &instance{contestant: c}
}

// give takes an instance back after a pair.
func (l *idleInstances) give(s *instance) {
	if s.contestant.Fresh {
		s.stop()
		return
	}
	l.keep(s)
}

// keep adds an idle instance. If there are too many, the one that was idle for the
// longest time loses its player.
func (l *idleInstances) keep(s *instance) {
	l.mu.Lock()
	l.list = append(l.list, s)
	var oldest *instance
	if len(l.list) > l.most {
		oldest = l.list[0]
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.stop()
	}
}

// fill makes a player of each contestant wanted, so that one that cannot be
// made is known before the first game.
func (l *idleInstances) fill(wanted []bool) error {
	for i, want := range wanted {
		if !want {
			continue
		}
		s := l.take(i)
		err := s.start()
		l.keep(s)
		if err != nil {
			return err
		}
	}
	return nil
}

// close closes all players, several at a time: an engine may take seconds to
// end. No instance plays any more.
func (l *idleInstances) close() {
	var all sync.WaitGroup
	for _, s := range l.list {
		all.Go(s.stop)
	}
	all.Wait()
}
