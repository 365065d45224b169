package search_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestNewPolicy(t *testing.T) {
	visits := []search.MoveVisits{{Move: 1, Visits: 5}}
	for name, tc := range map[string]struct {
		result search.Result
		want   *search.Policy
	}{
		"no tree search":   {search.Result{Move: 3}, nil},
		"cheap":            {search.Result{Visits: visits}, &search.Policy{}},
		"cheap and proven": {search.Result{Visits: []search.MoveVisits{}}, &search.Policy{}},
		"visits": {
			search.Result{Visits: visits, Policy: []search.MoveProb{{Move: 9, Prob: 0.25}, {Move: 7, Prob: 0.25}, {Move: 8, Prob: 0.5}}, Surprise: 0.51},
			&search.Policy{Moves: []search.MoveWeight{{Move: 8, Weight: 2048}, {Move: 7, Weight: 1024}, {Move: 9, Weight: 1024}}, Surprise: 0.5},
		},
		"unlikely": {
			search.Result{Policy: []search.MoveProb{{Move: 1, Prob: 0.9999}, {Move: 2, Prob: 0.0001}}, Surprise: 1e9},
			&search.Policy{Moves: []search.MoveWeight{{Move: 1, Weight: 4096}}, Surprise: search.MaxSurprise},
		},
		"all unlikely": {
			search.Result{Policy: []search.MoveProb{{Move: 1, Prob: 1e-5}, {Move: 2, Prob: 2e-5}}, Surprise: math.NaN()},
			&search.Policy{Moves: []search.MoveWeight{{Move: 2, Weight: 1}}},
		},
	} {
		got := search.NewPolicy(&tc.result)
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
		if got != nil && !got.Sorted() {
			t.Errorf("%s: not sorted", name)
		}
	}
}

func TestPolicySorted(t *testing.T) {
	a, b := chess.Move(5), chess.Move(6)
	for _, tc := range []struct {
		moves []search.MoveWeight
		want  bool
	}{
		{nil, true},
		{[]search.MoveWeight{{Move: a, Weight: 1}, {Move: b, Weight: 1}}, true},
		{[]search.MoveWeight{{Move: b, Weight: 2}, {Move: a, Weight: 1}}, true},
		{[]search.MoveWeight{{Move: b, Weight: 1}, {Move: a, Weight: 1}}, false},
		{[]search.MoveWeight{{Move: a, Weight: 1}, {Move: b, Weight: 2}}, false},
		{[]search.MoveWeight{{Move: a, Weight: 2}, {Move: a, Weight: 1}}, false},
		{[]search.MoveWeight{{Move: a}}, false},
	} {
		if got := (&search.Policy{Moves: tc.moves}).Sorted(); got != tc.want {
			t.Errorf("%v: %v", tc.moves, got)
		}
	}
}
