package ab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

// Defaults of Options.
const (
	DefaultHashMB  = 16
	DefaultThreads = 1
)

// Options are the resources of an engine.
type Options struct {
	// HashMB is the size of the transposition table in MiB; values below 1 mean
	// DefaultHashMB. Games of short searches use only a part of it.
	HashMB int
	// Threads is the number of search threads, which share the table; values
	// below 1 mean DefaultThreads.
	Threads int
	// Params change parameters of the search, by their keys in Params. They must
	// be such as Params.Set takes.
	Params map[string]string
}

// Engine plays by alpha-beta search. It runs one search at a time: except for
// Ponderhit, its methods must not be called while Search runs.
type Engine struct {
	// OnInfo, if not nil, is called on the goroutine of Search after each
	// iteration, once for each line asked for, best first.
	OnInfo func(search.Info)

	table   *table
	team    *team // nil with one thread
	workers []*worker
	clocks  clock.Switch
	params  map[string]string
	tunings map[*chess.Variant]*tuning // made when first asked for
}

// New returns an engine. newEval is called once for each thread, since a line's
// evaluator cannot be shared.
func New(newEval func() Evaluator, o Options) *Engine {
	if o.HashMB < 1 {
		o.HashMB = DefaultHashMB
	}
	if o.Threads < 1 {
		o.Threads = DefaultThreads
	}
	e := &Engine{table: newTable(o.HashMB), params: maps.Clone(o.Params), tunings: map[*chess.Variant]*tuning{}}
	for range o.Threads {
		e.workers = append(e.workers, newWorker(e.table, newEval()))
	}
	if o.Threads > 1 {
		e.team = newTeam()
		for _, w := range e.workers {
			w.team = e.team
		}
	}
	return e
}

// tuning returns what searches of a variant go by.
func (e *Engine) tuning(v *chess.Variant) *tuning {
	t := e.tunings[v]
	if t == nil {
		t = newTuning(v, e.params)
		e.tunings[v] = t
	}
	return t
}

// NewGame forgets everything learned in earlier games, in little time whatever
// the size of the table. The error is always nil.
func (e *Engine) NewGame() error {
	e.table.newGame()
	for _, w := range e.workers {
		w.forget()
	}
	return nil
}

// Clear does what NewGame does and empties the table physically.
func (e *Engine) Clear() {
	_ = e.NewGame()
	e.table.clear()
}

// Resize replaces the table by an empty one of the given size in MiB, at least
// 1.
func (e *Engine) Resize(mb int) {
	e.table = newTable(max(1, mb))
	for _, w := range e.workers {
		w.table = e.table
	}
}

// Ponderhit tells a search begun with Limits.Ponder that the expected move has
// been played: its limits of time count from now, and it may answer. If no
// search runs, the next one is told if it ponders. It may be called from any
// goroutine.
func (e *Engine) Ponderhit() { e.clocks.Hit() }

// Search looks for the best move in the last position of line within the
// limits; the positions before count for repetitions. It stops at once when ctx
// ends, which is no error: there is always a move to return unless the position
// has none, when the error wraps [search.ErrNoLegalMoves]. If nothing was
// searched, the score is that of the static evaluation.
func (e *Engine) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	p := line.Pos()
	if !p.HasLegalMove() {
		return search.Result{}, fmt.Errorf("ab: %w in %s", search.ErrNoLegalMoves, p.FEN())
	}
	c := newControl(&lim, p, len(e.workers))
	end := e.clocks.Begin(ctx, c.Clock)
	defer end()

	e.table.newSearch(lim.Nodes)
	for _, w := range e.workers {
		w.begin(line, c, e.tuning(p.Variant()))
	}
	main := e.workers[0]
	main.setRoot(lim.SearchMoves)
	if e.team == nil {
		main.deepen(e)
		c.Hold(ctx)
		return e.result(c), nil
	}
	var helpers sync.WaitGroup
	e.team.open()
	for _, w := range e.workers[1:] {
		helpers.Go(w.help)
	}
	main.deepen(e)
	e.team.close()
	helpers.Wait()
	c.Hold(ctx)
	return e.result(c), nil
}

// report tells OnInfo about the iteration that the main worker w has finished.
func (e *Engine) report(w *worker, lines int) {
	if e.OnInfo == nil {
		return
	}
	c := w.shared
	for i := range w.moves[:lines] {
		r := &w.moves[i]
		e.OnInfo(search.Info{
			Depth:    w.rootDepth,
			SelDepth: r.depth,
			MultiPV:  i + 1,
			Score:    search.Score(r.score),
			Bound:    r.bound,
			Nodes:    c.granted() - w.quota,
			Elapsed:  c.Elapsed(),
			Hashfull: e.table.hashfull(),
			PV:       slices.Clone(r.line()),
		})
	}
}

// result returns what the main worker found.
func (e *Engine) result(c *control) search.Result {
	w := e.workers[0]
	best := &w.moves[0]
	if best.score == -infinite {
		best.score = w.evaluate(0)
	}
	r := search.Result{
		Move:  best.move,
		Score: search.Score(best.score),
		Bound: best.bound,
		PV:    slices.Clone(best.line()),
		Depth: w.completed, SelDepth: best.depth,
		Elapsed: c.Elapsed(),
	}
	for _, w := range e.workers {
		r.Nodes += w.visited
	}
	if len(r.PV) > 1 {
		r.Ponder = r.PV[1]
	} else {
		r.Ponder = e.expected(&w.stack[0].pos, r.Move)
	}
	if c.lines > 1 {
		for i := range w.moves[:min(c.lines, len(w.moves))] {
			m := &w.moves[i]
			if m.score == -infinite {
				break
			}
			r.Lines = append(r.Lines, search.RootLine{Score: search.Score(m.score), Bound: m.bound, PV: slices.Clone(m.line())})
		}
	}
	return r
}

// expected returns the reply to m that the table holds, chess.NoMove if none.
func (e *Engine) expected(p *chess.Position, m chess.Move) chess.Move {
	child := *p
	child.Make(m)
	if known, ok := e.table.probe(tableKey(&child)); ok && known.move != chess.NoMove && child.IsLegal(known.move) {
		return known.move
	}
	return chess.NoMove
}

// Quiesce returns the value of the last position of line once captures and what else
// its quiescence looks at are resolved, from the side to move there. It depends on the
// line alone, whatever the engine quiesced before, and forgets what is in the table. A
// position without legal moves has no value that means anything, unless it is mate.
func (e *Engine) Quiesce(line *chess.Line) search.Score {
	p := line.Pos()
	e.table.newGame()
	e.table.newSearch(1)
	w := e.workers[0]
	w.begin(line, newControl(&search.Limits{}, p, 1), e.tuning(p.Variant()))
	return search.Score(w.quiesce(0, 0, -infinite, infinite))
}
