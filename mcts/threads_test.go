package mcts

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// withThreads returns an engine of several threads, each with an evaluator of its own.
func withThreads(t testing.TB, threads int, change func(*Options)) *Engine {
	t.Helper()
	o := DefaultOptions()
	o.MemoryMB = 16
	if change != nil {
		change(&o)
	}
	more := make([]Evaluator, threads-1)
	for i := range more {
		more[i] = new(scatter)
	}
	e, err := New(new(scatter), o, more...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What holds of every result and every graph holds with several threads, whether
// memory is short, the root is Gumbel's, or the limit falls anywhere.
func TestThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, change := range map[string]func(*Options){
		"default":      nil,
		"batches of 1": func(o *Options) { o.Batch = 1 },
		"short memory": func(o *Options) { o.MemoryMB = 1 },
		"gumbel":       func(o *Options) { o.Gumbel.Actions = 16 },
	} {
		t.Run(name, func(t *testing.T) {
			e := withThreads(t, 3, change)
			for _, b := range benchPositions {
				limit := 1 + rng.Uint64N(3000)
				r := mustSearch(t, e, mustLine(t, b.variant, b.fen, ""), search.Limits{Nodes: limit, MultiPV: 1 + int(limit%2)})
				if r.Nodes > limit {
					t.Errorf("%d playouts, the limit is %d", r.Nodes, limit)
				}
			}
		})
	}
}

func TestThreadsMate(t *testing.T) {
	for _, tc := range mates {
		e, err := New(Uniform{}, DefaultOptions(), Uniform{})
		if err != nil {
			t.Fatal(err)
		}
		r := mustSearch(t, e, mustLine(t, tc.variant, tc.fen, ""), search.Limits{Nodes: 20000, Mate: max(tc.moves, -tc.moves)})
		if got := r.Score.MateIn(); got != tc.moves {
			t.Errorf("%s: %v after %d nodes, want mate %d", tc.fen, r.Score, r.Nodes, tc.moves)
		}
	}
}

// An error of any thread's evaluator ends the search, and the end of the context
// does so without one.
func TestThreadsStop(t *testing.T) {
	l := mustLine(t, chess.Crazyhouse, middleFEN, "")
	broken := errors.New("broken")
	e, err := New(new(scatter), DefaultOptions(), new(scatter), failing{broken})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Search(context.Background(), l, search.Limits{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the evaluator", err)
	}
	e = withThreads(t, 3, nil)
	ctx, cancel := context.WithCancel(context.Background())
	e.OnInfo = func(search.Info) { cancel() }
	r, err := e.Search(ctx, l, search.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, l, r)
	checkGraph(t, e.tree)
}

// failing is an evaluator that always fails.
type failing struct{ err error }

func (f failing) Evaluate(context.Context, []search.Leaf) error { return f.err }
