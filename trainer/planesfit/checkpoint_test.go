package planesfit

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

func checkpointOf(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Checkpoint(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func restored(t testing.TB, text string, cfg Config, checkpoint []byte) *Model {
	t.Helper()
	m := newTestModel(t, text, cfg, 99)
	if err := m.Restore(bytes.NewReader(checkpoint)); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestResume: k steps, a checkpoint and n−k more give the bits of n steps.
func TestResume(t *testing.T) {
	for _, o := range Optimisers() {
		for _, decay := range []float64{0, 0.9} {
			cfg := testConfig()
			cfg.Optimiser, cfg.MeanDecay = o, decay
			m := newTestModel(t, testNets[2], cfg, 1)
			if err := m.SetScoreScale(300); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				fit(t, m, randomSamples(uint64(i), 9), 0.02)
			}
			again := restored(t, testNets[2], cfg, checkpointOf(t, m))
			if again.ScoreScale() != 300 || again.Steps() != 2 {
				t.Errorf("scale %g after %d steps", again.ScoreScale(), again.Steps())
			}
			for i := range 2 {
				fit(t, m, randomSamples(uint64(i+9), 9), 0.02)
				fit(t, again, randomSamples(uint64(i+9), 9), 0.02)
			}
			sameBits(t, string(o), bits(again), bits(m))
			if !bytes.Equal(checkpointOf(t, again), checkpointOf(t, m)) {
				t.Errorf("%s: the checkpoints differ", o)
			}
		}
	}
}

// TestRestoreOther: another optimiser begins anew at the parameters, an average too.
func TestRestoreOther(t *testing.T) {
	cfg := testConfig()
	m := newTestModel(t, testNets[0], cfg, 1)
	fit(t, m, randomSamples(1, 9), 0.02)
	cfg.Optimiser, cfg.MeanDecay = trainer.AdamW, 0.99
	other := restored(t, testNets[0], cfg, checkpointOf(t, m))
	sameBits(t, "parameters", other.net.params.all, m.net.params.all)
	sameBits(t, "average", other.mean, m.net.params.all)
	sameBits(t, "moments", other.first, make([]float32, len(other.first)))
	fit(t, other, randomSamples(1, 9), 0.002)
	cfg.MeanDecay = 0
	plain := restored(t, testNets[0], cfg, checkpointOf(t, other))
	sameBits(t, "second moments", plain.second, other.second)
}

func TestRestoreRefuses(t *testing.T) {
	cfg := testConfig()
	m := newTestModel(t, testNets[1], cfg, 1)
	good := checkpointOf(t, m)
	before := bits(m)
	refused := func(what string, b []byte) {
		if err := m.Restore(bytes.NewReader(b)); !errors.Is(err, trainer.ErrCheckpoint) {
			t.Errorf("%s: error %v, want trainer.ErrCheckpoint", what, err)
		}
		sameBits(t, what, bits(m), before)
	}
	for n := 0; n < len(good); n += 1 + n/50 {
		refused("cut off", good[:n])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := bytes.Clone(good)
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		refused("one bit turned", b)
	}
	refused("too long", append(bytes.Clone(good), 0))
	refused("far too long", make([]byte, 4*len(good)))
	refused("another architecture", checkpointOf(t, newTestModel(t, testNets[0], cfg, 1)))
}

func FuzzRestore(f *testing.F) {
	cfg := testConfig()
	f.Add(checkpointOf(f, newTestModel(f, testNets[1], cfg, 1)))
	f.Add([]byte(checkpointMagic))
	m := newTestModel(f, testNets[1], cfg, 2)
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := m.Restore(bytes.NewReader(b)); err != nil && !errors.Is(err, trainer.ErrCheckpoint) {
			t.Errorf("error %v, want trainer.ErrCheckpoint", err)
		}
	})
}
