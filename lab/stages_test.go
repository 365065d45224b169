package lab

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// A row that begins from another's nets is trained after it, from the net of its seed, and is
// another cell if what it begins from is.
func TestRowsFromRows(t *testing.T) {
	data := games(t, 1, 12)
	c := comparison(t, data)
	c.Games.Time = 0
	c.Rows = []configs.CompareRow{
		{Name: "again", Settings: map[string]any{"init": "row:first"}},
		{Name: "first", Settings: map[string]any{}},
		{Name: "still", Settings: map[string]any{"init": "row:again"}},
	}
	dir := t.TempDir()
	if _, err := Run(t.Context(), c, options(dir)); err != nil {
		t.Fatal(err)
	}
	p := newPlan(t, c)
	for s := range c.Seeds {
		for row, from := range map[int]int{0: 1, 2: 0} {
			out, err := os.ReadFile(filepath.Join(dir, "cells", "train", p.Nets[row][s].Key, "output.txt"))
			if want := filepath.Join("cells", "train", p.Nets[from][s].Key); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("row %d, seed %d: found %s, error %v, expected that it begins from %s", row, s, out, err, want)
			}
		}
	}
	c.Rows[1].Settings["lr"] = "0.001"
	slow := newPlan(t, c)
	for row := range c.Rows {
		if p.Nets[row][0].Key == slow.Nets[row][0].Key {
			t.Errorf("row %d: the same cell whatever the first row learned", row)
		}
	}
}

const rungs = `schema: 1
variant: crazyhouse
games: 2
seed: 1
nodes: 30
anchors:
- {name: low, player: "material,nodes=10", elo: -50}
- {name: high, player: "material,nodes=60", elo: 250, sd: 100}
`

// timedRung is an opponent with a limit of time.
const timedRung = "- {name: timed, player: \"material,movetime=%dms\", elo: 300, sd: 200}\n"

