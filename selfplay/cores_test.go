package selfplay

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestCoresDivide: consumers that always want to compute do so by their shares, with
// pieces of any length and number of threads, and all cores are used.
func TestCoresDivide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCores(2)
		c.divide([consumers]float64{playing: 0.6, training: 0.3, gating: 0.1})
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Second)
		defer stop()
		began := time.Now()
		var all sync.WaitGroup
		use := func(who consumer, threads int, piece time.Duration) {
			for {
				leave, err := c.enter(ctx, who, threads)
				if err != nil {
					return
				}
				time.Sleep(piece)
				leave()
			}
		}
		for range 2 {
			all.Go(func() { use(playing, 1, time.Millisecond) })
			all.Go(func() { use(gating, 1, 3*time.Millisecond) })
		}
		all.Go(func() { use(training, 5, 70*time.Millisecond) })
		all.Wait()
		sum := 0.0
		for who, want := range map[consumer]float64{playing: 0.6, training: 0.3, gating: 0.1} {
			used := c.used()[who] / time.Since(began).Seconds() / 2
			if sum += used; math.Abs(used-want) > 0.02 {
				t.Errorf("%v has %.3f, expected %.2f", who, used, want)
			}
		}
		if sum < 0.95 {
			t.Errorf("%.3f of the cores used, expected all", sum)
		}
	})
}

// TestCoresAreKept: who has used less and comes back at once is next, though another was
// waiting; if it does not come, that one is.
func TestCoresAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCores(1)
		c.divide([consumers]float64{playing: 0.5, gating: 0.5})
		enter := func(who consumer) (leave func()) {
			t.Helper()
			leave, err := c.enter(t.Context(), who, 1)
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		use := func(who consumer, piece time.Duration) {
			t.Helper()
			leave := enter(who)
			time.Sleep(piece)
			leave()
		}
		use(gating, 10*time.Millisecond)
		leave := enter(playing)
		var gated time.Time
		var gate sync.WaitGroup
		gate.Go(func() {
			leave := enter(gating)
			gated = time.Now()
			leave()
		})
		synctest.Wait()
		time.Sleep(time.Millisecond)
		leave()
		use(playing, time.Millisecond)
		ended := time.Now()
		gate.Wait()
		if waited := gated.Sub(ended); waited < 0 || waited > soon {
			t.Errorf("the gate is let in %v after the second piece of play, expected 0 to %v", waited, soon)
		}
	})
}

// TestCoresIdle: what a consumer does not want the others have, and one that comes back
// first has what it did not use of its share, but only of the newest time.
func TestCoresIdle(t *testing.T) {
	for _, test := range []struct{ idle, has float64 }{ // seconds; of the 200 after them, with half
		{50, 125},   // 50 alone, then half of 150
		{1000, 130}, // 60 alone, half of two minutes
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCores(1)
			c.divide([consumers]float64{playing: 0.5, training: 0.5})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var all sync.WaitGroup
			use := func(who consumer) {
				for {
					leave, err := c.enter(ctx, who, 1)
					if err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
					leave()
				}
			}
			all.Go(func() { use(playing) })
			time.Sleep(time.Duration(test.idle * float64(time.Second)))
			if used := c.used()[playing]; used < 0.99*test.idle {
				t.Errorf("play alone has %.1f s of %g", used, test.idle)
			}
			before := c.used()
			all.Go(func() { use(training) })
			time.Sleep(200 * time.Second)
			for who, want := range map[consumer]float64{playing: 200 - test.has, training: test.has} {
				if used := c.used()[who] - before[who]; math.Abs(used-want) > 2 {
					t.Errorf("after %g s %v has %.1f s of 200, expected %g", test.idle, who, used, want)
				}
			}
			stop()
			all.Wait()
		})
	}
}

// TestCoresInterrupted: who stops waiting leaves no claim, and nil lets all compute.
func TestCoresInterrupted(t *testing.T) {
	c := newCores(1)
	leave, err := c.enter(t.Context(), playing, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.enter(ctx, training, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	leave()
	if leave, err = c.enter(t.Context(), gating, 4); err != nil {
		t.Fatal(err)
	}
	leave()
	if c.free != 1 {
		t.Errorf("%d threads free, expected 1", c.free)
	}
	var none *cores
	if leave, err = none.enter(ctx, playing, 1); err != nil {
		t.Errorf("without cores: error %v", err)
	}
	leave()
}
