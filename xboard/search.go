package xboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Search asks the engine for a move in the line's last position. If ctx ends, the
// engine is told to move, and its answer is returned with a nil error, as for a search
// that has reached its limit. Limits.Overhead and MultiPV are not passed on.
//
// Score, depth and principal variation are those of the engine's last line of thinking
// with an exact score. Result.Elapsed is the time from the moment the search was sent
// to the engine to the moment its move was read.
//
// Errors wrap [search.ErrNoLegalMoves], [ErrLimits], [ErrPosition],
// [engine.ErrVariant], [engine.ErrCrashed], [engine.ErrTimeout], [engine.ErrProtocol],
// [engine.ErrIllegalMove] or, if the engine resigns, [game.ErrResigned]. Those that lose
// the game by another reason than [game.EngineFailure] are a [game.Fault].
func (c *Client) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	res, err := c.search(ctx, line, &lim)
	if err != nil {
		c.begun = false // where the engine is in the game is not known
		return search.Result{}, engine.AsFault(err)
	}
	return res, nil
}

// Accepts reports why searches with these limits, for either side, cannot be asked for.
// The error wraps [ErrLimits].
func (c *Client) Accepts(lim *search.Limits) error {
	for side := range chess.Color(2) {
		if _, err := c.newControl(lim, side); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) newControl(lim *search.Limits, side chess.Color) (control, error) {
	want, err := newControl(lim, side)
	if err == nil && want.nodes > 0 && !c.features.nps {
		err = fmt.Errorf("%w: found a number of nodes, expected a depth, a time or a clock, as the engine has no feature nps=1", ErrLimits)
	}
	if err != nil {
		return control{}, fmt.Errorf("engine %s: %w", c.engine.Name, err)
	}
	return want, nil
}

func (c *Client) search(ctx context.Context, line *chess.Line, lim *search.Limits) (search.Result, error) {
	pos := *line.Pos()
	side := pos.SideToMove()
	want, err := c.newControl(lim, side)
	switch {
	case err != nil:
		return search.Result{}, err
	case pos.Variant() != c.engine.Variant || pos.Chess960():
		return search.Result{}, fmt.Errorf("%w: engine %s: found a position of %s (Chess960 %v), expected %s",
			engine.ErrVariant, c.engine.Name, pos.Variant(), pos.Chess960(), c.engine.Variant)
	case !pos.HasLegalMove():
		return search.Result{}, fmt.Errorf("engine %s: %w in %s", c.engine.Name, search.ErrNoLegalMoves, pos.FEN())
	case ctx.Err() != nil:
		return search.Result{}, ctx.Err()
	}
	if c.control.limited(want) {
		if err := c.Restart(ctx); err != nil {
			return search.Result{}, err
		}
	}
	if !c.follows(line) {
		if err := c.setUp(ctx, line.Start()); err != nil {
			return search.Result{}, err
		}
	}
	command, pong := c.ask(line, lim, want)
	c.engine.Forget() // what it said before is not why it dies now
	c.used = true
	began := time.Now()
	if err := c.engine.Send(command); err != nil {
		return search.Result{}, err
	}
	t := transcript{client: c, pong: pong}
	answered, err := c.awaitMove(ctx, &t, side, lim)
	if err != nil {
		return search.Result{}, err
	}
	res, err := t.result(&pos)
	if err != nil {
		return search.Result{}, err
	}
	res.Elapsed = answered.Sub(began)
	c.moves = append(c.moves, res.Move)
	return res, nil
}

// follows reports whether the engine knows the line as far as moves are missing at
// its end only.
func (c *Client) follows(line *chess.Line) bool {
	n := len(c.moves)
	return c.begun && *line.Start() == c.start && line.Len() >= n && slices.Equal(line.Moves()[:n], c.moves)
}

// ask returns the commands that send the moves which the engine lacks and have it
// search, and the pong that separates what it says to either; "" if it knows no ping.
func (c *Client) ask(line *chess.Line, lim *search.Limits, want control) (commands, pong string) {
	c.sent, c.refusal = nil, ""
	command := []byte("force\n")
	at := c.start
	for i, m := range line.Moves() {
		if i >= len(c.moves) {
			text := at.UCI(m)
			if c.features.san {
				text = at.SAN(m)
			}
			command = append(c.appendMoveText(command, text), '\n')
			c.sent = append(c.sent, text)
		}
		at.Make(m)
	}
	c.moves = append(c.moves, line.Moves()[len(c.moves):]...)
	if c.features.ping {
		pong = c.ping()
		command = fmt.Appendf(command, "ping%s\n", pong[len("pong"):])
	}
	side := at.SideToMove()
	patience := 10 * c.engine.SearchTimeout // by then the engine has been told to move
	if !c.told || c.control != want {
		command = want.append(command, lim.Time[side], patience)
		c.control, c.told = want, true
	}
	if c.features.time {
		own, other := patience, patience
		if want.clock {
			own, other = lim.Time[side], lim.Time[side] // Sjeng hurries if it has more time than the other
			if lim.Clock(side.Other()) {
				other = lim.Time[side.Other()]
			}
		} else if want.moveTime > 0 {
			own, other = want.moveTime, want.moveTime
		}
		command = fmt.Appendf(command, "time %d\notim %d\n", centiseconds(own), centiseconds(other))
	}
	return string(append(command, "go"...)), pong
}

// appendMoveText appends the command that makes a move.
func (c *Client) appendMoveText(dst []byte, move string) []byte {
	if c.features.usermove {
		dst = append(dst, "usermove "...)
	}
	return append(dst, move...)
}

// awaitMove reads what a search says until its answer, and returns when that was read.
func (c *Client) awaitMove(ctx context.Context, t *transcript, side chess.Color, lim *search.Limits) (time.Time, error) {
	w := engine.MoveWait{Stop: "?", Take: t.add, Awaited: t.awaited}
	w.Limit, w.Overrun = c.engine.TimeFor(side, lim)
	return c.engine.AwaitMove(ctx, w)
}

// transcript collects what an engine says during one search.
type transcript struct {
	client *Client
	pong   string // before which nothing belongs to the search; "" after it

	best   thinking // the last line, an exact one if there is one
	scored bool
	nodes  uint64 // greatest count seen
	move   string // the answer
	claim  string // in place of a move: a result that the engine claims, or resign
}

func (t *transcript) awaited() string {
	if t.pong != "" {
		return "pong"
	}
	return "move"
}

// errBareMove reports a move command without a move.
var errBareMove = errors.New("move without a move")

// add takes one line of the engine and reports whether it is the answer. Lines it does
// not know are noise.
func (t *transcript) add(line string) (bool, error) {
	c := t.client
	if t.pong != "" {
		pong, err := c.isPong(line, t.pong)
		if pong {
			t.pong = ""
		}
		return false, errors.Join(err, t.refused())
	}
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return false, nil
	}
	switch fields[0] {
	case "move":
		if len(fields) < 2 {
			return false, errBareMove
		}
		t.move = fields[1]
		return true, nil
	case "resign", "1-0", "0-1", "1/2-1/2":
		t.claim = line
		return true, nil
	case "Illegal", "Error", "tellusererror":
		c.noteRefusal(line)
		return false, t.refused()
	}
	if l, ok := parseThinking(line); ok {
		t.nodes = max(t.nodes, l.nodes)
		if l.bound == search.Exact || !t.scored || t.best.bound != search.Exact {
			t.best, t.scored = l, true
		}
	}
	return false, nil
}

