package nnue_test

import (
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

// All ways through the trees give the same values.
func TestReplay(t *testing.T) {
	sets := []string{features.HalfKAv2Name, "All + Hand + Threats"}
	if testing.Short() {
		sets = sets[:1] // the second takes half a minute with -tags invariants
	}
	for _, set := range sets {
		a := nnue.Narrow(16)
		a.Features = set
		n, err := nnuetest.Random(a, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := nnue.NewReplay(n)
		if err != nil {
			t.Fatal(err)
		}
		r.Keep()
		if r.Nodes() != 651539 {
			t.Errorf("found %d nodes, expected 651539", r.Nodes())
		}
		want := r.Values()
		for name, got := range map[string]int{
			"again": r.Values(), "live": r.Live(), "refreshed": r.Refresh(false), "refreshed from the cache": r.Refresh(true),
		} {
			if got != want {
				t.Errorf("%s, %s: found a sum of %d, expected %d", set, name, got, want)
			}
		}
		if want == 0 {
			t.Errorf("%s: found a sum of 0, expected a network that says something", set)
		}
	}
}

func TestReplayRefuses(t *testing.T) {
	n, err := nnuetest.Random(nnue.HalfKP(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nnue.NewReplay(n); !errors.Is(err, nnue.ErrArchitecture) {
		t.Errorf("found %v, expected %v", err, nnue.ErrArchitecture)
	}
}
