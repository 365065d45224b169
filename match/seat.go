package match

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrNoPlayer says that a player could not be made: at the start of the match,
// or several times in a row after it had failed.
var ErrNoPlayer = errors.New("match: no player")

// A failed player is tried to be made anew maxAttempts times in a row, with a
// pause between that doubles each time, before the match is given up.
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
