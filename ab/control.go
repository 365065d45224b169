package ab

import (
	"math"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/clock"
)

// grantSize is how many nodes a worker takes from the common budget at a time.
const grantSize = 1024

// control is what the workers of one search share: when to stop.
type control struct {
	*clock.Clock
	left  atomic.Uint64 // nodes not granted yet
	nodes uint64        // all nodes that may be visited
	depth int           // last iteration
	lines int           // root moves that get a score of their own
	mate  int           // stop at a mate in so many moves, 0 for never
}

// newControl returns the control of a search of p that begins now. Its clock
// does not run yet.
func newControl(lim *search.Limits, us chess.Color) *control {
	c := &control{Clock: clock.New(lim, us), nodes: math.MaxUint64, depth: search.MaxPly - 1, lines: max(1, lim.MultiPV), mate: lim.Mate}
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
		n := min(left, grantSize)
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
	spent, ok := c.Running()
	return ok && (c.Shared && len(w.moves) == 1 || spent >= c.Soft)
}
