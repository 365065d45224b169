package nnuefit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// architectures are one of every kind that nnue can evaluate.
func architectures() map[string]nnue.Architecture {
	change := func(f func(a *nnue.Architecture)) nnue.Architecture {
		a := nnue.Narrow(16)
		f(&a)
		return a
	}
	// single makes it a net of one stack without PSQT.
	single := func(a *nnue.Architecture, features string) {
		a.Features, a.PSQT, a.Stacks, a.Buckets = features, 0, 1, nnue.BoardPieces
	}
	halfKP := nnue.HalfKP()
	halfKP.Width = 16
	return map[string]nnue.Architecture{
		"HalfKAv2":        nnue.Narrow(16),
		"chess HalfKAv2":  change(func(a *nnue.Architecture) { a.Variant, a.Buckets = "chess", nnue.BoardPieces }),
		"HalfKP":          halfKP,
		"All + Hand":      change(func(a *nnue.Architecture) { single(a, "All + Hand") }),
		"to the output":   change(func(a *nnue.Architecture) { single(a, "All + Hand"); a.L2, a.L3 = 0, 0 }),
		"one layer":       change(func(a *nnue.Architecture) { single(a, "All + Hand"); a.L3 = 0 }),
		"squared":         change(func(a *nnue.Architecture) { a.Activation = nnue.SCReLU }),
		"pairs":           change(func(a *nnue.Architecture) { a.Activation, a.Width = nnue.Pairwise, 32 }),
		"threats":         change(func(a *nnue.Architecture) { a.Features = "All + Hand + DropCheckSquares + DropZone + Threats" }),
		"blocks and PSQT": change(func(a *nnue.Architecture) { a.Features = "All + H + PH + Hand + DropChecks" }),
		"King × All":      change(func(a *nnue.Architecture) { a.Features = "King * All + Hand" }),
		"King-All":        change(func(a *nnue.Architecture) { a.Features = "King * All" }),
		"scales":          change(func(a *nnue.Architecture) { a.LayerScale, a.OutputScale, a.Units = 32, 8, 400 }),
	}
}

// chessSamples are randomSamples of plain chess.
func chessSamples(seed uint64, n int) []sample.Sample {
	rng := rand.New(rand.NewPCG(seed, 98))
	out := make([]sample.Sample, 0, n)
	var moves chess.MoveList
	for len(out) < n {
		p := chess.Chess.Start()
		for range 50 {
			moves.N = 0
			if p.Legal(&moves); moves.N == 0 {
				break
			}
			p.Make(moves.Moves[rng.IntN(moves.N)])
			score := balance(&p)
			out = append(out, sample.Sample{Pos: p, Score: search.Score(score), Result: int8(min(max(score, -1), 1))})
		}
	}
	return out[:n]
}

