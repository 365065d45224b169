package planesfit

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// TestExport: the exported net answers as the model does, move by move.
func TestExport(t *testing.T) {
	for _, text := range testNets {
		cfg := testConfig()
		cfg.MeanDecay = 0.5
		m := newTestModel(t, text, cfg, 1)
		stir(m, 2)
		fit(t, m, randomSamples(1, 9), 0.01)
		check := randomSamples(3, 9)
		var file bytes.Buffer
		report, err := m.Export(&file, check)
		if err != nil || report.Positions != 9 || report.MaxRaw > 1e-4 || report.MaxRaw == 0 && text == testNets[0] {
			t.Errorf("%s: %+v, error %v", text, report, err)
		}
		model, err := onnx.Decode(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if a, _, _, err := arch.Read(model); err != nil || a != m.net.arch {
			t.Errorf("%s: read back as %v, error %v", text, a, err)
		}
		compareMoves(t, m, model, check)
	}
}

// compareMoves compares the priors, values, draws and lengths of a net file with
// the model's.
func compareMoves(t *testing.T, m *Model, model *onnx.Model, check []sample.Sample) {
	t.Helper()
	runtime, err := native.New(model, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	net, err := planes.NewNet(runtime, planes.NewMeta(chess.Crazyhouse))
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	leaves := make([]search.Leaf, len(check))
	var moves chess.MoveList
	for i := range check {
		moves.N = 0
		check[i].Pos.Legal(&moves)
		leaves[i] = search.Leaf{Pos: &check[i].Pos, Repetitions: int(check[i].Repetitions), Moves: slices.Clone(moves.Moves[:moves.N])}
	}
	if err := net.Evaluate(context.Background(), leaves); err != nil {
		t.Fatal(err)
	}
	m.measure(check, 1, func(p *pass, from int) {
		for i := range p.n {
			leaf := &leaves[from+i]
			cells := p.targets.cells[p.targets.from[i]:p.targets.from[i+1]]
			logits := make([]float64, len(cells))
			for k, cell := range cells {
				logits[k] = float64(p.logits.Data[i*p.logits.Stride()+cell])
			}
			for k, q := range softmax(logits) {
				if math.Abs(q-float64(leaf.Priors[k])) > 1e-4 {
					t.Errorf("position %d, %s: prior %g, model %g", from+i, leaf.Pos.UCI(leaf.Moves[k]), leaf.Priors[k], q)
				}
			}
			if value := p.heads.result(p.net, i); math.Abs(value-float64(leaf.Value)) > 1e-4 {
				t.Errorf("position %d: value %g, model %g", from+i, leaf.Value, value)
			}
			if p.net.plies != nil {
				if q := logistic.Sigmoid(float64(p.heads.plies[i])) * planes.PliesScale; math.Abs(q-float64(leaf.PliesLeft)) > 1e-2 {
					t.Errorf("position %d: plies left %g, model %g", from+i, leaf.PliesLeft, q)
				}
			}
		}
	})
}

func TestFitRefuses(t *testing.T) {
	m := newTestModel(t, testNets[0], testConfig(), 1)
	good := randomSamples(1, 4)
	for name, call := range map[string]func() error{
		"empty batch": func() error { _, err := m.Fit(nil, trainer.Hyper{}); return err },
		"rate":        func() error { _, err := m.Fit(good, trainer.Hyper{LearningRate: -1}); return err },
		"lambda":      func() error { _, err := m.Fit(good, trainer.Hyper{Lambda: 2}); return err },
		"scale":       func() error { return m.SetScoreScale(0) },
		"optimiser":   func() error { c := testConfig(); c.Optimiser = "x"; return c.Validate() },
		"part":        func() error { c := testConfig(); c.Part = 0; return c.Validate() },
	} {
		if err := call(); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%s: error %v, want trainer.ErrConfig", name, err)
		}
	}
	if _, err := New(arch.Architecture{}, chess.Crazyhouse, testConfig(), 1); !errors.Is(err, arch.ErrArchitecture) {
		t.Errorf("error %v, want ErrArchitecture", err)
	}
	before := bits(m)
	m.net.params.tensors[0].Data[0] = float32(math.NaN())
	before[0] = float32(math.NaN())
	if _, err := m.Fit(good, trainer.Hyper{LearningRate: 0.1}); !errors.Is(err, trainer.ErrDiverged) {
		t.Errorf("error %v, want trainer.ErrDiverged", err)
	}
	if _, err := m.Loss(good, 1); !errors.Is(err, trainer.ErrDiverged) {
		t.Errorf("error %v, want trainer.ErrDiverged", err)
	}
	m.net.params.tensors[0].Data[0], before[0] = 0, 0
	sameBits(t, "after divergence", bits(m), before)
}

// TestSampleWeights: the weights of a batch are 1 on average.
func TestSampleWeights(t *testing.T) {
	samples := randomSamples(1, 20)
	samples[0].Policy = &sample.Policy{Surprise: float32(math.NaN())}
	weights := make([]float64, 20)
	for _, share := range []float64{0, 0.5, 1} {
		sampleWeights(weights, samples, share)
		sum := 0.0
		for i, w := range weights {
			sum += w / 20
			if surprise(&samples[i]) == 0 && w != 1-share {
				t.Errorf("share %g: weight %g without surprise", share, w)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("share %g: mean weight %g", share, sum)
		}
	}
	for i := range samples {
		samples[i].Policy = nil
	}
	if sampleWeights(weights, samples, 0.5); slices.Max(weights) != 1 || slices.Min(weights) != 1 {
		t.Errorf("weights %v, want ones", weights)
	}
}
