package dash

import (
	"context"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/lab"
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
