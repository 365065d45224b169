package ab

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

// A worker takes this many nodes from the common budget at a time: few where there are
// others, for it looks what they have found whenever it takes some.
const (
	grantAlone    = 1024
	grantTogether = 128
)

// control is what the workers of one search share: when to stop.
type control struct {
	*clock.Clock
	left  atomic.Uint64 // nodes not granted yet
	grain uint64        // nodes granted at a time, at most
	nodes uint64        // all nodes that may be visited
	depth int           // last iteration
	lines int           // root moves that get a score of their own
	mate  int           // stop at a mate in this many moves, 0 for never
}

// newControl returns the control of a search of p that begins now with the given number of
// threads. Its clock does not run yet.
func newControl(lim *search.Limits, p *chess.Position, threads int) *control {
	c := &control{Clock: clock.New(lim, p), grain: grantAlone, nodes: math.MaxUint64, depth: search.MaxPly - 1, lines: max(1, lim.MultiPV), mate: lim.Mate}
	if threads > 1 {
		c.grain = grantTogether
	}
	if lim.Nodes > 0 {
		c.nodes = lim.Nodes
	}
	if lim.Depth > 0 {
		c.depth = min(lim.Depth, c.depth)
	}
	c.left.Store(c.nodes)
	return c
}

// grant hands out nodes to visit from the common budget, 0 when it is spent, so
// that all threads together never exceed it.
func (c *control) grant() uint64 {
	for {
		left := c.left.Load()
		n := min(left, c.grain)
		if n == 0 || c.left.CompareAndSwap(left, left-n) {
			return n
		}
	}
}

// granted returns the number of nodes handed out.
func (c *control) granted() uint64 { return c.nodes - c.left.Load() }

// enough reports whether the main worker, having finished an iteration, should
// begin no other.
func (c *control) enough(w *worker) bool {
	if score := search.Score(w.moves[0].score); c.mate > 0 && score.IsMate() {
		if n := score.MateIn(); max(n, -n) <= c.mate {
			return true
		}
	}
	if !c.Shared {
		return false
	}
	done := func(spent time.Duration) bool {
		return len(w.moves) == 1 || float64(spent) >= float64(c.Soft)*w.doubt()
	}
	spent, ok := c.Running()
	if !ok {
		c.Ready(done(c.Elapsed()))
		return false
	}
	return done(spent)
}
