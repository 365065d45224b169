package selfplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Manifests that cannot be read end neither pruning nor the nets they belong to, and
// are reported once.
func TestPruneGoesOn(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Bus.KeepNets = 1
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	defer r.Close()
	ids := make([]string, 9)
	for g := 1; g < len(ids); g++ {
		ids[g] = offerNet(t, r, g)
	}
	if err := os.WriteFile(filepath.Join(r.store.Dir(), ids[5]+".json"), []byte(`{"schema":`), 0o644); err != nil {
		t.Fatal(err)
	}
	// A net that only the bus has is removed too.
	if err := errors.Join(os.Remove(r.store.Path(ids[6])), os.Remove(filepath.Join(r.store.Dir(), ids[6]+".json"))); err != nil {
		t.Fatal(err)
	}
	l := &learner{run: r}
	for range 3 {
		l.prune(t.Context())
	}
	for g := 1; g < len(ids); g++ {
		want := g <= firstNets || g == 5 || g == 8
		if r.store.Has(ids[g]) != want {
			t.Errorf("generation %d: in the store %v, expected %v", g, !want, want)
		}
		if _, err := r.bus.NetManifest(t.Context(), ids[g]); (err == nil) != want {
			t.Errorf("generation %d: on the bus %v, expected %v", g, err == nil, want)
		}
	}
	reported := 0
	for _, e := range events(t, dir) {
		if e["msg"] == "old nets not removed" && strings.Contains(fmt.Sprint(e["error"]), ids[5]) {
			reported++
		}
	}
	if reported != 1 {
		t.Errorf("the unreadable manifest was reported %d times, expected once", reported)
	}
}

// A trainer that takes over with an older directory leaves the nets that the run plays
// with on the bus, though its own store never had them.
func TestPruneKeepsWhatIsPlayedWith(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled, cfg.Bus.KeepNets = false, 2
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	j := newReferee(r)
	ids := make([]string, 9)
	for g := 1; g < len(ids)-1; g++ {
		ids[g] = offerNet(t, r, g)
		if _, err := j.judgeNewest(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ids[8] = offerNet(t, r, 8)
	for g := 4; g < 8; g++ {
		if err := errors.Join(os.Remove(r.store.Path(ids[g])), os.Remove(filepath.Join(r.store.Dir(), ids[g]+".json"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.pruneNets(t.Context()); err != nil {
		t.Fatal(err)
	}
	for g := 1; g < len(ids); g++ {
		want := g != 4 && g != 5 // 7 is played with, 6 is what may be gone back to
		if _, err := r.bus.NetManifest(t.Context(), ids[g]); (err == nil) != want {
			t.Errorf("generation %d: on the bus %v, expected %v", g, err == nil, want)
		}
	}
}
