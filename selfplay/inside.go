package selfplay

import (
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// reservoir is an evaluator that keeps one of the positions that it evaluates, each
// with the same probability.
type reservoir struct {
	ab.Evaluator
	random splitmix.Source
	seen   uint64
	kept   chess.Position
}

func (v *reservoir) Evaluate(p *chess.Position) int {
	v.seen++
	if v.random.Uint64()%v.seen == 0 {
		v.kept = *p
	}
	return v.Evaluator.Evaluate(p)
}

// searcher is an engine of a relabeller.
type searcher struct {
	*ab.Engine
	evaluated *reservoir
}

func newSearcher(n *net) searcher {
	v := &reservoir{Evaluator: n.Evaluator()}
	return searcher{ab.New(func() ab.Evaluator { return v }, ab.Options{HashMB: labelHashMB}), v}
}

// inside returns a quiet position from inside the search that labels p: one that it
// evaluated, chosen by seed, with the captures made that follow there. It is false if that
// is p itself or no such position was found.
func (s searcher) inside(p *chess.Position, depth int, seed uint64) (chess.Position, bool) {
	s.evaluated.random, s.evaluated.seen = splitmix.Source(seed), 0
	if _, known := labelOf(s.Engine, p, depth); !known || s.evaluated.seen == 0 {
		return chess.Position{}, false
	}
	leaf, _, ok := ab.Settle(&s.evaluated.kept)
	return leaf, ok && leaf.Key() != p.Key() && leaf.HasLegalMove()
}

// fromInside replaces a share of the samples that have a score by positions from inside the
// searches that label them, which know no move or result: the game did not pass through
// them. Their scores are to be found by label.
func (x *relabeller) fromInside(rng *rand.Rand, samples []sample.Sample) {
	if x == nil || x.share == 0 || !x.lock() {
		return
	}
	defer x.mu.Unlock()
	var chosen []int
	var seeds []uint64
	for i := range samples {
		if samples[i].HasScore() && rng.Float64() < x.share {
			chosen, seeds = append(chosen, i), append(seeds, rng.Uint64())
		}
	}
	_ = x.each(len(chosen), func(s searcher, i int) { // an error leaves the samples as they are
		sampled := &samples[chosen[i]]
		if p, ok := s.inside(&sampled.Pos, x.depth, seeds[i]); ok {
			*sampled = sample.Sample{Pos: p, NoResult: true, Ply: sampled.Ply}
		}
	})
}
