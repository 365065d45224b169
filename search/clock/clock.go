// Package clock ends searches in time: it shares a game's clock out to moves,
// runs while the engine thinks on its own time, and knows when a search that is
// done may answer. It is the same for every engine.
package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Clock is the time of one search.
type Clock struct {
	Began time.Time
	// Allowance is what the limits of time leave; it counts if Timed.
	Allowance
	Timed bool
	// Shared says that the allowance comes from a game's clock, so that time
	// saved is time gained.
	Shared bool

	stop     atomic.Bool
	infinite bool
	ponder   bool

	mu      sync.Mutex
	running time.Time   // when the allowance began to count; zero while pondering
	ready   bool        // what was searched while pondering will do
	timer   *time.Timer // stops the search at the hard bound
	hit     chan struct{}
}

// New returns the clock of a search of p that begins now. It does not run yet.
func New(lim *search.Limits, p *chess.Position) *Clock {
	c := &Clock{Began: time.Now(), infinite: lim.Infinite, ponder: lim.Ponder, hit: make(chan struct{})}
	c.Shared = lim.Clock(p.SideToMove())
	if !lim.Infinite {
		c.Allowance, c.Timed = Allot(lim, p)
	}
	return c
}

// Stop tells the search to end. It may be called from any goroutine.
func (c *Clock) Stop() { c.stop.Store(true) }

// Stopped reports whether the search has to end at once, since it was told to or
// since its time is up.
func (c *Clock) Stopped() bool { return c.stop.Load() }

// start lets the allowance count from now on.
func (c *Clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running.IsZero() {
		return
	}
	c.running = time.Now()
	close(c.hit)
	if c.Timed {
		c.timer = time.AfterFunc(c.Hard, c.Stop)
	}
	if c.ready {
		c.Stop()
	}
}

// Ready notes whether what a pondering search has found would end one whose time counts:
// then a ponder hit stops it at once.
func (c *Clock) Ready(ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = ready && c.Timed && c.running.IsZero()
}

// release ends the timer.
func (c *Clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
}

// Running returns for how long the allowance has counted, and whether there is
// one that counts: not without a limit of time, nor while pondering.
func (c *Clock) Running() (time.Duration, bool) {
	if !c.Timed {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running.IsZero() {
		return 0, false
	}
	return time.Since(c.running), true
}

// Elapsed returns the time since the search began.
func (c *Clock) Elapsed() time.Duration { return time.Since(c.Began) }

// Hold waits until a search that is done may answer: an infinite one when it is
// stopped, a pondering one when it is hit or stopped, others at once.
func (c *Clock) Hold(ctx context.Context) {
	switch {
	case c.infinite:
		<-ctx.Done()
	case c.ponder:
		select {
		case <-ctx.Done():
		case <-c.hit:
		}
	}
}

// Switch connects ponder hits, which come from any goroutine at any time, with
// the clock of the search in progress. The zero Switch is ready for use.
type Switch struct {
	mu      sync.Mutex
	current *Clock // of the search in progress, nil between searches
	hit     bool   // a ponder hit came before its search
}

// Begin makes c the clock of the search in progress and lets it run, unless the
// search ponders and has not been hit yet. The clock stops the search when ctx
// ends. The function returned ends the search.
func (s *Switch) Begin(ctx context.Context, c *Clock) (end func()) {
	s.mu.Lock()
	s.current = c
	if !c.ponder || s.hit {
		c.start()
	}
	s.hit = false
	s.mu.Unlock()
	if ctx.Err() != nil {
		c.Stop()
	}
	forget := context.AfterFunc(ctx, c.Stop)
	return func() {
		forget()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current = nil
		c.release()
	}
}

// Hit tells the search in progress, or else the next one if it ponders, that
// the move pondered about has been played: its limits of time count from now.
func (s *Switch) Hit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.current.start()
	} else {
		s.hit = true
	}
}
