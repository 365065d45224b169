package trainer_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// numbered gives samples whose plies count up, marked by its name.
type numbered struct {
	name  int8
	drawn uint64
}

var errDry = errors.New("dry")

func (n *numbered) Draw(_ *rand.Rand, dst []sample.Sample) error {
	for i := range dst {
		dst[i] = sample.Sample{Result: n.name, Ply: uint16(n.drawn)}
		n.drawn++
	}
	return nil
}

func (n *numbered) HeldOut(dst []sample.Sample) []sample.Sample {
	for i := range dst {
		dst[i].Result = n.name
	}
	return dst
}

func (n *numbered) Seek(drawn uint64) error {
	n.drawn = drawn
	return nil
}

func TestMixed(t *testing.T) {
	a, b, c := &numbered{name: -1}, &numbered{name: 0}, &numbered{name: 1}
	mix := func() *trainer.Mixed {
		m, err := trainer.NewMixed([]trainer.Source{a, b, c}, []float64{2, 1, 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := mix()
	var all []sample.Sample
	for _, n := range []int{1, 2, 3, 5, 100, 1, 4096, 8001} {
		batch := make([]sample.Sample, n)
		if err := m.Draw(nil, batch); err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
	var count [3]int
	for i, s := range all {
		of := s.Result + 1
		if int(s.Ply) != count[of] {
			t.Fatalf("sample %d is %d of source %d, want %d", i, s.Ply, of, count[of])
		}
		count[of]++
	}
	for of, share := range []float64{0.5, 0.25, 0.25} {
		if want := share * float64(len(all)); float64(count[of]) < want-8 || float64(count[of]) > want+8 {
			t.Errorf("source %d gave %d of %d, want about %g", of, count[of], len(all), want)
		}
	}

	// Having sought, it draws as it would have.
	at := uint64(len(all))
	next, again := make([]sample.Sample, 50), make([]sample.Sample, 50)
	if err := m.Draw(nil, next); err != nil {
		t.Fatal(err)
	}
	m = mix()
	if err := errors.Join(m.Seek(at), m.Draw(nil, again)); err != nil {
		t.Fatal(err)
	}
	for i := range next {
		if next[i] != again[i] {
			t.Fatalf("sample %d after Seek is %d of source %d, want %d of %d", i, again[i].Ply, again[i].Result, next[i].Ply, next[i].Result)
		}
	}
	if held := m.HeldOut(make([]sample.Sample, 100)); len(held) != 100 {
		t.Errorf("%d held-out samples, want 100", len(held))
	}
	for _, w := range [][]float64{nil, {1, 2}, {1, 1, 0}, {1, 1, 1e-9}} {
		if _, err := trainer.NewMixed([]trainer.Source{a, b, c}, w); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("weights %v: error %v, want ErrConfig", w, err)
		}
	}
}

// seeking is a memorySource that goes through its samples in order.
type seeking struct {
	memorySource
	at uint64
}

func (s *seeking) Draw(_ *rand.Rand, dst []sample.Sample) error {
	for i := range dst {
		dst[i] = s.train[s.at%uint64(len(s.train))]
		s.at++
	}
	return nil
}

func (s *seeking) Seek(drawn uint64) error {
	s.at = drawn
	return nil
}

// Drawing ahead changes nothing, nor does a checkpoint amid it, of sources with
// and without a position.
func TestPrefetchAndResume(t *testing.T) {
	for name, source := range map[string]func() trainer.Source{
		"random":  func() trainer.Source { return memory(t) },
		"seeking": func() trainer.Source { return &seeking{memorySource: *memory(t)} },
	} {
		cfg := config()
		plain := newTrainer(t, source(), cfg, 1)
		want := steps(t, plain, 12)

		cfg.Prefetch = true
		dir, plainDir := t.TempDir(), t.TempDir()
		first := newTrainer(t, source(), cfg, 1)
		got := steps(t, first, 5)
		if err := errors.Join(first.Checkpoint(dir, nil), first.Close()); err != nil {
			t.Fatal(err)
		}
		if on := steps(t, first, 1); !slices.Equal(on, want[len(got):][:len(on)]) {
			t.Errorf("%s: step after Close differs", name)
		}
		second := newTrainer(t, source(), cfg, 2)
		if _, err := second.Resume(dir); err != nil {
			t.Fatal(err)
		}
		if got = append(got, steps(t, second, 7)...); !slices.Equal(got, want) {
			t.Errorf("%s: losses differ from those of drawing in step", name)
		}
		if err := errors.Join(second.Checkpoint(dir, nil), plain.Checkpoint(plainDir, nil)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(checkpointBytes(t, dir), checkpointBytes(t, plainDir)) {
			t.Errorf("%s: state differs from that of drawing in step", name)
		}
	}
}

func TestFailedDrawChangesNothing(t *testing.T) {
	for _, prefetch := range []bool{false, true} {
		cfg := config()
		cfg.Prefetch = prefetch
		s := &seeking{memorySource: *memory(t)}
		failing := &failOnce{seeking: s}
		tr := newTrainer(t, failing, cfg, 1)
		steps(t, tr, 2)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		failing.fail = true
		if _, err := tr.Step(); !errors.Is(err, errDry) {
			t.Fatalf("error %v, want errDry", err)
		}
		if s.at != 64 {
			t.Errorf("prefetch %v: the source is at %d, want 64", prefetch, s.at)
		}
		steps(t, tr, 1)
	}
}

type failOnce struct {
	*seeking
	fail bool
}

func (f *failOnce) Draw(rng *rand.Rand, dst []sample.Sample) error {
	err := f.seeking.Draw(rng, dst)
	if f.fail {
		f.fail = false
		return errDry
	}
	return err
}

func TestScaleRate(t *testing.T) {
	dir := t.TempDir()
	tr := newTrainer(t, memory(t), config(), 1)
	steps(t, tr, 6)
	rate := tr.Hyper().LearningRate
	tr.ScaleRate(0.25)
	if got := tr.Hyper().LearningRate; got != rate/4 {
		t.Errorf("rate %g, want %g", got, rate/4)
	}
	if err := tr.Checkpoint(dir, nil); err != nil {
		t.Fatal(err)
	}
	resumed := newTrainer(t, memory(t), config(), 1)
	if _, err := resumed.Resume(dir); err != nil {
		t.Fatal(err)
	}
	if got := resumed.Hyper().LearningRate; got != rate/4 {
		t.Errorf("rate %g after resuming, want %g", got, rate/4)
	}
}
