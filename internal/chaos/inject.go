//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/chaos/fault"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

// offs are how far clocks jump.
var offs = []time.Duration{2 * time.Second, time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour}

var diskModes = map[Kind]fault.Mode{DiskFull: fault.Full, ReadOnly: fault.ReadOnly, SyncFail: fault.NoSync}

// inject has a fault happen and returns what was done, and what ends it when its time is
// over, nil if nothing does.
func (c *cluster) inject(ctx context.Context, f Fault) (did string, end func(), err error) {
	rng := rand.New(rand.NewPCG(f.Seed, 1))
	n := c.nodes[f.Target]
	switch f.Kind {
	case Kill:
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.Ended() {
			return "it had ended", nil, nil
		}
		n.kill()
		c.watch.Look()
		return "killed", nil, nil
	case Stop:
		n.suspend()
		return "suspended", n.resume, nil
	case Power:
		nodes := []*node{n}
		if f.Target == allServers {
			nodes = []*node{c.nodes["n1"], c.nodes["n2"], c.nodes["n3"]}
		}
		undone, err := c.power(nodes...)
		return fmt.Sprintf("%d changes of files were not synced and are gone", undone), nil, err
	case Cut, Delay, Duplicate, Reorder, Corrupt:
		did, end = c.disturb(f)
		return did, end, nil
	case DiskFull, ReadOnly, SyncFail:
		m := diskModes[f.Kind]
		n.begin(m)
		return "begun", func() { n.end(m) }, nil
	case Clock:
		by := offs[rng.IntN(len(offs))]
		if rng.IntN(2) == 0 {
			by = -by
		}
		n.shift(by)
		return fmt.Sprintf("off by %v", by), func() { n.shift(-by) }, nil
	case Rot:
		did, err := c.rot(n, rng)
		return did, nil, err
	case Hostile:
		did, err := c.misbehave(ctx, f.Target, rng)
		if err != nil {
			did = "came to nothing: " + err.Error() // the servers may be away
		}
		return did, nil, nil
	}
	return "", nil, fmt.Errorf("found fault %q, expected one of this build's", f.Kind)
}

// disturb has a fault happen to links: to both directions of a pair of servers, and to all
// that touch a process that is cut from all others.
func (c *cluster) disturb(f Fault) (did string, end func()) {
	from, to, _ := strings.Cut(f.Target, ">")
	var hit []*wire
	for _, w := range c.wires {
		a, b, _ := strings.Cut(w.name, ">")
		if from == "*" && (a == to || b == to) || a == from && b == to || a == to && b == from {
			hit = append(hit, w)
			w.begin(f.Kind)
		}
	}
	return fmt.Sprintf("%d links", len(hit)), func() {
		for _, w := range hit {
			w.end(f.Kind)
		}
	}
}

// Outcome is a fault as it happened.
type Outcome struct {
	Fault
	Began string `json:"began"` // since the schedule's beginning
	Did   string `json:"did"`
}

// play has all faults of a schedule happen, each at its time, and ends those that last when
// theirs is over. It returns when the last has ended.
func (c *cluster) play(ctx context.Context, s *Schedule, log *faultLog) error {
	began := time.Now()
	type ending struct {
		at  time.Duration
		end func()
		f   Fault
	}
	var open []ending
	elapsed := func() time.Duration { return time.Since(began) }
	closeDue := func(all bool) {
		still := open[:0]
		for _, e := range open {
			if !all && e.at > elapsed() {
				still = append(still, e)
				continue
			}
			e.end()
			log.line(elapsed(), "over: %v", e.f)
		}
		open = still
	}
	defer closeDue(true)
	next := 0
	for next < len(s.Faults) || len(open) > 0 {
		if !pause.For(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
		closeDue(false)
		for next < len(s.Faults) && time.Duration(s.Faults[next].At) <= elapsed() {
			f := s.Faults[next]
			next++
			at := elapsed()
			did, end, err := c.inject(ctx, f)
			if err != nil {
				return fmt.Errorf("fault %d, %v: %w", next, f, err)
			}
			log.add(Outcome{Fault: f, Began: at.Round(time.Millisecond).String(), Did: did})
			log.line(at, "%d of %d: %v: %s", next, len(s.Faults), f, did)
			if end != nil {
				open = append(open, ending{at + time.Duration(f.For), end, f})
			}
		}
	}
	return nil
}
