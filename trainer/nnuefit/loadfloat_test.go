package nnuefit

import (
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// TestLoadFloat: what a model was exported to is its export, trained through the rounding or
// not, and that of another step is none. The float net does not round.
func TestLoadFloat(t *testing.T) {
	samples := randomSamples(70, 500)
	for _, quantise := range []bool{false, true} {
		cfg := testConfig()
		cfg.Quantise = quantise
		m, err := New(nnue.Narrow(64), cfg, 1)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trainer.New(m, nil, trainer.Config{BatchSize: 1, LearningRate: trainer.Constant(1e-3), Lambda: trainer.Constant(1)})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, trainer.CheckpointName(0))
		for _, want := range []bool{true, false} {
			fit(t, m, samples, 250, 40)
			n, err := m.Network()
			if err == nil && want {
				err = tr.Checkpoint(dir, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			loaded, _, exported, err := LoadFloat(path, n)
			if err != nil || exported != want || loaded.cfg.Quantise || loaded.core.quantised {
				t.Errorf("quantise %t: found an export %t, error %v, expected %t and a net that does not round", quantise, exported, err, want)
			}
		}
	}
}
