// Package await has tests wait for what other goroutines or processes bring about.
package await

import (
	"testing"
	"time"
)

// Patience is how long that may take on a busy machine.
const Patience = 5 * time.Minute

// True waits until something is so, and ends the test after Patience.
func True(t testing.TB, what string, so func() bool) {
	t.Helper()
	for late := time.Now().Add(Patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("waited %v in vain: %s", Patience, what)
		}
	}
}
