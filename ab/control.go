package ab

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// grantSize is how many nodes a worker takes from the common budget at a time.
const grantSize = 1024

// control is what the workers of one search share: when to stop.
type control struct {
	stop  atomic.Bool
	left  atomic.Uint64 // nodes not granted yet
	nodes uint64        // all nodes that may be visited
	depth int           // last iteration
	lines int           // root moves that get a score of their own
	mate  int           // stop at a mate in so many moves, 0 for never
	began time.Time

	allowance allowance
	timed     bool // the allowance counts
	clocked   bool // it comes from a clock, so that time saved is time gained

	mu      sync.Mutex
	running time.Time   // when the allowance began to count; zero while pondering
	timer   *time.Timer // ends the search at the hard bound
	hit     chan struct{}
}

// newControl returns the control of a search of p that begins now. Its clock
// does not run yet.
func newControl(lim *search.Limits, us chess.Color) *control {
	c := &control{nodes: math.MaxUint64, depth: search.MaxPly - 1, lines: max(1, lim.MultiPV), mate: lim.Mate, began: time.Now()}
	if lim.Nodes > 0 {
		c.nodes = lim.Nodes
	}
	if lim.Depth > 0 {
		c.depth = min(lim.Depth, c.depth)
	}
	c.left.Store(c.nodes)
	c.clocked = lim.Clock(us)
	if !lim.Infinite {
		c.allowance, c.timed = allot(lim, us)
	}
	c.hit = make(chan struct{})
	return c
}

// startClock lets the allowance of time count from now on.
func (c *control) startClock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running.IsZero() {
		return
	}
	c.running = time.Now()
	close(c.hit)
	if c.timed {
		c.timer = time.AfterFunc(c.allowance.hard, func() { c.stop.Store(true) })
	}
}

// stopClock releases the timer.
func (c *control) stopClock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
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
	if !c.timed {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.IsZero() {
		return false
	}
	return c.clocked && len(w.moves) == 1 || time.Since(c.running) >= c.allowance.soft
}
