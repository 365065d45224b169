// Package leak finds goroutines that still run after a test.
package leak

import (
	"runtime"
	"testing"
	"time"
)

// Check fails the test if more goroutines run after its end than now. Those that
// are ending have two seconds for it.
func Check(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 200 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
	})
}
