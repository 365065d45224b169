package planesfit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// randomSamples are positions of random games, with everything that a sample may
// have, some without it.
func randomSamples(seed uint64, n int) []sample.Sample {
	rng := rand.New(rand.NewPCG(seed, 0))
	var samples []sample.Sample
	var moves chess.MoveList
	for len(samples) < n {
		p := chess.Crazyhouse.Start()
		for range 60 {
			moves.N = 0
			if p.Legal(&moves); moves.N == 0 || len(samples) == n {
				break
			}
			legal := moves.Moves[:moves.N]
			s := sample.Sample{
				Pos: p, Move: legal[rng.IntN(len(legal))], Score: search.Score(rng.IntN(1200) - 600), Result: int8(rng.IntN(3) - 1),
				PliesLeft: uint16(rng.IntN(150)), Repetitions: uint8(rng.IntN(3)),
			}
			switch rng.IntN(4) {
			case 0:
				s.Partial = true
			case 1, 2:
				s.Policy = &sample.Policy{Surprise: rng.Float32()}
				for range 1 + rng.IntN(4) {
					s.Policy.Moves = append(s.Policy.Moves, sample.MoveWeight{Move: legal[rng.IntN(len(legal))], Weight: uint16(rng.IntN(50))})
				}
				dropTwins(s.Policy)
			}
			samples = append(samples, s)
			p.Make(legal[rng.IntN(len(legal))])
		}
	}
	rng.Shuffle(n, func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	return samples
}

// dropTwins leaves the first entry of every move.
func dropTwins(p *sample.Policy) {
	seen := map[chess.Move]bool{}
	var once []sample.MoveWeight
	for _, m := range p.Moves {
		if !seen[m.Move] {
			once = append(once, m)
		}
		seen[m.Move] = true
	}
	p.Moves = once
}

func testConfig() Config {
	cfg := DefaultConfig()
	cfg.Part, cfg.Workers, cfg.PliesWeight, cfg.SurpriseShare = 4, 2, 0.3, 0.5
	return cfg
}

func newTestModel(t testing.TB, text string, cfg Config, seed uint64) *Model {
	t.Helper()
	a, err := arch.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(a, chess.Crazyhouse, cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stir gives every parameter a value that matters.
func stir(m *Model, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, p := range m.net.params.tensors {
		for i := range p.Data {
			switch p.Role {
			case arch.Bias, arch.Mean:
				p.Data[i] = float32(rng.NormFloat64()) * 0.2
			case arch.Scale, arch.Variance:
				p.Data[i] = 0.6 + 0.8*rng.Float32()
			}
		}
	}
	for _, name := range []string{"policy.conv2.weight", "value.out.weight", "wdl.weight", "plies.weight"} {
		for i, v := range m.net.params.tensors.Data(name) {
			m.net.params.tensors.Data(name)[i] = 8 * v
		}
	}
	if m.mean != nil {
		copy(m.mean, m.net.params.all)
	}
}

// testNets have every kind of layer, channels that need padding and channels that
// need none.
var testNets = []string{
	"residual 1x16 policy=1 value=3/8 heads=wdl,plies",
	"residual 2x6 gates=1/3 policy=3 value=2/0 heads=value",
	"mobile 2x6 expansion=6+15 gates=1/2 policy=1 value=2/5 heads=wdl,plies",
}

// TestLossIsTwins compares the training loss with the twin's.
func TestLossIsTwins(t *testing.T) {
	for _, text := range testNets {
		m := newTestModel(t, text, testConfig(), 1)
		stir(m, 2)
		samples, tw := randomSamples(3, 7), newTwin(m)
		got, want := m.differentiate(samples, 0.6).loss, tw.loss(samples, m.cfg, 0.6)
		if math.Abs(got-want) > 1e-5*want {
			t.Errorf("%s: loss %g, twin %g", text, got, want)
		}
		tw.training = false
		m.cfg.SurpriseShare = 0
		l, err := m.Loss(samples, 0.6)
		if want := tw.loss(samples, m.cfg, 0.6); err != nil || math.Abs(l.Mean-want) > 1e-5*want {
			t.Errorf("%s: measured %g, twin %g, error %v", text, l.Mean, want, err)
		}
	}
}

// TestGradient compares derivatives with difference quotients of the twin's loss,
// for some parameters of every tensor.
func TestGradient(t *testing.T) {
	const step = 1e-6 // no rectifier should turn within it
	cfg := testConfig()
	cfg.Part = 2
	nets := testNets
	if testing.Short() {
		nets = nets[:1]
	}
	for k, text := range nets {
		m := newTestModel(t, text, cfg, 4)
		stir(m, 5)
		samples, tw := randomSamples(uint64(6+k), 3), newTwin(m)
		m.differentiate(samples, 0.6)
		rng := rand.New(rand.NewPCG(7, 8))
		for _, tensor := range m.net.params.tensors {
			if !tensor.Role.Trained() {
				continue
			}
			gradient, scale := m.net.params.spans[tensor.Name].of(m.gradient), 0.0
			for _, g := range gradient {
				scale = max(scale, math.Abs(float64(g)))
			}
			if scale == 0 {
				t.Errorf("%s: %s has no derivatives", text, tensor.Name)
			}
			for range min(2, len(gradient)/512+1) {
				i := rng.IntN(len(gradient))
				x := &tw.tensors[tensor.Name][i]
				at := *x
				*x = at + step
				quotient := tw.loss(samples, cfg, 0.6)
				*x = at - step
				quotient = (quotient - tw.loss(samples, cfg, 0.6)) / (2 * step)
				*x = at
				if d := math.Abs(float64(gradient[i]) - quotient); d > 1e-4*scale+1e-6 {
					t.Errorf("%s: %s[%d]: derivative %g, difference quotient %g, largest %g", text, tensor.Name, i, gradient[i], quotient, scale)
				}
			}
		}
	}
}

func fit(t testing.TB, m *Model, batch []sample.Sample, rate float64) float64 {
	t.Helper()
	loss, err := m.Fit(batch, trainer.Hyper{LearningRate: rate, Lambda: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// TestLearnsByHeart: a net learns the moves and results of a few positions.
func TestLearnsByHeart(t *testing.T) {
	for _, o := range Optimisers() {
		cfg := testConfig()
		cfg.Optimiser, cfg.Part, cfg.WeightDecay = o, 16, 0
		rate := map[trainer.Optimiser]float64{trainer.SGD: 0.05, trainer.AdamW: 0.01}[o]
		m := newTestModel(t, testNets[0], cfg, 1)
		samples := randomSamples(9, 16)
		for i := range samples {
			samples[i].Policy, samples[i].Partial = nil, false
			samples[i].Score = search.Score(1000 * int(samples[i].Result))
		}
		first := fit(t, m, samples, rate)
		for range 120 {
			fit(t, m, samples, rate)
		}
		l, err := m.Loss(samples, 0.5)
		if err != nil || l.Moves != 16 || l.MoveAccuracy < 0.9 || l.SignAccuracy < 0.9 || l.Mean > first/4 {
			t.Errorf("%s: loss %g at first, then %+v, error %v", o, first, l, err)
		}
	}
}

// bits is everything that a step changes.
func bits(m *Model) []float32 {
	var all []float32
	for _, x := range [][]float32{m.net.params.all, m.first, m.second, m.mean} {
		all = append(all, x...)
	}
	return all
}

func sameBits(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func TestWorkersDoNotChangeBits(t *testing.T) {
	for _, text := range testNets {
		var want []float32
		for _, workers := range []int{1, 2, 5} {
			cfg := testConfig()
			cfg.Workers, cfg.MeanDecay = workers, 0.9
			m := newTestModel(t, text, cfg, 1)
			for i := range 3 {
				fit(t, m, randomSamples(uint64(i), 71), 0.02)
				if _, err := m.Loss(randomSamples(9, 5), 0.5); err != nil { // changes nothing
					t.Fatal(err)
				}
			}
			if want == nil {
				want = bits(m)
			}
			sameBits(t, text, bits(m), want)
		}
	}
}

// TestRunning: running means and variances approach those of the data, and the net
// then measures like one that normalises by the batch.
func TestRunning(t *testing.T) {
	cfg := testConfig()
	cfg.Part, cfg.NormMomentum, cfg.SurpriseShare = 64, 0.5, 0
	m := newTestModel(t, testNets[0], cfg, 1)
	samples := randomSamples(1, 40)
	var loss float64
	for range 40 {
		loss = fit(t, m, samples, 0)
	}
	l, err := m.Loss(samples, 0.5)
	if err != nil || math.Abs(l.Mean-loss) > 1e-4*loss {
		t.Errorf("measured %g, in training %g, error %v", l.Mean, loss, err)
	}
}

func TestMomentum(t *testing.T) {
	m := &Model{cfg: DefaultConfig()}
	for _, tc := range []struct{ peak, rate, want float64 }{{0, 0.1, 0.95}, {0.1, 0, 0.95}, {0.1, 0.05, 0.875}, {0.1, 0.1, 0.8}, {0.1, 0.2, 0.8}} {
		m.cfg.PeakRate = tc.peak
		if got := m.momentum(tc.rate); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("peak %g, rate %g: momentum %g, want %g", tc.peak, tc.rate, got, tc.want)
		}
	}
}
