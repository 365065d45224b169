package selfplay

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// A trainer, which plays no games, stops when the run plays with a net of the generation.
func TestTrainerUntilGeneration(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	current := nets.Record{Schema: nets.RecordSchema, Net: nets.Hash([]byte("first")), Generation: 1, Action: nets.Publish, By: "referee@host"}
	if _, err := r.bus.SetPointer(t.Context(), r.currentKey(), current.String(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.Trainer(ctx, Limits{Generation: 1}); err != nil || ctx.Err() != nil {
		t.Errorf("found error %v, %v, expected that it stops by itself", err, ctx.Err())
	}
	if s := r.Status(); s.Generation != 1 || s.Net != current.Net {
		t.Errorf("the status has generation %d, net %s, expected %d and %s", s.Generation, s.Net, current.Generation, current.Net)
	}
}

// Who opens a run again has what is left of its limits, and no limit becomes none.
func TestLimitsAfter(t *testing.T) {
	for _, c := range []struct {
		limits  Limits
		status  Status
		reached bool
		after   Limits
	}{
		{Limits{}, Status{SessionGames: 9, Elapsed: time.Hour, ActorGeneration: 3}, false, Limits{}},
		{Limits{Games: 4, For: time.Hour}, Status{SessionGames: 3, Elapsed: time.Minute}, false, Limits{Games: 1, For: 59 * time.Minute}},
		{Limits{Games: 4}, Status{SessionGames: 4}, true, Limits{Games: 1}},
		{Limits{For: time.Hour}, Status{SessionGames: 4, Elapsed: 2 * time.Hour}, true, Limits{For: 1}},
		{Limits{CPU: 1}, Status{}, true, Limits{CPU: 1}},
		{Limits{Generation: 3}, Status{ActorGeneration: 3}, true, Limits{Generation: 3}},
		{Limits{Generation: 3}, Status{Generation: 3, ActorGeneration: 2}, false, Limits{Generation: 3}},
	} {
		if reached, after := c.limits.reached(&c.status, ofActors(&c.status)), c.limits.After(c.status); reached != c.reached || after != c.after {
			t.Errorf("%+v: reached %t, then %+v, expected %t and %+v", c.limits, reached, after, c.reached, c.after)
		}
	}
}
