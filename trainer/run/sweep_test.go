package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

func TestSweep(t *testing.T) {
	base := settings(t, dataFile(t, "a.chain", samples(30)))
	base.Epochs = 1
	runs, err := base.Sweep([]byte("schema: 1\nwidth: [16, 32]\nseed: [1, 2]\n"), "sweep")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Sweep(t.Context(), runs, SweepOptions{Options: quiet(dir), Jobs: 2}); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("while another sweeps: found error %v, expected %v", err, dirlock.ErrHeld)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	results, err := Sweep(t.Context(), runs, SweepOptions{Options: quiet(dir), Jobs: 2})
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	table := string(read(t, dir, tableText))
	if lines := strings.Count(table, "\n"); lines != 5 || !strings.Contains(table, "loss held out") {
		t.Errorf("table of %d lines, want 5:\n%s", lines, table)
	}
	if s := results[1].Summary; results[1].Varied["width"] != "32" || !strings.Contains(s.Architecture, "32+8") || s.HeldOut.Mean == 0 {
		t.Errorf("second result %+v", results[1])
	}
	if _, err := os.Stat(filepath.Join(dir, "seed=1,width=16", summaryFile)); err != nil {
		t.Error(err)
	}

	// Each of the runs, which shared their data, is what it is by itself.
	for i, name := range []string{"seed=1,width=16", "seed=1,width=32", "seed=2,width=16", "seed=2,width=32"} {
		alone := t.TempDir()
		if _, err := Run(t.Context(), runs[i], quiet(alone)); err != nil {
			t.Fatal(err)
		}
		sameRun(t, filepath.Join(dir, name), alone)
		if !bytes.Equal(read(t, dir, name, dataJSON), read(t, alone, dataJSON)) {
			t.Errorf("%s: another description of the data", name)
		}
	}

	// Other runs than those there leave the table as it is.
	others := slices.Clone(runs)
	for i := range others {
		others[i].Epochs = 2
	}
	if _, err := Sweep(t.Context(), others, SweepOptions{Options: quiet(dir)}); !errors.Is(err, ErrOther) {
		t.Errorf("other runs in the same directory: error %v, want ErrOther", err)
	}
	if now := string(read(t, dir, tableText)); now != table {
		t.Errorf("refused runs changed the table to\n%s", now)
	}

	// One run and a sweep cannot have the same directory either.
	if _, err := Run(t.Context(), base, quiet(dir)); !errors.Is(err, ErrOther) {
		t.Errorf("a run in a sweep's directory: error %v, want ErrOther", err)
	}
	if _, err := Sweep(t.Context(), runs, SweepOptions{Options: quiet(results[0].Dir)}); !errors.Is(err, ErrOther) {
		t.Errorf("a sweep in a run's directory: error %v, want ErrOther", err)
	}

	// Two runs cannot have the same directory.
	alike := slices.Clone(runs[:2])
	alike[0].Width, alike[0].Init, alike[1].Init = alike[1].Width, "a/b", "a:b"
	for range 2 {
		if _, err := Sweep(t.Context(), alike, SweepOptions{Options: quiet(t.TempDir())}); !errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), "two runs") {
			t.Errorf("two runs in one directory: error %v", err)
		}
		alike[0] = alike[1]
	}

	// A run that fails does not stop the others.
	runs[0].Validation, runs[1].Validation = filepath.Join(dir, "none.chain"), ""
	results, err = Sweep(t.Context(), runs[:2], SweepOptions{Options: quiet(t.TempDir()), Jobs: 1})
	if !errors.Is(err, os.ErrNotExist) || results[0].Error == "" || results[1].Error != "" || results[1].Summary.Steps == 0 {
		t.Errorf("results %+v, error %v", results, err)
	}
}

// A line has a field for every column; figures that nothing was measured for are
// dashes.
func TestPrintTable(t *testing.T) {
	var text strings.Builder
	var planes, nnue Summary
	planes.HeldOut = trainer.Loss{Mean: 0.5, Positions: 20, Moves: 10, Policy: 2.25, MoveAccuracy: 0.375}
	nnue.HeldOut = trainer.Loss{Mean: 0.25, Result: 0.125, Positions: 20, Decided: 16, SignAccuracy: 0.75, Triples: 10, Ranked: 0.625}
	err := PrintTable(&text, []string{"width"}, []Result{
		{Varied: map[string]string{"width": "16"}, Summary: planes}, {Varied: map[string]string{"width": "32"}, Summary: nnue},
		{Varied: map[string]string{"width": "48"}}, {Varied: map[string]string{"width": "64"}, Error: "full disk"},
	})
	lines := strings.Split(text.String(), "\n")
	if err != nil || len(lines) != 6 {
		t.Fatalf("error %v, table\n%s", err, text.String())
	}
	for i, want := range []string{
		"width|loss held out|of scores|of results|newest|winners named|moves ranked|moves named|loss of moves|epochs",
		"16|0.500000|0.000000|-|-|-|-|37.50 %|2.250000|0.00",
		"32|0.250000|0.000000|0.125000|-|75.00 %|62.50 %|-|-|0.00",
		"48|-|-|-|-|-|-|-|-|0.00|0|0.0|-|0",
		"64|failed",
	} {
		fields := regexp.MustCompile("  +").Split(strings.TrimSpace(lines[i]), -1)
		if got := strings.Join(fields, "|"); !strings.HasPrefix(got, want) || len(lines[i]) != len(lines[0]) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
}
