package mcts

import (
	"math"
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/search"
)

// plan is what one search is to do.
type plan struct {
	nodes  uint64 // playouts
	mate   int    // ends at a mate in so many moves, 0: at any
	lines  int
	full   bool    // its result is worth learning from
	noise  float64 // share of noise in the priors
	gumbel bool
	fresh  bool // the root's moves begin without visits
}

// maxVisits bounds the playouts of a search, far from what counters hold.
const maxVisits = 1 << 30

// newPlan draws what is random about a search within the limits.
func newPlan(o *Options, lim *search.Limits) plan {
	p := plan{nodes: maxVisits, mate: lim.Mate, lines: max(1, lim.MultiPV), full: true}
	if lim.Nodes > 0 {
		p.nodes = min(p.nodes, lim.Nodes)
	}
	if lim.Depth > 0 && lim.Depth < bits.Len(maxVisits) {
		p.nodes = min(p.nodes, 1<<lim.Depth)
	}
	if o.PlayoutCap.Fast > 0 && o.Rand.Float64() >= o.PlayoutCap.Full {
		p.full = false
		p.nodes = min(p.nodes, o.PlayoutCap.Fast)
	}
	p.gumbel = o.Gumbel.Actions > 0 && p.nodes < maxVisits && p.lines == 1
	if p.full && !p.gumbel {
		p.noise = o.Noise
	}
	p.fresh = p.gumbel || p.noise > 0
	return p
}

// at returns the temperature at a ply of the game.
func (t Temperature) at(ply int) float64 {
	if t.HalfLife == 0 {
		return t.First
	}
	return t.Last + (t.First-t.Last)*math.Exp2(-float64(ply)/t.HalfLife)
}
