package puzzles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// RunOptions say how a player is asked.
type RunOptions struct {
	// Limits are those of the searches: every puzzle is searched anew with each. A
	// player with limits of its own plays by them alone.
	Limits []search.Limits
	// Concurrency is the number of goroutines, each with a player; 0 means 1.
	Concurrency int
	// Progress, if not nil, is called after every search with how many are done of how
	// many, by one goroutine at a time.
	Progress func(done, of int)
}

// Result is what a player made of a set of puzzles.
type Result struct {
	Player   string     `json:"player"`
	Net      string     `json:"net"` // id of its net, or a foreign engine's command
	Settings string     `json:"settings,omitempty"`
	Puzzles  int        `json:"puzzles"`
	Accuracy []Accuracy `json:"accuracy"` // for each of the limits
}

// Accuracy is how many puzzles were solved by searches with one limit.
type Accuracy struct {
	Limits string  `json:"limits"` // in the words of UCI's go command
	All    Count   `json:"all"`
	Grades []Count `json:"grades"` // those that the set has, rising
	Kinds  []Count `json:"kinds"`  // those that the set has: mates by length, wins
	Drops  Count   `json:"drops"`  // puzzles whose best move is a drop, of all kinds
	Solved []bool  `json:"-"`      // by puzzle, in the order of the set
}

// Run asks a player for its move in every puzzle, each as if nothing had been searched
// before. Solved is a puzzle if the answer is its best move; to resign is no answer.
// The result depends on set and limits alone if the player is deterministic. The set
// must not be empty. Errors are the player's or those of ctx.
func Run(ctx context.Context, m *player.Maker, set []Puzzle, o RunOptions) (*Result, error) {
	limits := o.Limits
	if m.Spec.HasLimits() {
		limits = []search.Limits{m.Limits}
	}
	workers := max(1, o.Concurrency)
	players, err := open(m.New, min(workers, len(set)))
	defer closeAll(players)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	done := 0
	solved := make([]bool, len(limits)*len(set))
	parallel.Do(workers, len(set), func(worker, i int) {
		for k, lim := range limits {
			if ctx.Err() != nil {
				return
			}
			r, err := answer(ctx, players[worker], &set[i].Position, lim)
			if err != nil && !errors.Is(err, game.ErrResigned) {
				stop(fmt.Errorf("puzzle %d (%s): %w", i+1, set[i].ID, err))
				return
			}
			solved[k*len(set)+i] = err == nil && r.Move == set[i].Best
			mu.Lock()
			if done++; o.Progress != nil {
				o.Progress(done, len(solved))
			}
			mu.Unlock()
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	result := &Result{Player: m.Name, Net: m.Net, Settings: m.Settings, Puzzles: len(set)}
	for k, lim := range limits {
		result.Accuracy = append(result.Accuracy, count(game.LimitsText(lim), set, solved[k*len(set):][:len(set)]))
	}
	return result, nil
}

// count sums up what was solved of a set.
func count(limits string, set []Puzzle, solved []bool) Accuracy {
	a := Accuracy{Limits: limits, All: Count{Name: "all"}, Drops: Count{Name: "drops"}, Solved: solved}
	for i := range set {
		a.All.add(solved[i])
		if set[i].Best.IsDrop() {
			a.Drops.add(solved[i])
		}
	}
	groups := func(name func(*Puzzle) string, before func(p, q *Puzzle) int) []Count {
		order := make([]int, len(set))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return before(&set[i], &set[j]) })
		var counts []Count
		for _, i := range order {
			if n := name(&set[i]); len(counts) == 0 || counts[len(counts)-1].Name != n {
				counts = append(counts, Count{Name: n})
			}
			counts[len(counts)-1].add(solved[i])
		}
		return counts
	}
	a.Grades = groups((*Puzzle).gradeName, func(p, q *Puzzle) int { return cmp.Compare(p.Grade(), q.Grade()) })
	a.Kinds = groups((*Puzzle).Kind, func(p, q *Puzzle) int {
		return cmp.Or(compareMates(p.Mate, q.Mate), cmp.Compare(p.Kind(), q.Kind()))
	})
	return a
}

func (p *Puzzle) gradeName() string {
	if p.Grade() == 0 {
		return "no grade"
	}
	return fmt.Sprintf("grade %d", p.Grade())
}
