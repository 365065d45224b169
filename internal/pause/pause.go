// Package pause waits between attempts.
package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d, and reports whether ctx lasted so long.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Spread returns a random time from half of d to one and a half of it, 0 if d is not
// positive, so that many who wait do not all come back at the same moment.
func Spread(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d)
}
