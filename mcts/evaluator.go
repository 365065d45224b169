package mcts

import (
	"context"
	"slices"

	"github.com/crazyhouse-rl/selfplay/search"
)

// Evaluator gives positions values and their moves probabilities.
type Evaluator interface {
	// Evaluate fills Priors and Value of every leaf, at least one, and of the
	// fields behind them what it knows. It may change nothing else, keeps
	// nothing of the leaves, and returns when ctx ends at the latest as soon
	// as it can. After an error what it filled in means nothing.
	Evaluate(ctx context.Context, leaves []search.Leaf) error
}

// Uniform is the evaluator that knows nothing: all moves are equally likely and
// all positions even. What a search plays with it comes from proofs and draws.
// It may be shared by any number of engines.
type Uniform struct{}

// Evaluate implements Evaluator.
func (Uniform) Evaluate(_ context.Context, leaves []search.Leaf) error {
	for i := range leaves {
		l := &leaves[i]
		l.Priors = slices.Grow(l.Priors[:0], len(l.Moves))[:len(l.Moves)]
		for j := range l.Priors {
			l.Priors[j] = 1 / float32(len(l.Moves))
		}
		l.Value, l.Draw, l.PliesLeft = 0, 0, 0
	}
	return nil
}
