package puzzles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func testSet(t *testing.T) []Puzzle {
	t.Helper()
	wrong := puzzle(t, strings.Replace(ladder, "R@a1#", "Kf1", 1)) // not the best move
	return []Puzzle{puzzle(t, mateIn1), puzzle(t, aWin), wrong, puzzle(t, smother)}
}

// A player's answers are counted by grade and kind, however many goroutines ask.
func TestRun(t *testing.T) {
	m := maker(t, "material")
	set := testSet(t)
	limits := []search.Limits{{Nodes: 500}, {Nodes: 2000}}
	var first *Result
	for _, concurrency := range []int{1, 3} {
		last := 0
		r, err := Run(t.Context(), m, set, RunOptions{Limits: limits, Concurrency: concurrency, Progress: func(done, of int) {
			if last++; done != last || of != 8 {
				t.Errorf("progress %d of %d, expected %d of 8", done, of, last)
			}
		}})
		if err != nil || last != 8 {
			t.Fatalf("%v after %d searches", err, last)
		}
		if first == nil {
			first = r
		}
		if !reflect.DeepEqual(r, first) {
			t.Errorf("%+v, expected as with one goroutine %+v", r, first)
		}
	}
	want := Accuracy{
		Limits: "nodes 500", All: Count{"all", 3, 4}, Drops: Count{"drops", 1, 1},
		Grades: []Count{{"no grade", 1, 2}, {"grade 1", 1, 1}, {"grade 3", 1, 1}},
		Kinds:  []Count{{"mate in 1", 2, 3}, {"win by a move", 1, 1}},
		Solved: []bool{true, true, false, true},
	}
	if !reflect.DeepEqual(first.Accuracy[0], want) || first.Player == "" || first.Puzzles != 4 {
		t.Errorf("found %+v, expected %+v", first, want)
	}
	var text bytes.Buffer
	if err := first.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"material, 4 puzzles", "nodes 2000", "grade 3", "win by a move", "75.0 (30-95)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	data, err := json.Marshal(first)
	if err != nil || !strings.Contains(string(data), `{"name":"all","solved":3,"of":4,"share":0.75,"low":0.30064`) {
		t.Errorf("%s, %v", data, err)
	}
}

// A player's own limits hold, and an error ends the run.
func TestRunLimitsAndErrors(t *testing.T) {
	r, err := Run(t.Context(), maker(t, "material,nodes=300"), testSet(t), RunOptions{Limits: []search.Limits{{Nodes: 5}, {Nodes: 6}}})
	if err != nil || len(r.Accuracy) != 1 || r.Accuracy[0].Limits != "nodes 300" {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, maker(t, "material"), testSet(t), RunOptions{Limits: []search.Limits{{Nodes: 5}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the context's error", err)
	}
	over := testSet(t)
	over[2].Position = *position(t, "R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1")
	over[2].ID = "mated"
	if _, err := Run(t.Context(), maker(t, "material"), over, RunOptions{Limits: []search.Limits{{Nodes: 5}}, Concurrency: 2}); !errors.Is(err, search.ErrNoLegalMoves) || !strings.Contains(err.Error(), "puzzle 3 (mated)") {
		t.Errorf("found %v, expected the player's error", err)
	}
}

// The interval is Wilson's: the shares whose own deviation reaches what was found.
func TestInterval(t *testing.T) {
	for _, c := range []Count{{"", 0, 1}, {"", 1, 1}, {"", 3, 10}, {"", 0, 50}, {"", 999, 1000}} {
		low, high := c.Interval()
		for _, share := range []float64{low, high} {
			deviation := math.Abs(share - c.Share())
			if share != 0 && share != 1 && math.Abs(deviation-normal95*math.Sqrt(share*(1-share)/float64(c.Of))) > 1e-9 {
				t.Errorf("%+v: %v to %v", c, low, high)
			}
		}
		if low > c.Share() || high < c.Share() || low < 0 || high > 1 {
			t.Errorf("%+v: %v to %v", c, low, high)
		}
	}
	if low, high := (Count{}).Interval(); low != 0 || high != 1 {
		t.Errorf("of none: %v to %v, expected 0 to 1", low, high)
	}
}

// Selections are as wide as what there is allows, and the same again.
func TestSelect(t *testing.T) {
	var list []Puzzle
	p := chess.Crazyhouse.Start()
	for i := range 400 { // positions that differ by the move made
		q := puzzle(t, aWin)
		q.Position = p
		q.Position.SetClocks(0, i+1)
		q.Nodes, q.Mate = gradeNodes[i%4], i%6
		list = append(list, q)
		if p.Make(legal(&p, i)); !p.HasLegalMove() {
			p = chess.Crazyhouse.Start()
		}
	}
	for _, count := range []int{0, 1, 50, 200, 1000} {
		set := Select(list, count, 7)
		if want := min(count, len(distinct(list))); count > 0 && len(set) != want {
			t.Errorf("found %d puzzles, expected %d", len(set), want)
		}
		if !reflect.DeepEqual(set, Select(list, count, 7)) {
			t.Errorf("%d puzzles are not the same again", count)
		}
		for i := 1; i < len(set); i++ {
			if compareMates(set[i-1].Mate, set[i].Mate) > 0 {
				t.Errorf("mate in %d before mate in %d", set[i-1].Mate, set[i].Mate)
			}
		}
	}
	kinds := map[string]int{}
	for _, q := range Select(list, 100, 7) {
		switch {
		case q.Mate == 0:
			kinds["win"]++
		case q.Mate < 3:
			kinds["short"]++
		default:
			kinds["long"]++
		}
	}
	if kinds["win"] < 15 || kinds["short"] < 30 || kinds["long"] < 40 {
		t.Errorf("%v", kinds)
	}
	if lines := strings.Join(Contents(list), "\n"); !strings.Contains(lines, "mate in 5") || !strings.Contains(lines, "grade 4: ") {
		t.Errorf("%s", lines)
	}
}

// legal returns some legal move.
func legal(p *chess.Position, i int) chess.Move {
	var moves chess.MoveList
	p.Legal(&moves)
	return moves.Slice()[i*7%moves.N]
}
