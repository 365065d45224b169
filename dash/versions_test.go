package dash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/lab"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Versions of what says how long ago something was change with time alone. Not where answers
// of servers change them, and not of what is over.
func TestVersionsChangeWithTime(t *testing.T) {
	asks := func(context.Context) (selfplay.Overview, error) { return selfplay.Overview{}, nil }
	for _, tc := range []struct {
		name               string
		cfg                Config
		actors, comparison bool
	}{
		{"a run", Config{Dir: trial(t)}, true, false},
		{"a run whose servers are asked", Config{Dir: trial(t), Ask: asks}, false, false},
		{"a comparison under way", Config{Dir: comparisonDir(t, lab.PlanFile, lab.ProgressFile)}, false, true},
		{"a comparison that is over", Config{Dir: comparisonDir(t, lab.PlanFile, lab.ProgressFile, lab.ResultsFile)}, false, false},
	} {
		w, err := NewWatch(tc.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var before, after Versions
		w.look(func(time.Time) {
			at := time.Unix(1e9, 0)
			before, after = w.state(at).Versions, w.state(at.Add(5*time.Second)).Versions
		})
		w.close()
		if (after.Actors != before.Actors) != tc.actors || (after.Comparison != before.Comparison) != tc.comparison {
			t.Errorf("%s: found %+v, five seconds later %+v", tc.name, before, after)
		}
		after.Actors, after.Comparison = before.Actors, before.Comparison
		if after != before {
			t.Errorf("%s: found %+v, five seconds later %+v, expected all else to stay", tc.name, before, after)
		}
	}
}

// The version of Learning, which shows the window, follows the stored games: at once the
// first, then at most once a minute.
func TestLearningFollowsGames(t *testing.T) {
	dir := trial(t)
	replays := filepath.Join(dir, "replay")
	if err := os.RemoveAll(replays); err != nil {
		t.Fatal(err)
	}
	w, err := NewWatch(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for i, tc := range []struct {
		after           time.Duration
		stores, changes bool
	}{
		{0, false, true}, // the first look
		{time.Second, true, true},
		{2 * time.Second, true, false},
		{60 * time.Second, false, false},
		{61 * time.Second, false, true}, // the game a minute ago
		{62 * time.Second, true, false},
		{300 * time.Second, false, true},
		{600 * time.Second, false, false},
	} {
		if tc.stores {
			replaytest.Store(t, replays, record(t, fmt.Sprintf("abc-%d", i), firstNet, uint64(i)))
		}
		now := time.Unix(1e9, 0).Add(tc.after)
		w.readDirectory(now)
		v := w.state(now).Versions.Learning
		if (v != before) != tc.changes {
			t.Errorf("after %v: found version %d after %d, expected that it changes: %v", tc.after, v, before, tc.changes)
		}
		before = v
	}
}

// Versions are counted anew by every watch, which the state says.
func TestWatchesAreTold(t *testing.T) {
	for _, dir := range []string{trial(t), comparisonDir(t, lab.PlanFile)} {
		s := newTestServer(t, Config{Dir: dir})
		one, again := read[State](t, s, "/api/state").Watch, read[State](t, s, "/api/state").Watch
		if other := read[State](t, newTestServer(t, Config{Dir: dir}), "/api/state").Watch; one == "" || again != one || other == one {
			t.Errorf("found watches %q and %q, of another server %q", one, again, other)
		}
	}
}
