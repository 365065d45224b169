package kernel

import (
	"errors"
	"testing"
)

// atEveryLevel runs a test once per level this machine has.
func atEveryLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for l := Generic; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			forceLevel(t, l)
			test(t)
		})
	}
}

// benchEveryLevel runs a benchmark once per level this machine has.
func benchEveryLevel(b *testing.B, bench func(b *testing.B)) {
	b.Helper()
	for l := Generic; l <= Best(); l++ {
		b.Run(l.String(), func(b *testing.B) {
			forceLevel(b, l)
			bench(b)
		})
	}
}

// forceLevel makes the kernels use a level until the test ends.
func forceLevel(t testing.TB, l Level) {
	t.Helper()
	restore, err := Force(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
}

func TestForce(t *testing.T) {
	if using != Best() {
		t.Fatalf("using %v at start, expected the best, %v", using, Best())
	}
	restore, err := Force(Generic)
	if err != nil {
		t.Fatal(err)
	}
	if using != Generic || useAVX2 || useAVX512 {
		t.Errorf("using %v (%v, %v) after Force", using, useAVX2, useAVX512)
	}
	restore()
	if using != Best() {
		t.Errorf("using %v after restore, expected %v", using, Best())
	}
	for _, l := range []Level{-1, Best() + 1} {
		if _, err := Force(l); !errors.Is(err, ErrLevel) {
			t.Errorf("Force(%v): error %v, expected %v", l, err, ErrLevel)
		}
	}
}
