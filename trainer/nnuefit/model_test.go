package nnuefit

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

var testHyper = trainer.Hyper{LearningRate: 1e-3, Lambda: 0.5}

// randomSamples plays random games and labels their positions by material: the
// score is the balance with pieces in hand counted, the result is drawn by the
// chance that the balance gives.
func randomSamples(seed uint64, n int) []sample.Sample {
	rng := rand.New(rand.NewPCG(seed, 99))
	out := make([]sample.Sample, 0, n)
	var moves chess.MoveList
	for {
		p := chess.Crazyhouse.Start()
		for ply := range 80 {
			moves.N = 0
			p.Legal(&moves)
			if moves.N == 0 {
				break
			}
			p.Make(moves.Moves[rng.IntN(moves.N)])
			if ply < 6 || rng.IntN(3) > 0 {
				continue
			}
			score := balance(&p)
			s := sample.Sample{Pos: p, Score: search.Score(score), Ply: uint16(ply), Result: -1}
			if rng.Float64() < logistic.Sigmoid(float64(score)/200) {
				s.Result = 1
			}
			if out = append(out, s); len(out) == n {
				return out
			}
		}
	}
}

// balance is the material of the side to move less its opponent's, centipawns.
func balance(p *chess.Position) int {
	sum := 0
	us := p.SideToMove()
	for t, value := range [5]int{100, 300, 300, 450, 900} {
		kind := chess.PieceType(t)
		sum += value * (p.Pieces(us, kind).Count() - p.Pieces(us.Other(), kind).Count())
		sum += value * (p.Hand(us).Count(kind) - p.Hand(us.Other()).Count(kind))
	}
	return sum
}