// TestArchitectures trains every kind of net: it must memorise some positions, its
// integer net must say what the float net says, and its checkpoint must go on alike.
func TestArchitectures(t *testing.T) {
	for name, arch := range architectures() {
		t.Run(name, func(t *testing.T) {
			samples := randomSamples(40, 600)
			if arch.Variant == "chess" {
				samples = chessSamples(40, 600)
			}
			cfg := testConfig()
			cfg.MeanDecay = 0
			m, err := New(arch, cfg, 1)
			if err != nil {
				t.Fatal(err)
			}
			known, check := samples[:300], samples[300:]
			before, err := m.Loss(known, testHyper.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				if _, err := m.Fit(known, trainer.Hyper{LearningRate: 3e-3, Lambda: testHyper.Lambda}); err != nil {
					t.Fatal(err)
				}
			}
			after, err := m.Loss(known, testHyper.Lambda)
			if err != nil {
				t.Fatal(err)
			}
			if !(after.Mean < 0.7*before.Mean) {
				t.Errorf("loss %.4f after training on 300 positions, from %.4f", after.Mean, before.Mean)
			}
			report, err := m.Export(&bytes.Buffer{}, check)
			if err != nil {
				t.Fatal(err)
			}
			if report.MeanWin > 0.02 || report.MaxWin > 0.1 {
				t.Errorf("integer net differs by %.4f in win probability on average, %.4f at most", report.MeanWin, report.MaxWin)
			}
			var saved bytes.Buffer
			if err := m.Checkpoint(&saved); err != nil {
				t.Fatal(err)
			}
			again, err := New(arch, cfg, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Restore(&saved); err != nil {
				t.Fatal(err)
			}
			fit(t, m, samples, 300, 3)
			fit(t, again, samples, 300, 3)
			sameBits(t, m.core, again.core)
		})
	}
}

// TestWithoutFactoriser trains HalfKAv2 with no virtual rows.
func TestWithoutFactoriser(t *testing.T) {
	cfg := testConfig()
	cfg.Factorise = false
	m, err := New(nnue.Narrow(16), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := m.core.virtual; n != 0 {
		t.Errorf("%d virtual rows", n)
	}
	fit(t, m, randomSamples(41, 500), 250, 4)
	var saved bytes.Buffer
	if err := m.Checkpoint(&saved); err != nil {
		t.Fatal(err)
	}
	if err := newModel(t, nnue.Narrow(16), 1).Restore(&saved); !errors.Is(err, trainer.ErrCheckpoint) {
		t.Errorf("a checkpoint without factoriser into a model with one: %v", err)
	}
}

// In a sum with king squares the rows that differ in the own king's place only share
// a virtual row, and every other row has one of its own.
func TestFactoriserOfSums(t *testing.T) {
	size := func(expression string) int { return parsed(t, expression).Size() }
	for _, c := range []struct {
		features string
		shared   []int // rows with each virtual row, summand by summand
		virtual  []int // virtual rows of each summand
	}{
		{"All + Hand", nil, nil},
		{"King * All", []int{64}, []int{64 * 12}},
		{"Threats + KingZone * (All + Hand)", []int{1, 12}, []int{size("Threats"), size("All + Hand")}},
		{"King * Hand + All + KingZone * Hand", []int{64, 1, 12}, []int{size("Hand"), size("All"), size("Hand")}},
		{"HalfKAv2 + DropZone", []int{0, 1}, []int{928, size("DropZone")}},
	} {
		set := parsed(t, c.features)
		virtual, of := factoriser(set)
		rows := make([]int, virtual)
		for _, v := range of {
			rows[v]++
		}
		at := 0
		for i, n := range c.virtual {
			for v := at; v < at+n && v < virtual; v++ {
				if c.shared[i] > 0 && rows[v] != c.shared[i] || rows[v] == 0 {
					t.Fatalf("%s: %d rows share virtual row %d, expected %d", c.features, rows[v], v, c.shared[i])
				}
			}
			at += n
		}
		if virtual != at || at > 0 && len(of) != set.Size() {
			t.Errorf("%s: %d virtual rows, expected %d", c.features, virtual, at)
		}
	}
}

func parsed(t *testing.T, expression string) features.Set {
	t.Helper()
	set, err := features.Parse(expression, chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Training of a sum that began before sums had factorisers goes on without one.
func TestRestoreSumWithoutFactoriser(t *testing.T) {
	arch := architectures()["King × All"]
	cfg := testConfig()
	cfg.Factorise = false
	samples := randomSamples(41, 300)
	old, err := New(arch, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	fit(t, old, samples, 100, 3)
	var saved bytes.Buffer
	if err := old.Checkpoint(&saved); err != nil {
		t.Fatal(err)
	}
	m := newModel(t, arch, 2)
	if m.core.virtual == 0 {
		t.Fatal("a new model has no virtual rows")
	}
	if err := m.Restore(&saved); err != nil {
		t.Fatal(err)
	}
	fit(t, old, samples, 100, 3)
	fit(t, m, samples, 100, 3)
	sameBits(t, old.core, m.core)
}
