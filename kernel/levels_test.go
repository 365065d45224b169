package kernel

import (
	"errors"
	"flag"
	"fmt"
	"testing"
)

var wantLevel = flag.String("level", "", "the level that Best must return")

func TestBest(t *testing.T) {
	if *wantLevel != "" && Best().String() != *wantLevel {
		t.Errorf("found level %v, expected %s", Best(), *wantLevel)
	}
	for l := Generic; l <= Best(); l++ {
		if name := fmt.Sprintf("level %d", int(l)); l.String() == name {
			t.Errorf("%s has no name", name)
		}
	}
	if got, want := Level(len(vectorLevels)+1).String(), fmt.Sprintf("level %d", len(vectorLevels)+1); got != want {
		t.Errorf("a level above all is %s, expected %s", got, want)
	}
}

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
	if using != Generic {
		t.Errorf("using %v after Force", using)
	}
	for _, v := range vectorLevels {
		if *v.use {
			t.Errorf("using %s after Force(%v)", v.name, Generic)
		}
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
