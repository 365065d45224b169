package run

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// Validations beside those of checkpoints are spread over the run and change neither net nor
// checkpoint; a run interrupted between them has the same.
func TestValidations(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(60)))
	cfg.SaveEvery, cfg.Epochs, cfg.HeldOut = 0, 1.5, 20
	plain, more, broken := t.TempDir(), t.TempDir(), t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(plain)); err != nil {
		t.Fatal(err)
	}
	of := func(dir string) Options {
		opt := quiet(dir)
		opt.Validations = 10
		return opt
	}
	s, err := Run(t.Context(), cfg, of(more))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(&counting{t.Context(), 20}, cfg, of(broken)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want an interruption", err)
	}
	if _, err := Run(t.Context(), cfg, of(broken)); err != nil {
		t.Fatal(err)
	}
	sameRun(t, broken, more)
	for _, path := range []string{netFile, Checkpoint(plain)[len(plain)+1:]} {
		if !bytes.Equal(read(t, more, path), read(t, plain, path)) {
			t.Errorf("%s is another with more validations", path)
		}
	}
	steps := validated(t, more)
	last, most := uint64(0), uint64(0)
	for _, step := range steps {
		most, last = max(most, step-last), step
	}
	if len(steps) < 10 || last != s.Steps || most > s.Steps/10+1 {
		t.Errorf("found validations after steps %d of %d, expected 10 and more, evenly", steps, s.Steps)
	}
}

// validated are the steps after which the held-out loss of a run was measured.
func validated(t *testing.T, dir string) (steps []uint64) {
	t.Helper()
	entries, _ := logOf(t, dir)
	for _, e := range entries {
		if e.HeldOut != nil {
			steps = append(steps, e.Step)
		}
	}
	return steps
}

// Of a short run no more is measured than a tenth of what is learned from, but four times.
func TestValidationsOfShortRun(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(60)))
	cfg.SaveEvery, cfg.Epochs = 0, 1
	for _, tc := range []struct{ heldOut, want int }{{0, 20}, {35, 0}, {500, 4}} {
		cfg.HeldOut = tc.heldOut
		opt := quiet(t.TempDir())
		opt.Validations = 20
		s, err := Run(t.Context(), cfg, opt)
		if err != nil {
			t.Fatal(err)
		}
		if tc.want == 0 {
			tc.want = int(s.Steps) * cfg.Batch / 10 / tc.heldOut
		}
		n := -1 // that before the first step
		for range validated(t, opt.Dir) {
			n++
		}
		if n != tc.want && n != tc.want+1 { // the checkpoint of the epoch may be another
			t.Errorf("%d held out: found %d validations in %d steps, expected %d", tc.heldOut, n, s.Steps, tc.want)
		}
	}
}

// No step without validation has an entry beside that of one with.
func TestReportsBesideValidations(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(60)))
	cfg.SaveEvery, cfg.Epochs, cfg.HeldOut, cfg.Batch = 0, 1, 20, 16
	for _, every := range []uint64{7, 8, 9, 11} {
		cfg.ReportEvery = int(every) * cfg.Batch
		opt := quiet(t.TempDir())
		opt.Validations = 13
		if _, err := Run(t.Context(), cfg, opt); err != nil {
			t.Fatal(err)
		}
		entries, _ := logOf(t, opt.Dir)
		plain := 0
		for i := range entries {
			if entries[i].HeldOut != nil {
				continue
			}
			plain++
			for _, j := range []int{i - 1, i + 1} { // it is neither first nor last
				if d := max(entries[i].Step, entries[j].Step) - min(entries[i].Step, entries[j].Step); 2*d < every && j < len(entries)-1 {
					t.Errorf("every %d steps: entries after steps %d and %d", every, entries[i].Step, entries[j].Step)
				}
			}
		}
		if plain == 0 {
			t.Errorf("every %d steps: found no entries without validation", every)
		}
	}
}
