package clock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

const patience = 10 * time.Second

var start = func() *chess.Position { p := chess.Crazyhouse.Start(); return &p }()

// stops reports whether c stops within d on the clock of a synctest bubble.
func stops(c *Clock, d time.Duration) bool {
	time.Sleep(d)
	synctest.Wait()
	return c.Stopped()
}

func TestSwitchRunsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Switch
		c := New(&search.Limits{MoveTime: 5 * time.Millisecond}, start)
		end := s.Begin(context.Background(), c)
		if !stops(c, patience) {
			t.Error("the time does not run")
		}
		end()
		if _, ok := New(&search.Limits{}, start).Running(); ok {
			t.Error("a clock without a limit runs")
		}
	})
}

func TestSwitchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Switch
		ctx, cancel := context.WithCancel(context.Background())
		c := New(&search.Limits{Infinite: true, MoveTime: time.Millisecond}, start)
		defer s.Begin(ctx, c)()
		if stops(c, 20*time.Millisecond) {
			t.Error("an infinite search is stopped by the clock")
		}
		cancel()
		if !stops(c, patience) {
			t.Error("the end of the context stops nothing")
		}
		c.Hold(ctx) // returns
	})
}

// A hit stops a search that is ready when it comes, and no other.
func TestPonderHitEndsWhatIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := search.Limits{Ponder: true, Time: [2]time.Duration{time.Hour, time.Hour}}
		endless := search.Limits{Ponder: true, Infinite: true}
		for _, test := range []struct {
			name   string
			lim    *search.Limits
			before []bool // arguments of calls of Ready before the hit
			after  []bool
			stops  bool
		}{
			{"ready", &shared, []bool{false, true}, nil, true},
			{"no longer ready", &shared, []bool{true, false}, nil, false},
			{"never told", &shared, nil, nil, false},
			{"ready after the hit", &shared, nil, []bool{true}, false},
			{"without a limit of time", &endless, []bool{true}, nil, false},
		} {
			var s Switch
			c := New(test.lim, start)
			end := s.Begin(context.Background(), c)
			for _, ready := range test.before {
				c.Ready(ready)
			}
			if c.Stopped() {
				t.Errorf("%s: stopped before the hit", test.name)
			}
			s.Hit()
			for _, ready := range test.after {
				c.Ready(ready)
			}
			if stops(c, time.Millisecond) != test.stops {
				t.Errorf("%s: stopped %t", test.name, !test.stops)
			}
			end()
		}
	})
}

func TestPonderHits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := search.Limits{Ponder: true, MoveTime: time.Millisecond}
		for _, early := range []bool{false, true} {
			var s Switch
			if early {
				s.Hit()
			}
			c := New(&lim, start)
			end := s.Begin(context.Background(), c)
			if !early {
				if stops(c, 20*time.Millisecond) {
					t.Error("the clock runs while pondering")
				}
				s.Hit()
				s.Hit()
			}
			if !stops(c, patience) {
				t.Errorf("hit before the search %t: the time does not run", early)
			}
			c.Hold(context.Background())
			end()
			next := New(&lim, start)
			end = s.Begin(context.Background(), next)
			if stops(next, 10*time.Millisecond) {
				t.Error("a hit reaches the search after the next")
			}
			end()
		}
	})
}
