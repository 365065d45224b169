package nnuefit

import (
	"bytes"
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
)

// written is a network's file.
func written(t *testing.T, n *nnue.Network) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := n.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestLoad goes from integers to floats and back, for every kind of net, and
// learns on, from a checkpoint too.
func TestLoad(t *testing.T) {
	for name, arch := range architectures() {
		t.Run(name, func(t *testing.T) {
			samples := randomSamples(60, 300)
			if arch.Variant == "chess" {
				samples = chessSamples(60, 300)
			}
			trained := newModel(t, arch, 1)
			fit(t, trained, samples, 100, 5)
			want, err := trained.Network()
			if err != nil {
				t.Fatal(err)
			}
			m, twin := newModel(t, arch, 2), newModel(t, arch, 3)
			if cut, err := m.Load(want); err != nil || cut != 0 {
				t.Fatalf("%d cut, error %v", cut, err)
			}
			got, err := m.Network()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(written(t, got), written(t, want)) {
				t.Error("another network comes back")
			}
			var saved bytes.Buffer
			if err := m.Checkpoint(&saved); err != nil {
				t.Fatal(err)
			}
			if err := twin.Restore(&saved); err != nil {
				t.Fatal(err)
			}
			fit(t, m, samples, 100, 3)
			fit(t, twin, samples, 100, 3)
			sameBits(t, m.core, twin.core)
		})
	}
}

func TestLoadCutsAndRefuses(t *testing.T) {
	arch := nnue.Narrow(16)
	m := newModel(t, arch, 1)
	n, err := m.Network()
	if err != nil {
		t.Fatal(err)
	}
	limit := m.core.limits.transformer * 127
	n.FTRow(5)[3] = int16(limit) + 1
	if cut, err := m.Load(n); err != nil || cut != 1 {
		t.Errorf("%d cut, error %v, want 1", cut, err)
	}
	if back, err := m.Network(); err != nil || back.FTRow(5)[3] != int16(limit) {
		t.Errorf("%d comes back, error %v, want %g", back.FTRow(5)[3], err, limit)
	}
	other, err := nnuetest.Random(nnue.Narrow(32), 1)
	if err != nil {
		t.Fatal(err)
	}
	before := m.core
	if _, err := m.Load(other); !errors.Is(err, nnue.ErrArchitecture) || m.core != before {
		t.Errorf("another architecture: error %v", err)
	}
}
