package selfplay

import (
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// TestDescribeStart: a net's manifest says how training began its PSQT weights.
func TestDescribeStart(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"pieces", "zero"} {
		cfg := smallConfig(t)
		cfg.Train.PSQTStart = start
		r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
		defer r.Close()
		l, err := newLearner(r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var m nets.Manifest
		if l.training.Describe(&m, l.model); m.PSQTStart != start {
			t.Errorf("described as begun with %q, want %q", m.PSQTStart, start)
		}
	}
}
