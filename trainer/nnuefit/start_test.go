package nnuefit

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// featureModel returns a fresh model of a set of features.
func featureModel(t *testing.T, features string, start PSQTStart, factorise bool, seed uint64) *Model {
	t.Helper()
	arch := nnue.Narrow(16)
	arch.Features = features
	cfg := testConfig()
	cfg.PSQTStart, cfg.Factorise = start, factorise
	m, err := New(arch, cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// psqtSums returns the sums of the PSQT columns of a position, factoriser
// included, in raw units.
func psqtSums(m *Model, p *chess.Position, perspective chess.Color) []float64 {
	c, sums := m.core, make([]float64, m.arch.PSQT)
	for _, f := range m.set.Active(p, perspective, nil) {
		row := c.rows.row(int(f)).w[c.width:]
		for b := range sums {
			sums[b] += float64(row[b])
			if c.virtual > 0 {
				sums[b] += float64(c.virtualRows.row(int(c.toVirtual[f])).w[c.width+b])
			}
		}
	}
	for b := range sums {
		sums[b] *= m.core.scales.unit
	}
	return sums
}

// rawBalance is a position's material in raw units.
func rawBalance(p *chess.Position, perspective chess.Color) float64 {
	sum := 0.0
	for t := range chess.King {
		other := perspective.Other()
		own := p.Pieces(perspective, t).Count() + p.Hand(perspective).Count(t)
		enemy := p.Pieces(other, t).Count() + p.Hand(other).Count(t)
		sum += float64(nnue.PieceValue(t)) * float64(own-enemy)
	}
	return sum
}

// TestEqualStarts: fresh nets of all sets that name every piece have the same
// PSQT output, the material, for both perspectives and all stacks, with a
// factoriser and without; with StartZero they have none.
func TestEqualStarts(t *testing.T) {
	samples := randomSamples(50, 40)
	for _, features := range []string{
		"HalfKAv2", "King * (All + Hand)", "King * (P + Hand)", "(All + Hand) * King", "All + Hand", "P + Hand",
		"All + HandExact", "All + HandCapped", "All + PH + Hand", "HalfKP + Hand", "KingAll + King * Hand",
		"All + HalfKAv2", "HalfKAv2 + All + Hand", "All + HandHeld + Hand + Promoted",
	} {
		for _, factorise := range []bool{true, false} {
			m, zero := featureModel(t, features, StartPieces, factorise, 1), featureModel(t, features, StartZero, factorise, 1)
			for i := range samples {
				p := &samples[i].Pos
				for _, c := range []chess.Color{chess.White, chess.Black} {
					want := rawBalance(p, c)
					for b, got := range psqtSums(m, p, c) {
						if math.Abs(got-want) > 0.01 {
							t.Fatalf("%s, %s, perspective %v, stack %d: PSQT %f, want %f", features, p.FEN(), c, b, got, want)
						}
					}
					for b, got := range psqtSums(zero, p, c) {
						if got != 0 {
							t.Fatalf("%s from zero, stack %d: PSQT %f, want 0", features, b, got)
						}
					}
				}
			}
			if m.PSQTStart() != StartPieces || zero.PSQTStart() != StartZero {
				t.Errorf("%s: began with %q and %q", features, m.PSQTStart(), zero.PSQTStart())
			}
		}
	}
}

// TestTwinSets trains two names of one class of functions, HalfKAv2 and
// King * (All + Hand), on the same samples: the same seed gives them the same
// net, and their losses stay alike. They differ only in the own king's row, of
// which one learns it in two places.
func TestTwinSets(t *testing.T) {
	samples := randomSamples(51, 600)
	for _, start := range PSQTStarts() {
		a := featureModel(t, "HalfKAv2", start, true, 3)
		b := featureModel(t, "King * (All + Hand)", start, true, 3)
		if n := a.core.virtual; n != b.core.virtual {
			t.Fatalf("%d and %d virtual rows", n, b.core.virtual)
		}
		for step := range 8 {
			batch := samples[step*75:][:75]
			loss, err := a.Fit(batch, testHyper)
			if err != nil {
				t.Fatal(err)
			}
			twin, err := b.Fit(batch, testHyper)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(loss-twin) > 1e-5*loss {
				t.Fatalf("start %s, step %d: losses %.9f and %.9f", start, step, loss, twin)
			}
		}
	}
}

// TestPSQTStartOfCheckpoint: a checkpoint carries how the rows not yet touched
// began, whatever the model that restores it was made with.
func TestPSQTStartOfCheckpoint(t *testing.T) {
	samples := randomSamples(52, 300)
	for _, start := range PSQTStarts() {
		m := featureModel(t, "King * (All + Hand)", start, true, 1)
		fit(t, m, samples, 50, 2)
		var saved bytes.Buffer
		if err := m.Checkpoint(&saved); err != nil {
			t.Fatal(err)
		}
		for _, other := range PSQTStarts() {
			again := featureModel(t, "King * (All + Hand)", other, true, 2)
			if err := again.Restore(bytes.NewReader(saved.Bytes())); err != nil {
				t.Fatal(err)
			}
			if again.PSQTStart() != start {
				t.Errorf("restored a checkpoint of start %s as %q", start, again.PSQTStart())
			}
			sameBits(t, m.core, again.core)
			var written bytes.Buffer
			if err := again.Checkpoint(&written); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(saved.Bytes(), written.Bytes()) {
				t.Error("a restored checkpoint is written differently")
			}
		}
	}
}

// TestPSQTStartOfOldCheckpoint: before version 4 HalfKAv2 began at the piece
// values, every other set at zero.
func TestPSQTStartOfOldCheckpoint(t *testing.T) {
	for features, want := range map[string]PSQTStart{"HalfKAv2": StartPieces, "King * (All + Hand)": StartZero} {
		m := featureModel(t, features, want, true, 1)
		fit(t, m, randomSamples(53, 60), 30, 2)
		var saved bytes.Buffer
		if err := m.Checkpoint(&saved); err != nil {
			t.Fatal(err)
		}
		again := featureModel(t, features, StartPieces, true, 2)
		if err := again.Restore(bytes.NewReader(asVersion3(m, saved.Bytes()))); err != nil {
			t.Fatal(err)
		}
		if again.PSQTStart() != want {
			t.Errorf("%s: an old checkpoint began with %q, want %q", features, again.PSQTStart(), want)
		}
		sameBits(t, m.core, again.core)
	}
}

// asVersion3 rewrites a checkpoint as version 3 had it.
func asVersion3(m *Model, data []byte) []byte {
	version := len(checkpointMagic)
	start := version + 4 + 4*len(m.sizes()) + 4 + len(m.arch.String()) + 4
	old := append([]byte(nil), data[:start]...)
	binary.LittleEndian.PutUint32(old[version:], 3)
	old = append(old, data[start+4:start+12]...) // the score scale, but not the offset after it
	old = append(old, data[start+20:len(data)-4]...)
	return binary.LittleEndian.AppendUint32(old, crc32.Checksum(old, castagnoli))
}

// TestPSQTStartOfLoaded: a net from a file began elsewhere, and one without PSQT
// columns nowhere.
func TestPSQTStartOfLoaded(t *testing.T) {
	m := featureModel(t, "HalfKAv2", StartPieces, true, 1)
	n, err := m.Network()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Load(n); err != nil || m.PSQTStart() != "" {
		t.Errorf("a loaded net began with %q (%v), want nothing", m.PSQTStart(), err)
	}
	if _, err := m.Fit(randomSamples(54, 30), trainer.Hyper{LearningRate: 1e-3}); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := m.Checkpoint(&saved); err != nil {
		t.Fatal(err)
	}
	again := featureModel(t, "HalfKAv2", StartZero, true, 1)
	if err := again.Restore(&saved); err != nil || again.PSQTStart() != "" {
		t.Errorf("restored as %q (%v), want nothing", again.PSQTStart(), err)
	}
	sameBits(t, m.core, again.core)
	arch := nnue.Narrow(16)
	arch.PSQT = 0
	if m := newModel(t, arch, 1); m.PSQTStart() != "" {
		t.Errorf("a net without PSQT began with %q", m.PSQTStart())
	}
}
