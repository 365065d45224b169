package uci

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Search asks the engine for a move in the line's last position. If ctx ends,
// stop is sent to the engine and its answer is returned with a nil error, as
// for a search that has reached its limit. Limits.Overhead is not passed on
// (set the engine's option), and Limits.Ponder is refused.
//
// Score, depth and principal variation are those of the engine's last line for its best
// move, one with an exact score if there is any.
//
// Result.Elapsed is the time from the moment the search was sent to the engine to
// the moment its answer was read, whatever else this program did meanwhile.
//
// Errors wrap [search.ErrNoLegalMoves], [engine.ErrVariant] (the position is not of
// the game the engine was started for), [engine.ErrCrashed], [engine.ErrTimeout],
// [engine.ErrProtocol] or [engine.ErrIllegalMove]. Those that lose the game by another reason
// than [game.EngineFailure] are a [game.Fault].
func (c *Client) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	res, err := c.search(ctx, line, lim)
	if err != nil {
		return search.Result{}, engine.AsFault(err)
	}
	return res, nil
}

func (c *Client) search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	start, pos := *line.Start(), *line.Pos()
	start.SetChess960(c.engine.Chess960)
	pos.SetChess960(c.engine.Chess960)
	if err := c.accepts(&start, &lim); err != nil {
		return search.Result{}, err
	}
	if !pos.HasLegalMove() {
		return search.Result{}, fmt.Errorf("engine %s: %w in %s", c.engine.Name, search.ErrNoLegalMoves, pos.FEN())
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
	c.engine.Forget() // what it said before is not why it dies now
	began := time.Now()
	if err := c.send(string(command)); err != nil {
		return search.Result{}, err
	}
	t := transcript{pos: &pos, multiPV: max(c.multiPV, 1)} // 1 of an engine without the option
	answered, err := c.awaitMove(ctx, &t, &lim)
	if err != nil {
		return search.Result{}, err
	}
	res, err := t.result()
	switch {
	case errors.Is(err, chess.ErrMoveSyntax) && !isNullMove(t.best[0]):
		return search.Result{}, c.engine.Fail(fmt.Errorf("%w: engine %s: bestmove: %w", engine.ErrProtocol, c.engine.Name, err))
	case err != nil:
		return search.Result{}, &engine.IllegalMoveError{Engine: c.engine.Name, Move: t.best[0], FEN: pos.FEN(), Last: c.engine.Last()}
	}
	res.Elapsed = answered.Sub(began)
	return res, nil
}

// accepts reports why a search of a line that begins at p cannot be asked for.
func (c *Client) accepts(p *chess.Position, lim *search.Limits) error {
	switch {
	case p.Variant() != c.engine.Variant:
		return fmt.Errorf("%w: engine %s: found a position of %s, expected %s",
			engine.ErrVariant, c.engine.Name, p.Variant().Name, c.engine.Variant.Name)
	case p.Chess960() != c.engine.Chess960:
		return fmt.Errorf("%w: engine %s: position %s needs the option UCI_Chess960=true, which is not set",
			engine.ErrVariant, c.engine.Name, p.FEN())
	case lim.Ponder:
		return fmt.Errorf("engine %s: pondering is not supported", c.engine.Name)
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
	initial := c.engine.Variant.Start()
	initial.SetChess960(c.engine.Chess960)
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

// awaitMove reads what a search says from its readyok until its bestmove, and
// returns when that was read.
func (c *Client) awaitMove(ctx context.Context, t *transcript, lim *search.Limits) (time.Time, error) {
	w := engine.MoveWait{Stop: "stop"}
	w.Limit, w.Overrun = c.engine.TimeFor(t.pos.SideToMove(), lim)
	awaited := "readyok"
	w.Awaited = func() string { return awaited }
	w.Take = func(line string) (bool, error) {
		if awaited == "readyok" {
			if line == "readyok" {
				awaited = "bestmove"
			}
			return false, nil
		}
		err := t.add(line)
		return t.best != nil, err
	}
	return c.engine.AwaitMove(ctx, w)
}
