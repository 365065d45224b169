package uci

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Search asks the engine for a move in the line's last position. If ctx ends,
// stop is sent to the engine and its answer is returned with a nil error, as
// for a search that has reached its limit. Limits.Overhead is not passed on
// (set the engine's option), and Limits.Ponder is refused.
//
// Score, depth and principal variation are those of the engine's last line
// with an exact score for its best move.
//
// Result.Elapsed is the time from the moment the search was sent to the engine to
// the moment its answer was read, whatever else this program did meanwhile.
//
// Errors wrap [search.ErrNoLegalMoves], [ErrVariant] (the position is not of
// the game the engine was started for), [ErrCrashed], [ErrTimeout],
// [ErrProtocol] or [ErrIllegalMove]. Those that lose the game by another reason
// than [game.EngineFailure] are a [game.Fault].
func (c *Client) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	res, err := c.search(ctx, line, lim)
	if err != nil {
		return search.Result{}, fault(err)
	}
	return res, nil
}

func (c *Client) search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	start, pos := *line.Start(), *line.Pos()
	start.SetChess960(c.cfg.Chess960)
	pos.SetChess960(c.cfg.Chess960)
	if err := c.accepts(&start, &lim); err != nil {
		return search.Result{}, err
	}
	if !pos.HasLegalMove() {
		return search.Result{}, fmt.Errorf("uci: engine %s: %w in %s", c.name, search.ErrNoLegalMoves, pos.FEN())
	}
	if err := ctx.Err(); err != nil {
		return search.Result{}, err
	}
	if err := c.setMultiPV(lim.MultiPV); err != nil {
		return search.Result{}, err
	}
	// What the engine says before its readyok answers an earlier search. Not
	// to wait for that saves a round trip, which at 20 ms a move is felt.
	command := append(c.appendPosition(nil, &start, line.Moves()), "\nisready\n"...)
	command = appendGo(command, &pos, &lim)
	c.last = "" // what it said before is not why it dies now
	began := time.Now()
	if err := c.send(string(command)); err != nil {
		return search.Result{}, err
	}
	t := transcript{pos: &pos, multiPV: max(lim.MultiPV, 1)}
	limit, late := c.timeFor(&pos, &lim)
	best, answered, err := c.awaitMove(ctx, limit, late, &t)
	if err != nil {
		return search.Result{}, err
	}
	res, err := t.result(best)
	switch {
	case errors.Is(err, chess.ErrMoveSyntax) && !isNullMove(best[0]):
		return search.Result{}, c.fail(fmt.Errorf("%w: engine %s: bestmove: %w", ErrProtocol, c.name, err))
	case err != nil:
		return search.Result{}, &IllegalMoveError{Engine: c.name, Move: best[0], FEN: pos.FEN()}
	}
	res.Elapsed = answered.Sub(began)
	return res, nil
}

// accepts reports why a search of a line that begins at p cannot be asked for.
func (c *Client) accepts(p *chess.Position, lim *search.Limits) error {
	switch {
	case p.Variant() != c.cfg.Variant:
		return fmt.Errorf("%w: engine %s: found a position of %s, expected %s",
			ErrVariant, c.name, p.Variant().Name, c.cfg.Variant.Name)
	case p.Chess960() != c.cfg.Chess960:
		return fmt.Errorf("%w: engine %s: position %s needs UCI_Chess960, which is not set",
			ErrVariant, c.name, p.FEN())
	case lim.Ponder:
		return fmt.Errorf("uci: engine %s: pondering is not supported", c.name)
	}
	return nil
}

// setMultiPV sets the engine's option of that name to n, at least 1, if it is
// not set so and the engine has it.
func (c *Client) setMultiPV(n int) error {
	n = max(n, 1)
	if _, ok := c.listed["multipv"]; !ok || n == c.multiPV {
		return nil
	}
	c.multiPV = n
	return c.setOption("MultiPV", strconv.Itoa(n))
}

// appendPosition appends the command that sets up a line.
func (c *Client) appendPosition(dst []byte, start *chess.Position, moves []chess.Move) []byte {
	initial := c.cfg.Variant.Start()
	initial.SetChess960(c.cfg.Chess960)
	if *start == initial {
		dst = append(dst, "position startpos"...)
	} else {
		dst = start.AppendFEN(append(dst, "position fen "...))
	}
	if len(moves) == 0 {
		return dst
	}
	return AppendMoves(append(dst, " moves"...), start, moves)
}

// timeFor returns how long the engine may take for its answer, 0 for ever, and
// the reason for which it loses if it takes longer.
func (c *Client) timeFor(p *chess.Position, lim *search.Limits) (time.Duration, chess.Reason) {
	side := p.SideToMove()
	switch {
	case lim.Infinite || !bounded(lim, side):
		return 0, game.NoAnswer
	case lim.MoveTime > 0 && lim.Clock(side):
		return min(lim.MoveTime, lim.Time[side]+lim.Inc[side]) + c.cfg.MoveMargin, game.TimeForfeit
	case lim.MoveTime > 0:
		return lim.MoveTime + c.cfg.MoveMargin, game.TimeForfeit
	case lim.Clock(side):
		return lim.Time[side] + lim.Inc[side] + c.cfg.MoveMargin, game.TimeForfeit
	}
	return c.cfg.SearchTimeout, game.NoAnswer
}

// awaitMove reads what a search says from its readyok until its bestmove, and
// returns what follows that word and when it was read. When ctx ends, or the time is
// up, stop is sent to the engine, which has the margin to answer; without an answer
// it is taken down. An engine that overran its limit has lost by the given reason.
func (c *Client) awaitMove(ctx context.Context, limit time.Duration, overrun chess.Reason, t *transcript) ([]string, time.Time, error) {
	margin := time.NewTimer(c.cfg.MoveMargin)
	margin.Stop()
	defer margin.Stop()
	var timeUp <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeUp = timer.C
	}
	cancelled := ctx.Done()
	stop := func() error {
		cancelled, timeUp = nil, nil
		margin.Reset(c.cfg.MoveMargin)
		return c.send("stop")
	}
	var late error
	ready, awaited := false, "readyok"
	for {
		select {
		case line, ok := <-c.proc.lines:
			if !ok {
				return nil, time.Time{}, c.crashed()
			}
			c.note(line.text)
			if !ready {
				if ready = line.text == "readyok"; ready {
					awaited = "bestmove"
				}
				continue
			}
			best, err := t.add(line.text)
			if err != nil {
				return nil, time.Time{}, c.fail(fmt.Errorf("%w: engine %s: %w", ErrProtocol, c.name, err))
			}
			if best != nil {
				return best, line.at, late
			}
		case <-timeUp:
			late = &game.Fault{Reason: overrun, Err: fmt.Errorf("%w: engine %s: no %s after %v", ErrTimeout, c.name, awaited, limit)}
			if err := stop(); err != nil {
				return nil, time.Time{}, err
			}
		case <-cancelled:
			if err := stop(); err != nil {
				return nil, time.Time{}, err
			}
		case <-margin.C:
			if late == nil {
				late = fmt.Errorf("%w: engine %s: no %s", ErrTimeout, c.name, awaited)
			}
			return nil, time.Time{}, c.fail(fmt.Errorf("%w, nor %v after stop", late, c.cfg.MoveMargin))
		}
	}
}
