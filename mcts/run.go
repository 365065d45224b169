package mcts

import (
	"context"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

// run is one search.
type run struct {
	engine *Engine
	tree   *tree
	clock  *clock.Clock
	plan   plan

	halving *halving // nil unless plan.gumbel
	nodes   uint64   // playouts counted or waiting
	out     int      // batches that other threads are having evaluated
	full    bool     // memory is, and nothing more can be forgotten
	idle    bool     // nothing is left that a playout could find out

	took time.Duration // from gathering the last batch to counting it

	reported time.Time // when OnInfo was last called
	doubled  uint64    // playouts at which it is next
}

// search makes playouts until a limit ends them. An end of the context is none
// of its errors.
func (r *run) search(ctx context.Context, line *chess.Line, only []chess.Move) error {
	if b, ok := r.engine.eval.(*Batcher); ok {
		b.enter()
		defer b.leave()
	}
	t := r.tree
	t.setRoot(line)
	evaluated, err := t.prepare(ctx, r.engine.eval, only, &r.plan)
	if err != nil {
		return r.unevaluated(ctx, err, only)
	}
	if evaluated {
		r.nodes++
	}
	if r.plan.gumbel {
		r.halving = newHalving(t, r.plan.nodes-min(r.nodes, r.plan.nodes))
	}
	if len(r.engine.helpers) > 0 {
		err := r.together(ctx)
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	for !r.finished() {
		began := time.Now()
		r.gather()
		if err := t.evaluate(ctx, r.engine.eval); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		r.took = time.Since(began)
		r.report(false)
	}
	return nil
}

// unevaluated makes a search that ended before its root was evaluated one that
// knows nothing.
func (r *run) unevaluated(ctx context.Context, err error, only []chess.Move) error {
	if ctx.Err() == nil {
		return err
	}
	_, err = r.tree.prepare(context.Background(), Uniform{}, only, &r.plan)
	r.plan.full = false
	r.tree.node(r.tree.root).state = blank
	return err
}

// gather makes playouts until enough of them wait for an evaluation.
func (r *run) gather() {
	t := r.tree
	size := min(r.engine.opts.Batch, 1+int(t.node(t.root).visits/8))
	for range 64 * size {
		if len(t.waiting) == size || r.nodes >= r.plan.nodes || r.clock.Stopped() {
			return
		}
		if !t.hasRoom() {
			if len(t.waiting) > 0 || r.out > 0 {
				return
			}
			if t.trim(); !t.hasRoom() {
				t.root = t.shrink(t.root)
			}
			if r.full = !t.hasRoom(); r.full {
				return
			}
		}
		first := r.first()
		if first < 0 {
			return
		}
		switch t.playout(first) {
		case collided:
			return
		default:
			r.nodes++
			if r.halving != nil {
				r.halving.took(first)
			}
		}
		if r.proven() {
			return
		}
	}
}

// first returns the root's move that the next playout begins with, -1 if none
// may begin before those waiting are counted, or ever.
func (r *run) first() int {
	t := r.tree
	if r.halving == nil {
		i := t.chooseRoot(r.plan.lines)
		r.idle = i < 0
		return i
	}
	for range 2 {
		if i := r.halving.next(t); i >= 0 {
			return i
		}
		if len(t.waiting) > 0 || r.out > 0 {
			return -1
		}
		r.halving.advance(t)
	}
	r.idle = true
	return -1
}

// finished reports whether the search has done what it was asked for.
func (r *run) finished() bool {
	if r.nodes >= r.plan.nodes || r.full || r.idle || r.clock.Stopped() {
		return true
	}
	if r.tree.node(r.tree.root).visits > 2*maxVisits { // of many searches together
		return true
	}
	if r.proven() {
		return true
	}
	spent, ok := r.clock.Running()
	if !ok {
		return false
	}
	// Nothing stops an evaluation that has begun: another batch like the last has to
	// fit.
	return spent+r.took > r.clock.Hard || r.clock.Shared && r.decided(spent)
}

// proven reports whether a proof of the root ends the search: a mate as near as it asks
// for, if it does, else any proof, unless it looks for further lines.
func (r *run) proven() bool {
	p, distance := r.tree.solved()
	switch {
	case p == unproven:
		return false
	case p != drawn && r.plan.mate > 0:
		return (distance+1)/2 <= r.plan.mate
	}
	return r.plan.lines == 1
}

// decided reports whether the share of a game's clock is spent, or the rest of it
// would not change the move: there is no other, or no other can catch up.
func (r *run) decided(spent time.Duration) bool {
	if spent >= r.clock.Soft {
		return true
	}
	t := r.tree
	first, second, moves := uint32(0), uint32(0), 0
	best, bestMean := float32(-2), float32(-2) // mean of the most tried, of all
	for i, k := range t.kidsOf(t.node(t.root)) {
		if !t.allowed[i] {
			continue
		}
		moves++
		if k.visits == 0 {
			continue
		}
		mean := -t.node(k.node).mean
		bestMean = max(bestMean, mean)
		if k.visits > first {
			first, second, best = k.visits, first, mean
		} else {
			second = max(second, k.visits)
		}
	}
	if moves == 1 {
		return true
	}
	total := time.Since(r.clock.Began)
	left := float64(r.nodes) * float64(r.clock.Soft-spent) / float64(max(total, 1))
	return r.nodes > 64 && best >= bestMean && float64(first-second) > left
}

// report tells OnInfo how far the search is, if it is time to, or at the end.
func (r *run) report(last bool) {
	on := r.engine.OnInfo
	if on == nil {
		return
	}
	now := time.Now()
	if !last && r.nodes < r.doubled && now.Sub(r.reported) < time.Second {
		return
	}
	for r.doubled <= r.nodes {
		r.doubled = max(1, 2*r.doubled)
	}
	r.reported = now
	ranked := r.ranking()
	for i := range ranked[:min(r.plan.lines, len(ranked))] {
		on(search.Info{
			Depth: r.depth(), SelDepth: r.tree.depth, MultiPV: i + 1,
			Score: r.score(ranked[i]), Nodes: r.nodes, Elapsed: now.Sub(r.clock.Began),
			Hashfull: r.tree.hashfull(), PV: r.tree.line(ranked[i].index),
		})
	}
}
