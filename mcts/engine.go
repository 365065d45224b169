package mcts

import (
	"context"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

// Engine plays by tree search. It runs one search at a time: except for
// Ponderhit, its methods must not be called while Search runs.
type Engine struct {
	// OnInfo, if not nil, is called on the goroutine of Search whenever the
	// number of playouts has doubled and once a second, once for each line asked
	// for, best first. Depth is the binary logarithm of that number.
	OnInfo func(search.Info)

	eval    Evaluator
	helpers []helper
	opts    Options
	tree    *tree
	clocks  clock.Switch
}

// New returns an engine whose positions e evaluates. With each of more a search has
// one thread more, whose positions that evaluates; a [Batcher] must then not be
// among them. The error wraps ErrOptions.
func New(e Evaluator, o Options, more ...Evaluator) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	engine := &Engine{eval: e, opts: o}
	for _, e := range more {
		engine.helpers = append(engine.helpers, helper{e, newBatch(o.Batch)})
	}
	engine.tree = newTree(&engine.opts)
	return engine, nil
}

// NewGame forgets the graph. The error is always nil.
func (e *Engine) NewGame() error {
	e.tree.forget()
	return nil
}

// Clear does what NewGame does and gives the graph's memory back.
func (e *Engine) Clear() {
	e.tree.reset()
	e.tree.forget()
}

// Resize bounds the graph by another number of MiB, at least 1, and forgets it.
func (e *Engine) Resize(mb int) {
	e.opts.MemoryMB = max(1, mb)
	e.tree.limit = e.opts.MemoryMB << 20
	e.Clear()
}

// Ponderhit tells a search begun with Limits.Ponder that the expected move has
// been played: its limits of time count from now, and it may answer. If no
// search runs, the next one is told if it ponders. It may be called from any
// goroutine.
func (e *Engine) Ponderhit() { e.clocks.Hit() }

// Search looks for the best move in the last position of line within the
// limits; the positions before count for repetitions. Limits.Nodes are playouts,
// of which those that meet what is known ask the evaluator nothing; Limits.Depth
// is the binary logarithm of their number. A search ends before its limits when
// the root is proven, when another batch would end after its time, and on a game's
// clock when there is one move only or the others cannot catch up.
//
// It stops when ctx ends, which is no error: there is always a move to return
// unless the position has none, when the error wraps [search.ErrNoLegalMoves].
// Other errors are the evaluator's.
func (e *Engine) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	p := line.Pos()
	if !p.HasLegalMove() {
		return search.Result{}, fmt.Errorf("mcts: %w in %s", search.ErrNoLegalMoves, p.FEN())
	}
	c := clock.New(&lim, p)
	end := e.clocks.Begin(ctx, c)
	defer end()
	r := run{engine: e, tree: e.tree, clock: c, plan: newPlan(&e.opts, &lim)}
	if err := r.search(ctx, line, lim.SearchMoves); err != nil {
		e.tree.forget()
		return search.Result{}, fmt.Errorf("mcts: evaluating: %w", err)
	}
	r.report(true)
	c.Hold(ctx)
	return r.result(), nil
}
