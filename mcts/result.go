package mcts

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ranked is a root move as the result sees it; values are those of the root's
// side to move.
type ranked struct {
	index    int
	move     chess.Move
	visits   uint32
	mean     float32 // the root's if never tried
	spread   float64 // variance of what mean is the mean of
	proof    proof   // of the root, if this move is played
	distance int     // plies from the root to the end
}

// rank returns the class of a move: wins before others before losses.
func (m *ranked) rank() int {
	switch m.proof {
	case won:
		return 0
	case lost:
		return 2
	}
	return 1
}

// ranking returns the root's moves that may be played, the move to play first,
// then wins, the shortest first, those not known to lose, the most tried first,
// and losses, the longest first.
func (r *run) ranking() []ranked {
	t := r.tree
	root := t.node(t.root)
	choices := t.choicesOf(root)
	var all []ranked
	for i, k := range t.kidsOf(root) {
		if !t.allowed[i] {
			continue
		}
		m := ranked{index: i, move: choices[i].move, visits: k.visits, mean: root.mean}
		if k.node != noNode {
			child := t.node(k.node)
			if k.visits > 0 || child.proof != unproven {
				m.mean = -child.mean
				m.spread = max(0, float64(child.square-child.mean*child.mean))
			}
			switch m.distance = int(child.distance) + 1; child.proof {
			case won:
				m.proof = lost
			case lost:
				m.proof = won
			default:
				m.proof, m.distance = child.proof, 0
			}
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		switch {
		case a.rank() != b.rank():
			return a.rank() - b.rank()
		case a.proof == won:
			return a.distance - b.distance
		case a.proof == lost:
			return b.distance - a.distance
		}
		return cmp.Or(cmp.Compare(b.visits, a.visits), cmp.Compare(b.mean, a.mean))
	})
	if best := r.play(all); best > 0 {
		m := all[best]
		copy(all[1:], all[:best])
		all[0] = m
	}
	return all
}

// play returns the index of the move to play in moves, which are in order.
func (r *run) play(moves []ranked) int {
	if moves[0].rank() != 1 {
		return 0
	}
	open := moves
	if i := slices.IndexFunc(moves, func(m ranked) bool { return m.rank() == 2 }); i >= 0 {
		open = moves[:i]
	}
	if r.halving != nil {
		return r.halving.best(r.tree, open)
	}
	o := &r.engine.opts
	best := 0
	if o.LCB > 0 {
		best = mostCertain(open, o.LCB)
	}
	if o.QVeto > 0 {
		for i, m := range open {
			if m.visits > 1 && float64(m.mean) > float64(open[best].mean)+o.QVeto {
				best = i
			}
		}
	}
	return best
}

// leastShare is how often a move must have been tried, as a share of the visits
// of the most tried, to be played for its mean.
const leastShare = 0.15

// mostCertain returns the move with the greatest lower bound of its mean, so many
// standard errors below it, among those tried often enough. One imagined value
// with a variance of a quarter keeps few values alike from looking certain.
func mostCertain(moves []ranked, errors float64) int {
	best, bound := 0, math.Inf(-1)
	for i, m := range moves {
		n := float64(m.visits)
		if n == 0 || n < leastShare*float64(moves[0].visits) {
			continue
		}
		variance := (n*m.spread + 0.25) / (n + 1)
		if b := float64(m.mean) - errors*math.Sqrt(variance/n); b > bound {
			best, bound = i, b
		}
	}
	return best
}

// best returns which of moves, none of which is known to lose, the plan ends
// with.
func (h *halving) best(t *tree, moves []ranked) int {
	sigma := h.sigma(t)
	best, bestRank := 0, math.Inf(-1)
	for i, m := range moves {
		if !slices.Contains(h.moves, m.index) {
			continue
		}
		if s := sigma.rank(t, m.index); s > bestRank {
			best, bestRank = i, s
		}
	}
	return best
}

// depth is the binary logarithm of the playouts made.
func (r *run) depth() int { return max(0, bits.Len64(r.nodes)-1) }

// score returns the score of a root move.
func (r *run) score(m ranked) search.Score {
	plies := min(m.distance, search.MaxPly)
	switch m.proof {
	case won:
		return search.MateAfter(plies)
	case lost:
		return search.MatedAfter(plies)
	}
	return Score(float64(m.mean))
}

// result returns what the search found.
func (r *run) result() search.Result {
	moves := r.ranking()
	res := search.Result{Nodes: r.nodes, Depth: r.depth(), SelDepth: r.tree.depth, Visits: []search.MoveVisits{}}
	for _, m := range moves {
		if m.visits > 0 {
			res.Visits = append(res.Visits, search.MoveVisits{Move: m.move, Visits: m.visits})
		}
	}
	if r.plan.full {
		res.Policy = r.policy(moves)
		res.Surprise = r.surprise(res.Policy)
	}
	best := moves[0]
	if i := r.sample(moves); i > 0 {
		best = moves[i]
	}
	res.Move, res.Score, res.PV = best.move, r.score(best), r.tree.line(best.index)
	if len(res.PV) > 1 {
		res.Ponder = res.PV[1]
	}
	if r.plan.lines > 1 {
		for _, m := range moves[:min(r.plan.lines, len(moves))] {
			if m.visits == 0 && m.proof == unproven && len(res.Lines) > 0 {
				break
			}
			res.Lines = append(res.Lines, search.RootLine{Score: r.score(m), PV: r.tree.line(m.index)})
		}
	}
	res.Elapsed = r.clock.Elapsed()
	return res
}

// sample returns which of the moves, in order, is played by their visits and the
// temperature.
func (r *run) sample(moves []ranked) int {
	o := &r.engine.opts
	temp := o.Temperature.at(r.tree.start.Ply())
	if r.halving != nil || temp < 0.01 || moves[0].rank() != 1 {
		return 0
	}
	sum := 0.0
	weights := make([]float64, len(moves))
	most := float64(moves[0].visits)
	for i, m := range moves {
		if m.rank() == 1 && m.visits > 0 {
			most = max(most, float64(m.visits))
			weights[i] = math.Pow(float64(m.visits)/most, 1/temp)
			sum += weights[i]
		}
	}
	at := o.Rand.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return 0
}

// policy returns what the search has made of the moves' probabilities.
func (r *run) policy(moves []ranked) []search.MoveProb {
	if moves[0].rank() != 1 || r.nodes == 0 {
		return []search.MoveProb{{Move: moves[0].move, Prob: 1}}
	}
	weights := make([]float64, len(moves))
	sum := 0.0
	if r.halving != nil {
		improved := r.halving.policy(r.tree)
		for i, m := range moves {
			weights[i] = improved[m.index]
			sum += weights[i]
		}
	} else {
		for i, m := range moves {
			if m.rank() == 1 {
				weights[i] = float64(m.visits)
				sum += weights[i]
			}
		}
	}
	var p []search.MoveProb
	for i, m := range moves {
		if w := float32(weights[i] / sum); w > 0 {
			p = append(p, search.MoveProb{Move: m.move, Prob: w})
		}
	}
	return p
}

// surprise returns KL(policy‖priors) in nats.
func (r *run) surprise(policy []search.MoveProb) float64 {
	choices := r.tree.choicesOf(r.tree.node(r.tree.root))
	kl := 0.0
	for _, p := range policy {
		i := slices.IndexFunc(choices, func(c choice) bool { return c.move == p.Move })
		kl += float64(p.Prob) * math.Log(float64(p.Prob)/float64(choices[i].prior.float()))
	}
	return max(0, kl)
}
