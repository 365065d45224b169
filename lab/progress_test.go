package lab

import (
	"math"
	"strings"
	"testing"
	"time"
)

// With two jobs and a machine that takes three times what the price says, what is left is known as
// soon as some of the work is done, and nothing is left at the end.
func TestLeft(t *testing.T) {
	clock := time.Unix(1e9, 0)
	price := &Price{
		Nets: 4, NetsThere: 1, Puzzles: 4, pairs: 100, Training: 100 * time.Second, Solving: 10 * time.Second,
		stages: map[Stage]time.Duration{AtNodes: 40 * time.Second},
	}
	var last Progress
	reports := 0
	o := &Options{Jobs: 2, OnProgress: func(p Progress) { last, reports = p, reports+1 }}
	tr := newTracker(o, price, 2, func() time.Time { return clock })
	expect := func(when string, want float64) {
		t.Helper()
		if got := tr.left(clock); math.Abs(got-want) > 0.05*want+1e-9 {
			t.Errorf("%s: %.1f s left, expected %.1f", when, got, want)
		}
	}
	work := func(n int, each float64, count func(*Progress)) { // three times as slow
		for range n {
			clock = clock.Add(time.Duration(each * 3 / 2 * float64(time.Second)))
			tr.add(each, count)
		}
	}
	expect("at the beginning", (100+40+10)/2)
	tr.begin(workNets, 100)
	work(50, 1, nil)
	expect("in the middle of training", 3*(50+40+10)/2)
	tr.skip(20)
	expect("when a net turns out to be begun", 3*(30+40+10)/2)
	work(30, 1, func(p *Progress) { p.Nets = 4 })
	tr.begin(workSpeeds, 0)
	expect("before the games", 3*(40+10)/2)
	tr.begin(AtNodes.work(), 80) // twice what was foretold
	work(40, 1, func(p *Progress) { p.Pairs++ })
	expect("in the middle of games", 3*(40+10)/2)
	work(40, 1, nil)
	tr.begin(workPuzzles, 10)
	work(10, 1, nil)
	expect("at the end", 0)
	tr.end()
	if last.Left != 0 || last.Nets != 4 || last.NetsOf != 4 || last.Pairs != 40 || last.PairsOf != 100 || reports < 10 {
		t.Errorf("%d reports, the last %+v", reports, last)
	}
	if text := last.String(); !strings.Contains(text, "4 of 4 nets trained, 40 of 100 pairs played") || !strings.Contains(text, "0s left") {
		t.Errorf("found %q", text)
	}
}

// Nets are trained by all cores, whatever the jobs; of games and puzzles each job has a core.
func TestLeftOfFewJobs(t *testing.T) {
	clock := time.Unix(1e9, 0)
	price := &Price{Nets: 1, Training: 80 * time.Second, Solving: 10 * time.Second, stages: map[Stage]time.Duration{AtNodes: 30 * time.Second}}
	tr := newTracker(&Options{Jobs: 1, OnProgress: func(Progress) {}}, price, 4, func() time.Time { return clock })
	for _, c := range []struct {
		work        string
		total, want float64 // want: before the work begins
	}{{workNets, 80, 20 + 30 + 10}, {AtNodes.work(), 30, 30 + 10}, {workPuzzles, 10, 10}} {
		if got := tr.left(clock); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("before %s: %.1f s left, expected %.1f", c.work, got, c.want)
		}
		tr.begin(c.work, c.total)
		clock = clock.Add(time.Duration(c.total / tr.sharing(c.work) * float64(time.Second)))
		tr.add(c.total, nil)
	}
	if got := tr.left(clock); got != 0 {
		t.Errorf("at the end: %.1f s left", got)
	}
}
