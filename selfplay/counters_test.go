package selfplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a process counts of games begins at 0 when it opens the run's buffer, and grows by what
// it stores; what the run counts goes on.
func TestGamesAreCountedFromTheStart(t *testing.T) {
	t.Parallel()
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	starts := 0
	store := func(games ...[]byte) Status {
		t.Helper()
		starts++
		r := openRun(t, dir, cfg)
		defer r.Close()
		in := mustIngester(t, r)
		if f := r.Status().Figures; f.Games+f.Positions+f.Duplicates+f.Quarantined != 0 {
			t.Errorf("start %d counts %d games, %d positions, %d known and %d refused, expected none", starts, f.Games, f.Positions, f.Duplicates, f.Quarantined)
		}
		if _, err := r.bus.PublishGames(t.Context(), "test", fmt.Sprint(starts), games); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(in.drain(t.Context()), in.close()); err != nil {
			t.Fatal(err)
		}
		return r.Status()
	}
	first := store(shortGame(t, "a"), shortGame(t, "b"), []byte("junk"))
	second := store(shortGame(t, "a"), shortGame(t, "c"), []byte("more junk"))
	if f := first.Figures; f.Games != 2 || f.Positions != first.Positions || f.Quarantined != 1 || f.Duplicates != 0 {
		t.Errorf("first %+v, expected 2 games, all positions and one refused", f)
	}
	if f := second.Figures; f.Games != 1 || f.Positions != second.Positions-first.Positions || f.Duplicates != 1 || f.Quarantined != 1 {
		t.Errorf("then %+v, expected one game new, one known and one refused", f)
	}
	if second.Games != 3 || second.Duplicates != 1 || second.Quarantined != 2 {
		t.Errorf("of the run %d games, %d twice, %d refused; expected 3, 1 and 2", second.Games, second.Duplicates, second.Quarantined)
	}
}

// A counter never goes back, when games that were damaged since the start are no longer counted
// in the run either.
func TestDamageTakesNoGameFromCounters(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	in := mustIngester(t, r)
	defer in.close()
	if _, err := r.bus.PublishGames(t.Context(), "test", "m", [][]byte{shortGame(t, "a"), shortGame(t, "b")}); err != nil {
		t.Fatal(err)
	}
	if err := in.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := r.Status()
	segments, err := filepath.Glob(filepath.Join(r.path(replayDir), "*.seg"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("found segments %v, error %v, expected one", segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err == nil {
		data[len(data)-1] ^= 1
		err = os.WriteFile(segments[0], data, 0o600)
	}
	if err := errors.Join(err, in.buffer.Exclude("other", "reads all again")); err != nil {
		t.Fatal(err)
	}
	in.show()
	after := r.Status()
	if before.Games != 2 || after.Games != 1 {
		t.Errorf("of the run %d games, then %d, expected 2 and 1", before.Games, after.Games)
	}
	if b, a := before.Figures, after.Figures; a.Games != b.Games || a.Positions != b.Positions {
		t.Errorf("counted %d games and %d positions, then %d and %d", b.Games, b.Positions, a.Games, a.Positions)
	}
}

// The steps that a process counts begin at 0 whatever its checkpoint has, and never go back
// to one.
func TestStepsAreCountedFromTheStart(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.StepsPerNet, cfg.Train.Checkpoint = 1000, 5
	l := filledLearner(t, cfg)
	for range 7 {
		if err := l.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	resume := func(what string, counted uint64) {
		t.Helper()
		again, err := newLearner(l.run, l.buffer, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.trainer.Close() })
		if s := l.run.Status(); s.Step != 5 || s.Figures.Steps != counted || s.Figures.Samples != counted*uint64(cfg.Train.Batch) {
			t.Errorf("%s: resumed at step %d with %d steps and %d samples counted, expected 5 and %d", what, s.Step, s.Figures.Steps, s.Figures.Samples, counted)
		}
		l = again
	}
	resume("in the same process", 7)
	l.run.status = newSharedStatus()
	resume("in another one", 0)
	if err := l.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := l.run.Status().Figures; f.Steps != 1 || f.Samples != uint64(cfg.Train.Batch) {
		t.Errorf("after one step %d steps and %d samples, expected 1 and %d", f.Steps, f.Samples, cfg.Train.Batch)
	}
}
