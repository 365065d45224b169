package nnuefit

import (
	"bytes"
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

func TestExportIsClose(t *testing.T) {
	samples := randomSamples(10, 3000)
	m := newModel(t, nnue.Narrow(64), 10)
	fit(t, m, samples, 500, 100)
	var file bytes.Buffer
	r, err := m.Export(&file, samples)
	if err != nil {
		t.Fatal(err)
	}
	if r.Positions != len(samples) || r.MeanRaw > 6 || r.MaxRaw > 25 || r.MeanWin > 0.002 || r.MaxWin > 0.015 {
		t.Errorf("integer net departs too far: %+v", r)
	}
	n, err := nnue.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if n.Architecture() != m.Architecture() {
		t.Errorf("read back %v, want %v", n.Architecture(), m.Architecture())
	}
	if again := m.Compare(n, samples); again != r {
		t.Errorf("the file evaluates differently: %+v, exported %+v", again, r)
	}
}

// TestExportFairy writes the architecture that Fairy-Stockfish loads.
func TestExportFairy(t *testing.T) {
	samples := randomSamples(11, 64)
	m := newModel(t, nnue.Fairy(), 11)
	fit(t, m, samples, 64, 3)
	var file bytes.Buffer
	r, err := m.Export(&file, samples)
	if err != nil {
		t.Fatal(err)
	}
	n, err := nnue.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if again := m.Compare(n, samples); again != r || r.MaxRaw > 60 {
		t.Errorf("exported %+v, read back %+v", r, again)
	}
}

func TestExportRefusesOverflow(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 12)
	m.core.dense.w[m.core.layout.b1] = 1e6
	m.core.startMean(m.cfg.MeanDecay)
	var file bytes.Buffer
	if _, err := m.Export(&file, nil); !errors.Is(err, ErrOverflow) {
		t.Fatalf("layer bias of a million: %v", err)
	}
	if file.Len() != 0 {
		t.Fatalf("%d bytes written before the error", file.Len())
	}
}
