package search_test

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/search"
)

// TestWDL: the chances sum to 1000, mirror the other side's, and rise with the score.
func TestWDL(t *testing.T) {
	last := -1.0
	for s := -search.MateScore; s <= search.MateScore; s += 7 {
		w, other := s.WDL(search.LogOdds), (-s).WDL(search.LogOdds)
		if w.Win+w.Draw+w.Loss != 1000 || w.Win < 0 || w.Draw < 0 || w.Loss < 0 {
			t.Fatalf("score %d: %+v", s, w)
		}
		if w != (search.WDL{Win: other.Loss, Draw: other.Draw, Loss: other.Win}) {
			t.Fatalf("score %d: %+v, of the other side %+v", s, w, other)
		}
		if w.Expected() < last {
			t.Fatalf("score %d: expected result %v after %v", s, w.Expected(), last)
		}
		last = w.Expected()
	}
	for _, tc := range []struct {
		score search.Score
		want  search.WDL
	}{
		{search.MateAfter(5), search.WDL{Win: 1000}},
		{search.MatedAfter(0), search.WDL{Loss: 1000}},
		{30000, search.WDL{Win: 1000}},
	} {
		if got := tc.score.WDL(search.LogOdds); got != tc.want {
			t.Errorf("%v: %+v, expected %+v", tc.score, got, tc.want)
		}
	}
	if p := search.Score(200).WDL(200).Expected(); math.Abs(p-1/(1+math.Exp(-1))) > 0.001 {
		t.Errorf("expected result %v of a unit of log-odds", p)
	}
}
