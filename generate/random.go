package generate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// schedule draws the plies of a game, the first being 0, whose moves are random.
func (r *Random) schedule(rng *rand.Rand) []bool {
	if r.MinPly < 0 {
		return slices.Repeat([]bool{true}, r.Count)
	}
	random := make([]bool, r.MaxPly)
	first := min(max(r.MinPly-1, 0), r.MaxPly)
	window := random[first:]
	for i := range min(r.Count, len(window)) {
		window[i] = true
	}
	rng.Shuffle(len(window), func(i, j int) { window[i], window[j] = window[j], window[i] })
	return random
}

// randomMove draws the move of the last position of line. Reply says that the
// next move is to be random too.
func (w *worker) randomMove(ctx context.Context, line *chess.Line, rng *rand.Rand) (m chess.Move, reply bool, err error) {
	r := &w.cfg.Random
	switch {
	case r.MultiPV > 0:
		m, err = w.amongBest(ctx, line, rng)
		return m, false, err
	case r.KingMoves > 0 && rng.IntN(r.KingMoves) == 0:
		if m = kingMove(line.Pos(), rng); m != chess.NoMove {
			return m, rng.IntN(2) == 0, nil
		}
	}
	return game.RandomMove(line.Pos(), rng), false, nil
}

// kingMove draws a legal move of the king, NoMove if it has none.
func kingMove(p *chess.Position, rng *rand.Rand) chess.Move {
	var list chess.MoveList
	p.Legal(&list)
	king := p.King(p.SideToMove())
	moves := slices.DeleteFunc(list.Slice(), func(m chess.Move) bool { return m.IsDrop() || m.From() != king })
	if len(moves) == 0 {
		return chess.NoMove
	}
	return moves[rng.IntN(len(moves))]
}

// amongBest draws one of the best moves of a search.
func (w *worker) amongBest(ctx context.Context, line *chess.Line, rng *rand.Rand) (chess.Move, error) {
	r := &w.cfg.Random
	lim := w.cfg.Limits
	lim.Nodes *= uint64(r.MultiPV)
	lim.MultiPV = r.MultiPV
	lim.Depth = r.MultiPVDepth
	result, err := w.search(ctx, line, lim)
	if err != nil {
		return chess.NoMove, err
	}
	if err := w.checkLines(line.Pos(), len(result.Lines)); err != nil {
		return chess.NoMove, err
	}
	n := 0
	for n < len(result.Lines) && n < r.MultiPV && result.Lines[0].Score-result.Lines[n].Score <= r.MultiPVDiff {
		n++
	}
	if n <= 1 {
		return result.Move, nil
	}
	pv := result.Lines[rng.IntN(n)].PV
	if len(pv) == 0 || !line.Pos().IsLegal(pv[0]) {
		return chess.NoMove, fmt.Errorf("%w: line %v in %s", game.ErrIllegal, pv, line.Pos().FEN())
	}
	return pv[0], nil
}

// checkLines takes note of how many lines a search for several best moves found. A
// player that never finds more than one would leave its games without random moves.
func (w *worker) checkLines(p *chess.Position, found int) error {
	switch {
	case w.lone < 0 || w.cfg.Random.MultiPV < 2 || p.CountLegal() < 2:
		return nil
	case found > 1:
		w.lone = -1
		return nil
	}
	if w.lone++; w.lone < mostLone {
		return nil
	}
	return fmt.Errorf("%w: player %s: found no more than one line in any of %d searches for the %d best moves, expected several to draw random moves from: "+
		"choose a player that reports them, as UCI engines with the option MultiPV do, or draw from all moves (random-multi-pv 0)",
		ErrConfig, w.cfg.Net, w.lone, w.cfg.Random.MultiPV)
}

// search has the player search within the limits. Its move is legal.
func (w *worker) search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	result, err := w.player.Search(ctx, line, lim)
	if ctx.Err() != nil { // even if there is an answer: it was cut short
		return result, context.Cause(ctx)
	}
	if err != nil {
		return result, err
	}
	if !line.Pos().IsLegal(result.Move) {
		return result, fmt.Errorf("%w: answered %04x in %s", game.ErrIllegal, uint16(result.Move), line.Pos().FEN())
	}
	w.nodes += result.Nodes
	result.Score = max(-search.MateScore, min(search.MateScore, result.Score))
	return result, nil
}