// refused is the error of an engine that refuses what the rules allow.
func (t *transcript) refused() error {
	if t.client.refusal == "" {
		return nil
	}
	return fmt.Errorf("it refuses what is legal: %.200q", t.client.refusal)
}

// result makes a result of the transcript of a search of p.
func (t *transcript) result(p *chess.Position) (search.Result, error) {
	name := t.client.engine.Name
	if t.claim != "" {
		lost := chess.Win(p.SideToMove().Other()).String()
		if word := firstWord(t.claim); word == "resign" || word == lost {
			return search.Result{}, fmt.Errorf("%w: engine %s: %.200q", game.ErrResigned, name, t.claim)
		}
		return search.Result{}, fmt.Errorf("%w: engine %s claims %.200q in %s, where the game goes on", engine.ErrProtocol, name, t.claim, p.FEN())
	}
	m, err := ParseMove(p, t.move)
	switch {
	case errors.Is(err, chess.ErrMoveSyntax):
		return search.Result{}, t.client.engine.Fail(fmt.Errorf("%w: engine %s: move: %w", engine.ErrProtocol, name, err))
	case err != nil:
		return search.Result{}, &engine.IllegalMoveError{Engine: name, Move: t.move, FEN: p.FEN(), Last: t.client.engine.Last()}
	}
	res := search.Result{Move: m, PV: []chess.Move{m}, Nodes: t.nodes,
		Score: t.best.score, Depth: t.best.depth, SelDepth: t.best.selDepth}
	if pv := parsePV(*p, t.best.pv); len(pv) > 0 && pv[0] == m {
		res.PV = pv
	}
	return res, nil
}
