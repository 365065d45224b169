package selfplay

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// TestFitScores: scores are fitted at the first step, and again between two nets when
// twice as many positions are stored, also after a restart.
func TestFitScores(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Train.StepsPerNet, cfg.Train.Checkpoint, cfg.Train.FitOffset = 1000, 5, true
	l := filledLearner(t, cfg)
	known := run.Scores{Scale: 12345, Offset: 67}
	// steps makes those until after the next checkpoint, and says whether scores were fitted.
	steps := func() bool {
		t.Helper()
		if err := known.Set(l.model); err != nil {
			t.Fatal(err)
		}
		for range cfg.Train.Checkpoint {
			if err := l.step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return run.ScoresOf(l.model) != known
	}
	first := l.buffer.Stats().Plies
	if !steps() || l.state.Fitted != first {
		t.Fatalf("scores %+v fitted at %d positions, expected others at %d", run.ScoresOf(l.model), l.state.Fitted, first)
	}
	grow(t, l, cfg, 2*first-1)
	if stored := l.buffer.Stats().Plies; steps() || l.state.Fitted != first {
		t.Fatalf("scores %+v fitted at %d of %d positions, expected no others than at %d", run.ScoresOf(l.model), l.state.Fitted, stored, first)
	}
	l2, err := newLearner(l.run, l.buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l2.trainer.Close()
	if l = l2; l.state.Fitted != first {
		t.Errorf("after a restart fitted at %d positions, expected %d", l.state.Fitted, first)
	}
	if grow(t, l, cfg, 3*first); !steps() || l.state.Fitted != l.buffer.Stats().Plies {
		t.Errorf("scores %+v fitted at %d positions, expected others at %d", run.ScoresOf(l.model), l.state.Fitted, l.buffer.Stats().Plies)
	}
	l.training.Settings.ScoreScale = 1
	if grow(t, l, cfg, 7*first); steps() {
		t.Errorf("scores of a known scale fitted: %+v", run.ScoresOf(l.model))
	}
}

// grow adds games to a learner's buffer as long as no more than a number of positions is
// stored.
func grow(t *testing.T, l *learner, cfg configs.Config, most uint64) {
	t.Helper()
	m, n := newMaker(t, cfg), l.run.firstNet()
	p := m.open(t, n)
	for i := int(l.buffer.Stats().Games) + 100; ; i++ {
		record := m.record(t, p, n, verifyID(i))
		if l.buffer.Stats().Plies+uint64(cfg.Actor.MaxPlies) > most {
			return
		}
		if _, err := l.buffer.Append([][]byte{record}); err != nil {
			t.Fatal(err)
		}
	}
}
