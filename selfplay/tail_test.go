package selfplay

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// filledLearner returns the learner of a new run whose buffer holds some games by a
// player without a net.
func filledLearner(t *testing.T, cfg configs.Config) *learner {
	t.Helper()
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), cfg)
	r.divideCores()
	m, n := newMaker(t, cfg), r.firstNet()
	p := m.open(t, n)
	for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 48} { // the last one is held out
		if _, err := buffer.Append([][]byte{m.record(t, p, n, verifyID(i))}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := newLearner(r, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.trainer.Close() })
	return l
}

// fit makes a step as learner.step does.
func (l *learner) fit(t *testing.T) {
	t.Helper()
	if err := l.turnTail(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.trainer.Step(); err != nil {
		t.Fatal(err)
	}
}

// plainSource draws as a learner does by default.
type plainSource struct {
	buffer *replay.Buffer
	t      configs.Train
}

func (s plainSource) Draw(rng *rand.Rand, dst []sample.Sample) error {
	err := s.buffer.Draw(rng, replay.Drawing{PerGame: s.t.PerGame, Filter: s.t.Filter()}, dst)
	dataset.Mirror(rng, s.t.Mirror/100, dst)
	return err
}

func (s plainSource) HeldOut(dst []sample.Sample) []sample.Sample {
	return s.buffer.HeldOut(s.t.Filter(), dst)
}

// TestDefaultTraining: what is off by default changes no bit of a net that is trained.
func TestDefaultTraining(t *testing.T) {
	t.Parallel()
	l := filledLearner(t, smallConfig(t))
	model, err := l.newModel()
	if err != nil {
		t.Fatal(err)
	}
	cfg := l.config
	cfg.OnReport = nil
	plain, err := trainer.New(model, plainSource{l.buffer, l.run.cfg.Train}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for range 30 {
		l.fit(t)
		if _, err := plain.Step(); err != nil {
			t.Fatal(err)
		}
	}
	var got, want bytes.Buffer
	if err := l.model.Checkpoint(&got); err != nil {
		t.Fatal(err)
	}
	if err := model.Checkpoint(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("another net is trained")
	}
}

// TestTail: the last steps before a net, and they alone, have the lower rate, the newest
// positions and the integer net's rounding, also after a fresh net and after a restart.
func TestTail(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.LR, cfg.Train.StepsPerNet, cfg.Train.TailShare, cfg.Train.TailRate, cfg.Train.TailNewest = "0.002", 10, 0.25, 0.5, 0.125
	l := filledLearner(t, cfg)
	held := l.source.HeldOut(make([]sample.Sample, cfg.Train.HeldOut))
	loss := func() trainer.Loss {
		t.Helper()
		found, err := l.model.Loss(held, 1)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	check := func(age uint64) {
		t.Helper()
		l.fit(t)
		rate, newest := 0.002, 0.0
		tail := age%10 >= 7 // 0.25 of 10 is 2.5, 3 steps
		if tail {
			rate, newest = 0.001, 0.125
		}
		found := loss()
		run.SetQuantise(l.model, !tail)
		other := loss()
		run.SetQuantise(l.model, tail)
		if want := loss(); found != want || found == other {
			t.Errorf("step %d: loss %g, expected %g (with the rounding: %v), and not %g", age, found.Mean, want.Mean, tail, other.Mean)
		}
		if got := l.trainer.Hyper().LearningRate; got != rate || l.source.drawing.Newest != newest {
			t.Errorf("step %d: rate %g on the newest %g, expected %g on %g", age, got, l.source.drawing.Newest, rate, newest)
		}
	}
	for age := range uint64(18) {
		check(age)
	}
	model, err := l.newModel()
	if err != nil {
		t.Fatal(err)
	}
	l.model = model
	l.trainer.Renew(model)
	for age := range uint64(9) {
		check(age)
	}
	if err := l.checkpoint(); err != nil { // in a tail
		t.Fatal(err)
	}
	l.run.cfg.Train.TailShare = 0
	again, err := newLearner(l.run, l.buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.trainer.Close()
	if again.fit(t); again.trainer.Steps() != 28 || again.trainer.Hyper().LearningRate != 0.002 {
		t.Errorf("step %d after a restart without tails: rate %g", again.trainer.Steps(), again.trainer.Hyper().LearningRate)
	}
}

// TestWholeTail: a tail of all steps goes on with a fresh net.
func TestWholeTail(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.TailShare = 1
	l := filledLearner(t, cfg)
	l.fit(t)
	model, err := l.newModel()
	if err != nil {
		t.Fatal(err)
	}
	l.model = model
	l.trainer.Renew(model)
	if l.fit(t); l.tailOf != model {
		t.Error("the fresh net is in no tail")
	}
}
