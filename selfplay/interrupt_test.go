package selfplay

import (
	"context"
	"testing"
	"time"
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
