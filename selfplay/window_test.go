package selfplay

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/replay"
)

// A trainer whose copy of the window fails says so instead of waiting for games, before the copy
// is whole and after that, until it goes on.
func TestTrainerSaysThatItsCopyFails(t *testing.T) {
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	l, err := newLearner(r, buffer, r.bus.SetPointer)
	if err != nil {
		t.Fatal(err)
	}
	l.copied = new(copying)
	source, err := replay.Open(t.TempDir(), replayOptions(r.variant, r.cfg.Replay, r.id()))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var said []string // before each question
	mirror, err := replay.NewMirror(buffer, func(_ context.Context, after replay.Cursor) (replay.Chunk, error) {
		if l.mayTrain() {
			t.Error("it may train without games")
		}
		said = append(said, r.Status().Roles[roleTrainer].State)
		switch len(said) {
		case 1, 3:
			return replay.Chunk{}, errors.New("no space left")
		case 5:
			cancel()
		}
		return source.ReadFrom(after, windowBytes)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.mirror(ctx, mirror, l.copied); err != nil {
		t.Fatal(err)
	}
	failed := triesAgain + ": the games of the replay role are not copied: mirror: no space left"
	want := []string{"waiting for the games of the replay role: 0 of 0 positions copied", failed, "waiting for games: 0 of 300 positions", failed, "waiting for games: 0 of 300 positions"}
	if !slices.Equal(said, want) {
		t.Errorf("found %q, expected %q", said, want)
	}
}

// A trainer does not train on a part of the window: not before its copy has caught up, and
// not while it is made anew.
func TestLearnerWaitsForTheWholeWindow(t *testing.T) {
	cfg := smallConfig(t)
	cfg.Train.MinPositions = 1
	cfg.Train.Batch = 1
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), cfg)
	if _, err := buffer.Append([][]byte{shortGame(t, "run-local-0-0-000000")}); err != nil {
		t.Fatal(err)
	}
	l, err := newLearner(r, buffer, r.bus.SetPointer)
	if err != nil {
		t.Fatal(err)
	}
	copied := new(copying)
	copied.total.Store(12_300)
	l.copied = copied
	if l.mayTrain() || !strings.Contains(r.Status().Waiting(), "0 of 12.3k positions copied") {
		t.Errorf("found %q, expected it to wait for the copy", r.Status().Waiting())
	}

	source, err := replay.Open(t.TempDir(), replayOptions(r.variant, r.cfg.Replay, r.id()))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	store := func(id string) {
		t.Helper()
		if _, err := source.Append([][]byte{shortGame(t, id)}); err != nil {
			t.Fatal(err)
		}
	}
	store(r.id() + "-one-0-0-000000")
	store(r.id() + "-two-0-0-000000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var whole []bool // before each question
	excluded := false
	mirror, err := replay.NewMirror(buffer, func(ctx context.Context, after replay.Cursor) (replay.Chunk, error) {
		whole = append(whole, copied.whole.Load())
		if len(whole) == 2 {
			excluded = true
			if err := source.Exclude("two", "forged"); err != nil {
				t.Error(err)
			}
		}
		c, err := source.ReadFrom(after, windowBytes)
		if excluded && c.Begin && len(whole) > 3 || len(whole) == 6 {
			cancel()
		}
		return c, errors.Join(err, ctx.Err())
	})
	if err != nil {
		t.Fatal(err)
	}
	before := source.Stats().Plies
	if err := r.mirror(ctx, mirror, copied); err != nil {
		t.Fatal(err)
	}
	if len(whole) < 3 || whole[0] || !whole[1] || whole[2] {
		t.Errorf("whole before each question: found %v, expected false, true, and false after the exclusion", whole)
	}
	if now := source.Stats().Plies; now != before {
		t.Errorf("found %d positions after an exclusion, expected %d as before", now, before)
	}
}
