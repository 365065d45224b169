package match

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// With FailureEnds a player that fails ends the match, its pair is not in the log, and the match
// goes on to what it would have been.
func TestFailureEnds(t *testing.T) {
	broken, searches := false, 0
	fragile := func(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
		if searches++; broken && searches > 100 {
			return search.Result{}, errors.New("a bad day")
		}
		return random(2)(ctx, line, lim)
	}
	cfg := testConfig(always("a", random(1)), always("b", fragile), 6)
	cfg.FailureEnds, cfg.Concurrency = true, 1
	straight, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Log = filepath.Join(t.TempDir(), "match.jsonl")
	broken, searches = true, 0
	stopped, err := Run(t.Context(), cfg)
	failed, ok := errors.AsType[*FailureError](err)
	if !ok || failed.Player != "b" || failed.Failure == "" || failed.Pair != stopped.Pairs() || failed.Pair == 0 || failed.Pair == 6 {
		t.Fatalf("found %d pairs and error %v, expected some and a failure of b in the next", stopped.Pairs(), err)
	}
	broken = false
	resumed, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(resumed.Encounters, straight.Encounters) || resumed.Pairs() != 6 {
		t.Errorf("found %+v, expected %+v", resumed.Encounters, straight.Encounters)
	}
}

// No answer, and an illegal move, are failures too.
func TestFailuresEnd(t *testing.T) {
	for name, player := range map[string]answer{"no answer": sleeping, "illegal": cheating} {
		cfg := testConfig(always("a", random(1)), always("b", player), 2)
		cfg.FailureEnds, cfg.MoveTimeout = true, 20*time.Millisecond
		if name == "illegal" {
			cfg.MoveTimeout = 0
		}
		r, err := Run(t.Context(), cfg)
		if failed, ok := errors.AsType[*FailureError](err); !ok || failed.Player != "b" || r.Pairs() != 0 {
			t.Errorf("%s: %d pairs, error %v, expected a failure of b", name, r.Pairs(), err)
		}
	}
}