// ladderOf gives a comparison games against a ladder of players of this program.
func ladderOf(t *testing.T, c *configs.Compare, text string) {
	t.Helper()
	c.Games.Ladder, c.Games.Rungs = 2, filepath.Join(t.TempDir(), "ladder.yaml")
	if err := os.WriteFile(c.Games.Rungs, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Nets meet the opponents of a ladder and nobody else, at the ladder's limits, and are rated on
// its scale.
func TestLadder(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	c.Games.Nodes, c.Games.Time, c.Anchors = 0, 0, nil
	ladderOf(t, &c, rungs)
	dir := t.TempDir()
	r, err := Run(t.Context(), c, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	s := r.Stages[0]
	if len(r.Stages) != 1 || s.Stage != Ladder || s.Games != 2*2*2*2*2 || !s.Ratings.Absolute || len(s.Ratings.Anchors) != 2 {
		t.Fatalf("found %+v, expected 32 games of 2 rows, 2 seeds and 2 opponents", s)
	}
	for _, m := range s.Meetings {
		if m.Limits[0] != "nodes 30" || m.B == "low" && m.Limits[1] != "nodes 10" || m.A == "high" {
			t.Errorf("found %+v, expected a net with 30 nodes against an opponent with its own limit", m)
		}
	}
	if low := s.Ratings.Anchors[0]; math.Abs(low.Elo+50) > 1e-9 || low.High != low.Low {
		t.Errorf("found %+v, expected the rating that the ladder gives and fixes", low)
	}
	if high := s.Ratings.Anchors[1]; high.Elo == 250 || high.High-high.Low < 10 {
		t.Errorf("found %+v, expected a rating that the games have moved from what the ladder gives", high)
	}
	checkReports(t, r, dir)
	if again, err := Run(t.Context(), c, options(dir)); err != nil || again.Rows[0].Elo[Ladder].Elo != r.Rows[0].Elo[Ladder].Elo {
		t.Errorf("again: %v", err)
	}
}

func TestLadderRefused(t *testing.T) {
	data := games(t, 1, 3)
	for _, tc := range []struct{ text, want string }{
		{strings.Replace(rungs, "crazyhouse", "chess", 1), "a ladder of chess, expected one of crazyhouse"},
		{strings.Replace(rungs, "material,nodes=10", "uci:no-such-engine-here", 1), "anchor low"},
		{"schema: 1\n", "games.ladder"},
	} {
		c := comparison(t, data)
		ladderOf(t, &c, tc.text)
		if _, err := NewPlan(t.Context(), c, options(t.TempDir()), false); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, expected %q in it", err, tc.want)
		}
	}
}

// A player with a limit of time has it counted in the price, not the nodes of the others.
func TestLadderPrice(t *testing.T) {
	c := comparison(t, games(t, 1, 3))
	c.Games.Nodes, c.Games.Time, c.Anchors = 0, 0, nil
	price := func(text string) time.Duration {
		ladderOf(t, &c, text)
		r, err := newPlan(t, c).Price(t.Context(), options(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		return r.Playing
	}
	slow, fast := price(rungs+fmt.Sprintf(timedRung, 102)), price(rungs+fmt.Sprintf(timedRung, 2))
	// 4 nets, 2 pairs of games each, of which the opponent makes pliesOfGame moves.
	if more, want := slow-fast, 4*2*pliesOfGame*100*time.Millisecond; (more - want).Abs() > time.Millisecond {
		t.Errorf("100 ms a move more cost %v more, expected %v", more, want)
	}
}

// A rating that is given with an error is moved by games that contradict it; one without is not.
func TestGivenWithError(t *testing.T) {
	given := 400.0
	rate := func(sd float64) Rating {
		f := &Field{Rows: 1, Players: 3, Seeds: 1, Given: []*float64{nil, new(float64), &given}, SD: []float64{0, 0, sd}}
		for b := range 2 {
			s := Scores{A: 0, B: 1 + b}
			for range 50 { // as strong as either
				s.Pairs = append(s.Pairs, [2]rating.Outcome{rating.Win, rating.Loss})
			}
			f.Scores = append(f.Scores, s)
		}
		r, err := Rate(t.Context(), f, 1)
		if err != nil {
			t.Fatal(err)
		}
		return r.Anchors[1]
	}
	if fixed, moved := rate(0), rate(300); math.Abs(fixed.Elo-given) > 1e-9 || given-moved.Elo < 100 {
		t.Errorf("found %.0f and %.0f, expected %.0f where it is fixed and less where games tell", fixed.Elo, moved.Elo, given)
	}
}

// Rows of both kinds of nets learn from the same games and play each other by their searches, each
// with the nodes of its own speed.
func TestBothKinds(t *testing.T) {
	c := comparison(t, games(t, 1, 12))
	c.Games.Nodes, c.Games.Pairs, c.Seeds = 0, 1, 1
	c.Rows = []configs.CompareRow{
		{Name: "a <b> & c", Settings: map[string]any{}},
		{Name: "planes", Settings: map[string]any{"kind": "planes", "planes": "residual 1x16", "optimiser": "sgd", "lr": "0.01"}},
	}
	dir := t.TempDir()
	r, err := Run(t.Context(), c, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stages) != 1 || r.Stages[0].Games != 2*3 || r.Rows[0].Samples != r.Rows[1].Samples {
		t.Errorf("found %d games, %d and %d samples", r.Stages[0].Games, r.Rows[0].Samples, r.Rows[1].Samples)
	}
	for _, m := range r.Stages[0].Meetings {
		if !strings.Contains(m.Command, "mcts:") && (m.A == "planes" || m.B == "planes") {
			t.Errorf("%s: expected a player by tree search", m.Command)
		}
	}
	if r.Correlation != nil {
		t.Errorf("found a correlation %g of losses that are not alike", *r.Correlation)
	}
	checkReports(t, r, dir)
}

// The preset nnue-planes costs the same whatever the data: hours of a core. All its rows hold the
// same positions back and learn for the same time.
func TestNNUEAndPlanesPreset(t *testing.T) {
	c, err := configs.ComparePreset("nnue-planes")
	if err != nil {
		t.Fatal(err)
	}
	c.Data = []string{games(t, 1, 12)}
	p := newPlan(t, c)
	if f := factOf(t, p, "time of training"); !f.Equal {
		t.Errorf("found %+v, expected one time for all rows", f)
	}
	if f := factOf(t, p, "samples and their order"); strings.Contains(f.Detail, "epochs") || strings.Contains(f.Detail, "held_out") || !strings.Contains(f.Detail, "batch") {
		t.Errorf("found %+v, expected another size of batches, and nothing else", f)
	}
	price, err := p.Price(t.Context(), Options{Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.sizes) != 2 {
		t.Errorf("the data were read %d times, expected once for each kind of net", len(p.sizes))
	}
	if want := time.Duration(len(c.Rows)*c.Seeds) * c.Budget.Time; price.Training < want || price.Training > want+time.Second {
		t.Errorf("training takes %v, expected %v", price.Training, want)
	}
	if all := price.Training + price.Playing + price.Solving; all > 8*time.Hour {
		t.Errorf("it takes %v of a core, expected at most 8 h", all)
	}
}
