package selfplay

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// A role that is interrupted while it starts ends in order, without an error.
func TestInterruptedWhileStarting(t *testing.T) {
	r := openBookRun(t)
	ctx, stop := context.WithCancel(t.Context())
	stored := make(chan error, 1)
	storing := joinDir(t, r, "replay", t.TempDir())
	go func() { stored <- storing.Replay(ctx) }() // an actor that ends waits for its games to be stored
	defer func() {
		stop()
		if err := <-stored; err != nil {
			t.Error(err)
		}
	}()
	for name, work := range map[string]func(*Run, context.Context) error{
		"actor":  func(r *Run, ctx context.Context) error { return r.Actor(ctx, Limits{}) },
		"gate":   func(r *Run, ctx context.Context) error { return r.Gate(ctx, true) },
		"verify": (*Run).Verify,
	} {
		joined := joinDir(t, r, name, t.TempDir())
		for _, after := range []time.Duration{0, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			interrupted, interrupt := context.WithCancel(t.Context())
			context.AfterFunc(ctx, interrupt)
			if after == 0 {
				interrupt()
			}
			if err := work(joined, interrupted); err != nil {
				t.Errorf("%s, interrupted after %v: found error %v, expected none", name, after, err)
			}
			cancel()
		}
	}
}

// What servers cannot give now is asked for again: without end while they are away, and for a
// while if they find no place for copies, which too few of them never do.
func TestPatience(t *testing.T) {
	t.Parallel()
	r := newRun(t.TempDir(), configs.Config{}, Options{haste: 200})
	for _, tc := range []struct {
		err  error
		most int // attempts; 0: no matter
		want error
	}{
		{bus.ErrUnavailable, 0, nil},
		{bus.ErrNoPlace, 0, nil},
		{bus.ErrConfig, 1, bus.ErrConfig},
	} {
		n := 0
		err := r.patiently(t.Context(), func(context.Context) error {
			if n++; n == 4 {
				return nil
			}
			return fmt.Errorf("stream: %w", tc.err)
		})
		if !errors.Is(err, tc.want) || tc.most > 0 && n > tc.most || tc.want == nil && n != 4 {
			t.Errorf("%v: %d attempts, %v", tc.err, n, err)
		}
	}
	n := 0
	err := r.patiently(t.Context(), func(context.Context) error { n++; return bus.ErrNoPlace })
	if !errors.Is(err, bus.ErrNoPlace) || n < 2 {
		t.Errorf("never a place: %d attempts, %v", n, err)
	}
}
