package pause

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestForWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if lasted := For(t.Context(), time.Minute); !lasted || time.Since(start) != time.Minute {
			t.Errorf("found %v after %v, expected true after a minute", lasted, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if lasted := For(ctx, time.Minute); lasted || time.Since(start) != time.Second {
			t.Errorf("found %v after %v, expected false after a second", lasted, time.Since(start))
		}
	})
}

func TestSpread(t *testing.T) {
	for range 1000 {
		if d := Spread(time.Second); d < time.Second/2 || d >= 3*time.Second/2 {
			t.Fatalf("found %v, expected half a second to one and a half", d)
		}
	}
	if d := Spread(0); d != 0 {
		t.Errorf("of nothing: found %v, expected 0", d)
	}
}
