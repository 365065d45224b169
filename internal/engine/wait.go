package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// MoveWait says how to wait for the answer to a search.
type MoveWait struct {
	Limit   time.Duration // that the engine may take; 0: for ever
	Overrun chess.Reason  // by which it loses if it takes longer
	Stop    string        // the command that asks for the move at once

	// Take gets every line and reports whether the answer is complete. An error
	// means that the engine broke the protocol.
	Take func(line string) (done bool, err error)
	// Awaited names what the engine has to say next, for errors.
	Awaited func() string
}

// AwaitMove reads what a search says until its answer is complete, and returns when
// the last line was read. When ctx ends, or the time is up, the engine is ordered to move
// and has the margin to answer; without an answer it is taken down. The error of an
// engine that overran its limit is a [game.Fault] for the given reason, even if the
// answer came after all.
func (e *Engine) AwaitMove(ctx context.Context, w MoveWait) (time.Time, error) {
	margin := time.NewTimer(e.MoveMargin)
	margin.Stop()
	defer margin.Stop()
	var timeUp <-chan time.Time
	if w.Limit > 0 {
		timer := time.NewTimer(w.Limit)
		defer timer.Stop()
		timeUp = timer.C
	}
	cancelled := ctx.Done()
	stop := func() error {
		cancelled, timeUp = nil, nil
		margin.Reset(e.MoveMargin)
		return e.Send(w.Stop)
	}
	var late error
	for {
		select {
		case line, ok := <-e.proc.lines:
			if !ok {
				return time.Time{}, e.crashed()
			}
			e.Note(line.Text)
			done, err := w.Take(line.Text)
			if err != nil {
				return time.Time{}, e.Fail(fmt.Errorf("%w: engine %s: %w", ErrProtocol, e.Name, err))
			}
			if done {
				return line.At, late
			}
		case <-timeUp:
			late = &game.Fault{Reason: w.Overrun, Err: fmt.Errorf("%w: engine %s: no %s after %v", ErrTimeout, e.Name, w.Awaited(), w.Limit)}
			if err := stop(); err != nil {
				return time.Time{}, err
			}
		case <-cancelled:
			if err := stop(); err != nil {
				return time.Time{}, err
			}
		case <-margin.C:
			if late == nil {
				late = fmt.Errorf("%w: engine %s: no %s", ErrTimeout, e.Name, w.Awaited())
			}
			return time.Time{}, e.Fail(e.quoteLast(fmt.Errorf("%w, nor %v after %s", late, e.MoveMargin, w.Stop)))
		}
	}
}
