package lab

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// A directory given as init stands for what is in it: another path changes nothing, another
// net everything.
func TestInitDirectory(t *testing.T) {
	data := games(t, 1, 3)
	from := func(net string) []string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "net.nnue"), []byte(net), 0o644); err != nil {
			t.Fatal(err)
		}
		c := comparison(t, data)
		c.Train["init"] = dir
		return cells(t, c)
	}
	if a, b := from("one"), from("one"); !slices.Equal(a, b) {
		t.Errorf("another path: found cells %q, expected %q", b, a)
	}
	if a, b := from("one"), from("another"); slices.Equal(a, b) {
		t.Error("another net in the directory: found the same cells")
	}
}

// The program's own net is one to begin from, where it has one.
func TestInitBuiltin(t *testing.T) {
	c := comparison(t, games(t, 1, 3))
	without := cells(t, c)
	c.Train["init"] = builtin.Name
	if with := cells(t, c); len(with) != len(without) || with[0] == without[0] {
		t.Errorf("found cells %q, expected others than without, %q", with, without)
	}
	c.Variant, c.Rows = chess.Chess.Name, c.Rows[:1] // chess has no inputs of hands
	if _, err := NewPlan(t.Context(), c, options(t.TempDir()), false); !errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), "init: ") || !strings.Contains(err.Error(), "the program has no net for chess") {
		t.Errorf("chess: error %v", err)
	}
}

// Data may be moved while a net is being trained, and each cell says which builds made it; more
// than one are warned of.
func TestMovedAndRebuilt(t *testing.T) {
	data, dir := games(t, 1, 12), t.TempDir()
	c := comparison(t, data)
	c.Games.Time = 0
	o := options(dir)
	o.Build = "first"
	before, err := Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved.chain")
	begun := filepath.Join(dir, "cells", "train", before.Rows[0].Cells[1], "summary.json")
	if err := errors.Join(os.Rename(data, moved), os.Remove(begun)); err != nil {
		t.Fatal(err)
	}
	c.Data, c.Games.Pairs, o.Build = []string{moved}, 3, "second"
	c.Rows = append(c.Rows, configs.CompareRow{Name: "wide", Settings: map[string]any{"width": uint64(32)}})
	c.Sort = "name"
	r, err := Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		of    *Results
		mixed bool
	}{{before, false}, {r, true}} {
		found := slices.ContainsFunc(tc.of.Warnings, func(s string) bool {
			return strings.Contains(s, "version of the program: nets (first and second); games at fixed nodes (first and second): ")
		})
		if found != tc.mixed {
			t.Errorf("found warnings %q; of builds expected: %t", tc.of.Warnings, tc.mixed)
		}
	}
	if r.Build != "second" {
		t.Errorf("the report is of build %q, expected the second", r.Build)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		for s, builds := range row.Builds {
			want := []string{"first"}
			switch {
			case row.Name == "wide":
				want = []string{"second"}
			case row.Cells[s] == before.Rows[0].Cells[1]:
				want = []string{"first", "second"}
			}
			if !slices.Equal(builds, want) {
				t.Errorf("%s, seed %d: found builds %q, expected %q", row.Name, s+1, builds, want)
			}
		}
	}
	for _, m := range r.Stages[0].Meetings {
		want := []string{"first", "second"} // the third pair
		if m.A == "wide" || m.B == "wide" {
			want = want[1:]
		}
		if !slices.Equal(m.Builds, want) {
			t.Errorf("%s against %s: found builds %q, expected %q", m.A, m.B, m.Builds, want)
		}
	}
}

// A flipped bit of a cell is an error that names the file, or makes no difference.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.json")
	if err := writeCell(path, rateCell{}); err != nil {
		t.Fatal(err)
	}
	told := golden.Flip(t, path, func() (any, error) {
		var c rateCell
		_, err := readCell(path, &c)
		return c, err
	})
	if told == 0 {
		t.Error("no flipped bit made a difference")
	}
}
