package lab

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
)

// asked simulates rows of nets that solve puzzles of unlike difficulty. Nets of a row differ by
// a standard deviation in log-odds; rows do not.
func asked(rng *rand.Rand, rows, seeds, n int, apart float64) [][][]bool {
	difficulty := make([]float64, n)
	for k := range difficulty {
		difficulty[k] = 1.5 * rng.NormFloat64()
	}
	all := make([][][]bool, rows)
	for i := range all {
		all[i] = make([][]bool, seeds)
		for s := range all[i] {
			skill := apart * rng.NormFloat64()
			all[i][s] = make([]bool, n)
			for k := range all[i][s] {
				all[i][s][k] = rng.Float64() < logistic.Sigmoid(skill-difficulty[k])
			}
		}
	}
	return all
}

// Of shares whose truth is a half, whatever is drawn, 95 % of the intervals contain it, with one
// seed and with several, with nets that differ and nets that do not.
func TestSolvedIntervals(t *testing.T) {
	for _, tc := range []struct {
		seeds int
		apart float64
	}{{1, 0}, {3, 0}, {3, 0.3}, {2, 0.6}} {
		rng := rand.New(rand.NewPCG(1, 2))
		within, all := 0, 0
		width := 0.0
		for range 150 {
			for _, s := range solvedOf(asked(rng, 4, tc.seeds, 300, tc.apart)) {
				if all++; s.Low <= 0.5 && 0.5 <= s.High {
					within++
				}
				width += s.High - s.Low
			}
		}
		share := float64(within) / float64(all)
		t.Logf("%d seeds, %g apart: %.3f of the intervals have the truth, width %.3f", tc.seeds, tc.apart, share, width/float64(all))
		if share < 0.92 || share > 0.99 {
			t.Errorf("%d seeds, %g apart: %.3f of the intervals have the truth, expected 0.95", tc.seeds, tc.apart, share)
		}
	}
}

func TestSolvedOfNone(t *testing.T) {
	s := solvedOf([][][]bool{{make([]bool, 1000), make([]bool, 1000)}})[0]
	if s.Share != 0 || s.Low != 0 || s.High <= 0 || s.High > 0.01 {
		t.Errorf("found %+v, expected an interval from 0 to a little", s)
	}
}

// The rows of a comparison have the share of puzzles that are solved by the command that the
// report names, and can be sorted by every column.
func TestPuzzlesOfRows(t *testing.T) {
	c := comparison(t, games(t, 1, 150))
	c.Games.Time, c.Games.Puzzles = 0, 30
	dir := t.TempDir()
	r, err := Run(t.Context(), c, options(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		p := row.Puzzles
		if p == nil || p.Puzzles != 1000 || p.Nodes != 30 || len(p.Seeds) != 2 || p.Low >= p.Share || p.High <= p.Share || math.Abs(mean(p.Seeds)-p.Share) > 1e-9 {
			t.Fatalf("%s: found %+v", row.Name, p)
		}
		want := filepath.Join(dir, "cells", "train", row.Cells[0])
		if len(row.PuzzleCommands) != 2 || !strings.Contains(row.PuzzleCommands[0], want) {
			t.Errorf("%s: found commands %q, expected one with %s", row.Name, row.PuzzleCommands, want)
		}
		if row.Winner.Mean <= 0 || row.Winner.Mean >= 1 || row.Scores.Mean <= 0 || row.Results.Mean <= 0 || len(row.Scores.Seeds) != 2 || row.Measured == 0 {
			t.Errorf("%s: found %+v, %+v, %+v", row.Name, row.Winner, row.Scores, row.Results)
		}
	}
	for _, by := range configs.CompareSorts {
		r.Sort = by
		r.sort()
		names := []string{r.Rows[0].Name, r.Rows[1].Name}
		a, b := r.sortValue(by, &r.Rows[0], &r.Times[0]), r.sortValue(by, &r.Rows[1], &r.Times[1])
		if a < b || a == b && !slices.IsSorted(names) {
			t.Errorf("sorted by %s: found %q of %s and %s", by, names, strconv.FormatFloat(a, 'g', -1, 64), strconv.FormatFloat(b, 'g', -1, 64))
		}
	}
}

// Every column that a table can be sorted by has a figure of its own.
func TestSorts(t *testing.T) {
	r := &Results{Stages: []StageResult{{Stage: AtNodes}}}
	row := &Row{
		Cost: Cost{Inputs: 1, Dead: 2, Mean: 3, Changed: 4, Parameters: 5, Bytes: 6}, Loss: 7, Scores: Spread{Mean: 8}, Results: Spread{Mean: 9},
		Winner: Spread{Mean: 10}, Elo: map[Stage]Rating{AtNodes: {Elo: 11}, AtTime: {Elo: 12}, Ladder: {Elo: 13}}, Puzzles: &Solved{Share: 14},
	}
	times := &Times{Speed: Speed{Nodes: 15, Evaluations: 16}, Positions: 17}
	seen := map[float64]string{}
	for _, by := range configs.CompareSorts {
		value := math.Abs(r.sortValue(by, row, times))
		if before, ok := seen[value]; ok {
			t.Errorf("%s is sorted as %s", by, before)
		}
		seen[value] = by
	}
}
