package generate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// worker plays games, one after the other.
type worker struct {
	cfg    *Config
	run    string
	player game.Player // nil: to be made
	nodes  uint64      // searched in this game
	lone   int         // searches for several best moves that found one at most; -1 once one found more
}

// played is a game that a worker has played.
type played struct {
	number uint64
	game   *game.Game
	counts sample.Counts // of its plies; those seen before count as kept
	nodes  uint64
	err    error
}

// contest is a game in progress.
type contest struct {
	*game.Game
	line   *chess.Line
	rng    *rand.Rand
	random []bool // by ply
	first  int    // plies of the opening
	counts sample.Counts

	resigns bool          // EvalLimit counts
	winner  chess.Outcome // whom the last scores saw ahead by EvalLimit
	ahead   int           // how many did so
	level   int           // how many of the last scores were 0
}

// play plays the game of a number.
func (w *worker) play(ctx context.Context, number uint64) (*contest, error) {
	cfg := w.cfg
	rng := rand.New(rand.NewPCG(cfg.Seed, number))
	opening := game.Opening{Start: cfg.Variant.Start()}
	if cfg.Opening != nil {
		var err error
		if opening, err = cfg.Opening(number); err != nil {
			return nil, err
		}
	}
	c := &contest{
		Game: &game.Game{
			ID: gameID(w.run, number), Variant: cfg.Variant, Start: opening.Start,
			Seed: cfg.Seed, Nets: [2]string{cfg.Net, cfg.Net}, Limits: cfg.limitsText(), Build: cfg.Build,
		},
		line: chess.NewLine(opening.Start), rng: rng, random: cfg.Random.schedule(rng),
		first: len(opening.Moves), resigns: cfg.EvalLimit > 0 && rng.Float64() >= playedOut,
	}
	for _, m := range opening.Moves {
		if !c.line.Pos().IsLegal(m) {
			return nil, fmt.Errorf("%w: move %04x is not legal in %s", game.ErrOpening, uint16(m), c.line.Pos().FEN())
		}
		c.push(game.Ply{Move: m}, sample.Untrained)
	}
	if outcome, reason := c.line.Outcome(); outcome != chess.Ongoing {
		return nil, fmt.Errorf("%w: it ends the game by %s", game.ErrOpening, game.ReasonText(reason))
	}
	if err := w.player.NewGame(); err != nil {
		return nil, fmt.Errorf("new game: %w", err)
	}
	w.nodes = 0
	for c.Outcome == chess.Ongoing {
		if err := w.turn(ctx, c); err != nil {
			return nil, fmt.Errorf("game %d, ply %d: %w", number, len(c.Plies), err)
		}
	}
	return c, nil
}

// push makes a move that was recorded for a reason.
func (c *contest) push(p game.Ply, why sample.Reason) {
	p.Train = why == sample.Kept
	c.counts.Count(why)
	c.Plies = append(c.Plies, p)
	c.line.Push(p.Move)
}

// turn makes one ply and sees whether it ends the game. A player that resigns loses it.
func (w *worker) turn(ctx context.Context, c *contest) error {
	ply, mover := len(c.Plies)-c.first, c.line.Pos().SideToMove()
	err := w.move(ctx, c, ply, mover)
	if errors.Is(err, game.ErrResigned) {
		c.Forfeit(mover, game.Resigned)
		c.Adjudged = c.Outcome
		return nil
	}
	if err == nil {
		w.judge(c, ply+1)
	}
	return err
}

// move makes one ply, drawn or searched.
func (w *worker) move(ctx context.Context, c *contest, ply int, mover chess.Color) error {
	lim := w.cfg.Limits
	if lim.Depth = w.cfg.MaxDepth; lim.Depth > w.cfg.MinDepth {
		lim.Depth = w.cfg.MinDepth + c.rng.IntN(lim.Depth-w.cfg.MinDepth+1)
	}
	if ply < len(c.random) && c.random[ply] {
		m, reply, err := w.randomMove(ctx, c.line, c.rng)
		if err != nil {
			return err
		}
		if reply {
			c.random = slices.Insert(c.random, ply+1, true)
		}
		c.push(game.Ply{Move: m}, sample.Untrained)
		c.ahead, c.level = 0, 0
	} else {
		unquiet := w.unquiet(c.line, ply)
		result, err := w.search(ctx, c.line, lim)
		if err != nil {
			return err
		}
		why := w.against(c.line.Pos(), ply, unquiet, &result)
		c.push(game.Ply{Move: result.Move, Score: result.Score, HasScore: true}, why)
		w.weigh(c, mover, result.Score)
	}
	return nil
}

// unquiet asks the player how quiet a position is, if that matters.
func (w *worker) unquiet(line *chess.Line, ply int) bool {
	q, ok := w.player.(search.Quieter)
	if !ok || ply < w.cfg.WriteMinPly || line.Pos().InCheck() {
		return false
	}
	static, settled := q.Quiet(line)
	diff := settled - static
	return diff > w.cfg.EvalDiffLimit || -diff > w.cfg.EvalDiffLimit
}

// weigh takes a score of the mover's into the adjudication.
func (w *worker) weigh(c *contest, mover chess.Color, score search.Score) {
	winner := chess.Ongoing
	if score >= w.cfg.EvalLimit {
		winner = chess.Win(mover)
	} else if score <= -w.cfg.EvalLimit {
		winner = chess.Win(mover.Other())
	}
	if winner != c.winner {
		c.winner, c.ahead = winner, 0
	}
	if winner != chess.Ongoing {
		c.ahead++
	}
	c.level++
	if score != 0 {
		c.level = 0
	}
	switch {
	case score >= decided:
		c.Adjudged = chess.Win(mover)
	case score <= -decided:
		c.Adjudged = chess.Win(mover.Other())
	case c.resigns && c.ahead >= winPlies:
		c.Adjudged = winner
	case w.cfg.DrawByScore && c.level >= drawPlies && len(c.Plies)-c.first > drawFromPly:
		c.Adjudged = chess.Draw
	}
}

// judge ends the game if its last ply does so: by the rules first, by score next,
// by length last.
func (w *worker) judge(c *contest, plies int) {
	c.Outcome, c.Reason = c.line.Outcome()
	switch {
	case c.Outcome != chess.Ongoing:
	case c.Adjudged == chess.Draw:
		c.Outcome, c.Reason = chess.Draw, game.AdjudicatedDraw
	case c.Adjudged != chess.Ongoing:
		c.Outcome, c.Reason = c.Adjudged, game.AdjudicatedWin
	case plies >= w.cfg.WriteMaxPly || len(c.Plies) >= game.MaxGamePlies:
		c.Outcome, c.Reason = chess.Draw, game.PlyLimit
	}
}
