package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/script"
)

// A bound that is no number would have every verdict good: it is refused before samples
// are read, or anything is run.
func TestBoundIsANumber(t *testing.T) {
	dir := t.TempDir()
	samples := filepath.Join(dir, "soak.csv")
	if err := os.WriteFile(samples, []byte("no samples"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bound := range []string{"NaN", "Inf", "-0.1"} {
		for _, args := range [][]string{{"--judge", samples}, {"--dir", filepath.Join(dir, "run"), "--program", "none"}} {
			if err := run(t.Context(), append(args, "--bound", bound)); !errors.Is(err, script.ErrUsage) {
				t.Errorf("--bound %s %q: found the error %v, expected wrong usage", bound, args, err)
			}
		}
	}
}
