package selfplay

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/allocator"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestSharedCoresChangeNoGame: a game is the same whether its searches wait for cores or
// do not.
func TestSharedCoresChangeNoGame(t *testing.T) {
	t.Parallel()
	cfg := researchConfig(t)
	n := randomNNUE(t, cfg, 1)
	m, sharing := newMaker(t, cfg), newMaker(t, cfg)
	sharing.cores = newCores(1)
	if !bytes.Equal(m.record(t, m.open(t, n), n, verifyID(1)), sharing.record(t, sharing.open(t, n), n, verifyID(1))) {
		t.Error("the game is another")
	}
	if used := sharing.cores.used(); used[playing] == 0 {
		t.Errorf("used %v, expected play", used)
	}
}

// TestLoopAllocates: a loop with the allocator learns, shows the division, and has
// what was found in its checkpoint.
func TestLoopAllocates(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Allocator.Enabled, cfg.Allocator.Minutes, cfg.Train.Relabel = true, 0.01, "quiescence"
	cfg.Gate.Elo0, cfg.Gate.Elo1 = -1000, -900
	s := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	names, sum, used := "", 0.0, 0.0
	for _, p := range s.Division {
		names += p.Name + " "
		sum += p.Share
		used += p.Used
	}
	if names != "play label train gate " || sum < 0.999 || sum > 1.001 || used > 1.001 {
		t.Errorf("division %+v", s.Division)
	}
	if panel := strings.Join(s.Panel(120), "\n"); !strings.Contains(panel, "\ncores  shares in % (used): play ") {
		t.Errorf("panel %s", panel)
	}
	r, buffer := openWithBuffer(t, dir, cfg)
	l, err := newLearner(r, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found := l.state.Allocator; found == nil || len(found.Shares) != 4 {
		t.Errorf("checkpoint with what the allocator found: %+v", found)
	}
}

// TestAllocationWaitsForAFreshNet: while a fresh net has samples in advance to draw, the
// parts share the cores evenly, as far as play has its least, and rounds that begin then do
// not count. The samples a position that training draws follow its share, but not then.
func TestAllocationWaitsForAFreshNet(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Allocator.Enabled = true
	l := filledLearner(t, cfg)
	l.fit(t) // or nothing is measured
	if len(l.source.HeldOut(make([]sample.Sample, 1))) == 0 {
		t.Fatal("no game is held out, by which the loss is measured")
	}
	now := time.Now()
	l.allocation.now = func() time.Time { return now }
	ratio, tried := &l.state.Ratio, 0
	for round, ahead := range []bool{true, true, false, false, true, false, false} {
		if ratio.Tokens = 0; ahead {
			ratio.Tokens = ratio.Cap + 1
		}
		now = now.Add(l.allocation.length)
		if err := l.allocate(); err != nil {
			t.Fatal(err)
		}
		s := l.state.Allocator
		if want := []uint64{0, 0, 0, 1, 2, 0, 1}[round]; s.Round != want {
			t.Errorf("round %d: %d counted, expected %d", round, s.Round, want)
		}
		users := &l.allocation.run.cores.users
		if even := users[playing].share == cfg.Allocator.LeastPlay && users[training].share == users[gating].share; even != ahead {
			t.Errorf("round %d: play has %g, training %g", round, users[playing].share, users[training].share)
		} else if !even && users[training].share != s.Shares[1] {
			tried++
		}
		drawn := ratio.PerRow / cfg.Train.SamplesPerRow
		if want := users[training].share / s.Shares[1]; ahead && drawn != 1 || !ahead && math.Abs(drawn-want) > 1e-9 {
			t.Errorf("round %d: training draws %g of the samples without the allocator, with %g of its share", round, drawn, want)
		}
	}
	if tried != 4 {
		t.Errorf("%d rounds tried another division, expected 4", tried)
	}
}

// TestShowsWhatEarns: the panel and the log have what is known of a part, and nothing of
// the others.
func TestShowsWhatEarns(t *testing.T) {
	s := Status{Division: []Share{
		{Name: "play", Share: 0.8, Used: 0.9}, {Name: "train", Share: 0.15, Used: 0.1, Earning: allocator.Earning{Median: 0.125, Error: 0.5, Known: true}}, {Name: "gate", Share: 0.05},
	}}
	if got, want := s.coresText(), "shares in % (used) and what more earns: play 80 (90), train 15 (10) +0.12 ± 0.98, gate 5 (0)"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	want := "share_train 0.15 used_train 0.1 earns_train 0.125 earns_train_error 0.98 share_gate 0.05 used_gate 0 "
	if got := fmt.Sprintln(s.Attrs()...); !strings.Contains(got, want) {
		t.Errorf("found %q, expected %q in it", got, want)
	}
}

// TestAllocationStarts: whatever parts a loop has, the first shares are ones that the
// rules take, and training draws with them what it does without the allocator.
func TestAllocationStarts(t *testing.T) {
	for i := range 1 << 2 {
		for _, least := range []float64{0.05, 0.4, 0.9} {
			cfg := smallConfig(t)
			cfg.Allocator.LeastPlay, cfg.Gate.Enabled, cfg.Train.Relabel = least, i&1 != 0, configs.RelabelOff
			if i&2 != 0 {
				cfg.Train.Relabel = configs.RelabelQuiescence
			}
			a := newAllocation(&Run{cfg: cfg, cores: newCores(2)})
			if s, err := a.rules.Start(a.first); err != nil || len(s.Shares) != len(a.who) {
				t.Errorf("parts %v, least play %g: %v", a.who, least, err)
			}
			if found := a.perRow(a.first); found != cfg.Train.SamplesPerRow {
				t.Errorf("parts %v, least play %g: %g samples a position, expected %g", a.who, least, found, cfg.Train.SamplesPerRow)
			}
		}
	}
}
