package mcts

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestGumbelShares: sequential halving shares the playouts out as it should.
func TestGumbelShares(t *testing.T) {
	for _, tc := range []struct {
		actions int
		nodes   uint64 // the root's evaluation included
		want    []uint32
	}{
		{16, 33, []uint32{4, 4, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1}},
		{4, 33, []uint32{12, 12, 4, 4}},
		{2, 21, []uint32{10, 10}},
		{8, 5, []uint32{1, 1, 1, 1}},
		{1, 9, []uint32{8}},
	} {
		e := mustNew(t, &scatter{}, func(o *Options) {
			*o = selfPlayOptions(rand.New(rand.NewPCG(1, 2)))
			o.Gumbel.Actions, o.MateProbe = tc.actions, 0
		})
		r := mustSearch(t, e, chess.NewLine(chess.Crazyhouse.Start()), search.Limits{Nodes: tc.nodes})
		var got []uint32
		for _, m := range r.Visits {
			got = append(got, m.Visits)
		}
		slices.Sort(got)
		slices.Reverse(got)
		if !slices.Equal(got, tc.want) || r.Nodes != tc.nodes {
			t.Errorf("%d actions, %d nodes: visits %v, expected %v", tc.actions, r.Nodes, got, tc.want)
		}
	}
}

// TestGumbelImproves: the improved policy expects no less than the priors do, by
// the means the search has found.
func TestGumbelImproves(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	better := 0
	for range 40 {
		e := mustNew(t, &scatter{}, func(o *Options) { *o = selfPlayOptions(rng) })
		r := mustSearch(t, e, wander(chess.Crazyhouse, 10+rng.IntN(40), rng), search.Limits{Nodes: 32})
		n := e.tree.node(e.tree.root)
		if p, _ := e.tree.solved(); p != unproven {
			continue
		}
		before, after, mass := 0.0, 0.0, 0.0
		for i, k := range e.tree.kidsOf(n) {
			c := e.tree.choicesOf(n)[i]
			if k.visits == 0 || e.tree.refuted(k) {
				continue
			}
			q := -float64(e.tree.node(k.node).mean)
			before += float64(c.prior.float()) * q
			mass += float64(c.prior.float())
			after += probOf(r.Policy, c.move) * q
		}
		share := 0.0
		for i, k := range e.tree.kidsOf(n) {
			if k.visits > 0 && !e.tree.refuted(k) {
				share += probOf(r.Policy, e.tree.choicesOf(n)[i].move)
			}
		}
		if after/share < before/mass-1e-3 {
			t.Errorf("the policy expects %v, the priors %v", after/share, before/mass)
		}
		if after/share > before/mass+0.1 {
			better++
		}
		if r.Surprise <= 0 {
			t.Errorf("surprise %v", r.Surprise)
		}
	}
	if better < 20 {
		t.Errorf("better in %d of 40 searches", better)
	}
}

func probOf(policy []search.MoveProb, m chess.Move) float64 {
	i := slices.IndexFunc(policy, func(p search.MoveProb) bool { return p.Move == m })
	if i < 0 {
		return 0
	}
	return float64(policy[i].Prob)
}

func TestGumbelFindsMate(t *testing.T) {
	for _, tc := range mates[:2] {
		e := mustNew(t, &scatter{}, func(o *Options) { *o = selfPlayOptions(rand.New(rand.NewPCG(1, 2))) })
		r := mustSearch(t, e, mustLine(t, tc.variant, tc.fen, ""), search.Limits{Nodes: 32})
		if r.Score.MateIn() != tc.moves || len(r.Policy) != 1 || r.Policy[0] != (search.MoveProb{Move: r.Move, Prob: 1}) {
			t.Errorf("%s: score %v, policy %v", tc.fen, r.Score, r.Policy)
		}
	}
}

func TestPlayoutCap(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) {
		o.Rand = rand.New(rand.NewPCG(1, 2))
		o.PlayoutCap = PlayoutCap{Full: 0.25, Fast: 8}
		o.Noise = 0.25
	})
	l := chess.NewLine(chess.Crazyhouse.Start())
	full := 0
	for range 200 {
		r := mustSearch(t, e, l, search.Limits{Nodes: 20})
		switch {
		case r.Nodes <= 20 && r.Policy != nil:
			full++
		case r.Nodes != 8 || r.Policy != nil:
			t.Errorf("%d nodes, policy %v", r.Nodes, r.Policy)
		}
	}
	if full < 35 || full > 65 {
		t.Errorf("%d of 200 searches were full", full)
	}
}

// TestCheapSearchOfProven: what a cheap search of a position already solved returns is
// still told from what other engines return.
func TestCheapSearchOfProven(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) {
		o.Rand = rand.New(rand.NewPCG(1, 2))
		o.PlayoutCap = PlayoutCap{Full: 0.25, Fast: 8}
		o.Noise = 0.25
	})
	l := mustLine(t, chess.Crazyhouse, "1kb3r1/r2bqr2/n1p3p1/7p/3P1K2/4PPPP/PbP1P3/1Q2NBNR[PPPnpp] w - - 0 32", "")
	untried := 0
	for range 40 {
		r := mustSearch(t, e, l, search.Limits{Nodes: 200})
		if len(r.Visits) == 0 && r.Policy == nil {
			untried++
		}
		if search.NewPolicy(&r) == nil {
			t.Errorf("%d nodes, score %v: found no policy, expected one, perhaps empty", r.Nodes, r.Score)
		}
	}
	if untried == 0 {
		t.Error("no cheap search had nothing to try")
	}
}

// TestNoiseStaysAtTheRoot: the graph keeps the evaluator's priors, and visits from
// before have no part in what is learned.
func TestNoiseStaysAtTheRoot(t *testing.T) {
	e := mustNew(t, &scatter{}, func(o *Options) {
		o.Rand = rand.New(rand.NewPCG(1, 2))
		o.Noise = 0.25
	})
	l := chess.NewLine(chess.Crazyhouse.Start())
	var before []choice
	for range 4 {
		r := mustSearch(t, e, l, search.Limits{Nodes: 64})
		n := e.tree.node(e.tree.root)
		if before == nil {
			before = slices.Clone(e.tree.choicesOf(n))
		}
		if !slices.Equal(before, e.tree.choicesOf(n)) {
			t.Error("the priors of the graph have changed")
		}
		total := uint32(0)
		for _, v := range r.Visits {
			total += v.Visits
		}
		if total > 64 {
			t.Errorf("%d visits of 64 playouts", total)
		}
		sum, differs := float32(0), false
		for i, p := range e.tree.priors {
			sum += p
			differs = differs || p != before[i].prior.float()
		}
		if math.Abs(float64(sum-1)) > 1e-2 || !differs {
			t.Errorf("noised priors sum to %v", sum)
		}
	}
}

// TestGamma compares mean and variance, both alpha, with samples.
func TestGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, alpha := range []float64{0.1, 0.5, 1, 3} {
		const n = 200000
		sum, squares := 0.0, 0.0
		for range n {
			x := gamma(alpha, rng)
			sum += x
			squares += x * x
		}
		mean := sum / n
		variance := squares/n - mean*mean
		if math.Abs(mean-alpha) > 0.02*alpha+0.005 || math.Abs(variance-alpha) > 0.05*alpha+0.01 {
			t.Errorf("alpha %v: mean %v, variance %v", alpha, mean, variance)
		}
	}
}