func newModel(t testing.TB, arch nnue.Architecture, seed uint64) *Model {
	t.Helper()
	m, err := New(arch, testConfig(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fit(t testing.TB, m *Model, samples []sample.Sample, batch, steps int) {
	t.Helper()
	for i := range steps {
		at := i * batch % (len(samples) - batch + 1)
		if _, err := m.Fit(samples[at:at+batch], testHyper); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nnue.Narrow(33), testConfig(), 1); !errors.Is(err, nnue.ErrArchitecture) {
		t.Errorf("width 33: %v", err)
	}
	for _, spoil := range []func(*Config){
		func(c *Config) { c.NetScale = 0 },
		func(c *Config) { c.ScoreScale = math.NaN() },
		func(c *Config) { c.ScoreOffset = math.Inf(1) },
		func(c *Config) { c.Power = 1 },
		func(c *Config) { c.Beta1 = 1 },
		func(c *Config) { c.Beta2 = 0.5 },
		func(c *Config) { c.WeightDecay = -1 },
		func(c *Config) { c.HiddenLimit = 2 },
		func(c *Config) { c.OutputLimit = -1 },
		func(c *Config) { c.GradientNorm = math.NaN() },
		func(c *Config) { c.Momentum = 1 },
		func(c *Config) { c.LambdaBeyond = 1.5 },
		func(c *Config) { c.Optimiser = "adagrad" },
		func(c *Config) { c.Loss = "" },
		func(c *Config) { c.PSQTStart = "material" },
		func(c *Config) { c.Workers = 0 },
	} {
		cfg := testConfig()
		spoil(&cfg)
		if _, err := New(nnue.Narrow(32), cfg, 1); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 1)
	samples := randomSamples(1, 4)
	for _, h := range []trainer.Hyper{{LearningRate: -1}, {LearningRate: math.NaN()}, {LearningRate: 1e-3, Lambda: 1.5}} {
		if _, err := m.Fit(samples, h); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	if _, err := m.Fit(nil, testHyper); !errors.Is(err, trainer.ErrConfig) {
		t.Errorf("empty batch: %v", err)
	}
}

// TestStartsAsMaterial checks the meaning of PSQT, perspective and unit: before
// any training, taking away the layers, the net counts pieces.
func TestStartsAsMaterial(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 1)
	l := m.core.layout
	clear(l.allW3(m.core.dense.w))
	m.core.startMean(m.cfg.MeanDecay)
	for fen, want := range map[string]float64{
		"4k3/8/8/8/8/8/8/R3K3[] w - - 0 1":      1276,
		"4k3/8/8/8/8/8/8/R3K3[] b - - 0 1":      -1276,
		"4k3/8/8/8/8/8/8/4K3[QQpn] w - - 0 1":   2*2538 - 126 - 781,
		"4k3/b7/8/8/8/8/8/4K3[PPP] b - - 0 1":   825 - 3*126,
		"4k3/8/8/8/8/8/8/4K2Q~[] w - - 0 1":     2538,
		"4k3/8/8/8/8/8/8/4K3[NNrrrr] b - - 0 1": 4*1276 - 2*781,
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Evaluate(&p); math.Abs(got-want) > 0.01 {
			t.Errorf("%s: %g raw units, want %g", fen, got, want)
		}
	}
}

// TestLearnsMaterial trains on scores alone, from PSQT weights that know nothing.
func TestLearnsMaterial(t *testing.T) {
	samples := randomSamples(2, 16000)
	train, held := samples[:15000], samples[15000:]
	cfg := testConfig()
	cfg.PSQTStart = StartZero
	m, err := New(nnue.Narrow(32), cfg, 2)
	if err != nil {
		t.Fatal(err)
	}
	scores := trainer.Hyper{LearningRate: 3e-3, Lambda: 1}
	before, err := m.Loss(held, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		at := i % 30 * 500
		if _, err := m.Fit(train[at:at+500], scores); err != nil {
			t.Fatal(err)
		}
	}
	after, err := m.Loss(held, 1)
	if err != nil {
		t.Fatal(err)
	}
	if after.Mean > before.Mean/3 || after.Mean != after.Score {
		t.Errorf("held-out loss %+v after training, %+v before", after, before)
	}
	if after.SignAccuracy < 0.75 || after.Positions != len(held) || after.Decided != len(held) {
		t.Errorf("after training: %+v", after)
	}
}

func TestLossOfKnownTargets(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 3)
	s := randomSamples(3, 1)
	s[0].Score, s[0].Result = 0, 1
	l, err := m.Loss(s, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	q := logistic.Sigmoid(m.Evaluate(&s[0].Pos) / m.cfg.NetScale)
	at := func(target float64) float64 { return math.Pow(math.Abs(q-target), m.cfg.Power) }
	for _, c := range []struct{ got, want float64 }{
		{l.Score, at(0.5)}, {l.Result, at(1)}, {l.Mean, at(0.25*0.5 + 0.75)},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("loss %g, want %g", c.got, c.want)
		}
	}
}

func TestReadingChangesNothing(t *testing.T) {
	samples := randomSamples(4, 600)
	a, b := newModel(t, nnue.Narrow(16), 4), newModel(t, nnue.Narrow(16), 4)
	fit(t, a, samples, 100, 5)
	fit(t, b, samples, 100, 5)
	if _, err := b.Loss(samples, 0.5); err != nil {
		t.Fatal(err)
	}
	var sink bytes.Buffer
	if _, err := b.Export(&sink, samples); err != nil {
		t.Fatal(err)
	}
	if err := b.Checkpoint(&sink); err != nil {
		t.Fatal(err)
	}
	fit(t, a, samples, 100, 5)
	fit(t, b, samples, 100, 5)
	sameBits(t, a.core, b.core)
}

// TestCheckpointIsExact trains on, across the period at which idle rows settle,
// in a model that restored a checkpoint, beside the one that wrote it.
func TestCheckpointIsExact(t *testing.T) {
	samples := randomSamples(5, 400)
	a := newModel(t, nnue.Narrow(16), 5)
	if err := errors.Join(a.SetScoreScale(300), a.SetScoreOffset(70)); err != nil {
		t.Fatal(err)
	}
	fit(t, a, samples, 8, 250)
	var file bytes.Buffer
	if err := a.Checkpoint(&file); err != nil {
		t.Fatal(err)
	}
	b := newModel(t, nnue.Narrow(16), 6)
	if err := b.Restore(&file); err != nil {
		t.Fatal(err)
	}
	if b.Steps() != 250 || b.ScoreScale() != 300 || b.ScoreOffset() != 70 {
		t.Fatalf("restored step %d, score scale %g and offset %g", b.Steps(), b.ScoreScale(), b.ScoreOffset())
	}
	fit(t, a, samples, 8, 20)
	fit(t, b, samples, 8, 20)
	sameBits(t, a.core, b.core)
	if a.core.optimiser != b.core.optimiser {
		t.Fatal("the optimisers' states differ")
	}
}

func TestRestoreRefusesDamage(t *testing.T) {
	samples := randomSamples(6, 50)
	a := newModel(t, nnue.Narrow(16), 7)
	fit(t, a, samples, 10, 3)
	var file bytes.Buffer
	if err := a.Checkpoint(&file); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	other := newModel(t, nnue.Narrow(16), 8)
	twin := newModel(t, nnue.Narrow(16), 8)
	refuse := func(what string, data []byte) {
		t.Helper()
		if err := other.Restore(bytes.NewReader(data)); !errors.Is(err, trainer.ErrCheckpoint) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for n := 0; n < len(good); n += 1 + len(good)/60 {
		refuse("cut short", good[:n])
	}
	for at := 0; at < len(good); at += 1 + len(good)/60 {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		refuse("one bit changed", bad)
	}
	refuse("longer", append(bytes.Clone(good), 0))
	sameBits(t, other.core, twin.core)

	wide := newModel(t, nnue.Narrow(32), 1)
	if err := wide.Restore(bytes.NewReader(good)); !errors.Is(err, trainer.ErrCheckpoint) {
		t.Fatalf("other width: %v", err)
	}
}

// FuzzRestore feeds damaged checkpoints. Whatever is accepted must be whole: it
// writes back to the same bytes.
func FuzzRestore(f *testing.F) {
	m := newModel(f, nnue.Narrow(16), 1)
	for _, steps := range []int{0, 1} {
		fit(f, m, randomSamples(9, 4), 4, steps)
		var file bytes.Buffer
		if err := m.Checkpoint(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
		f.Add(file.Bytes()[:100])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := m.Restore(bytes.NewReader(data)); err != nil {
			return
		}
		var again bytes.Buffer
		if err := m.Checkpoint(&again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes(), data) {
			t.Fatal("an accepted checkpoint is written back differently")
		}
	})
}
