package selfplay

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// TestRenew has the trainer begin with fresh nets while games come in, and remember
// when it last did; a fresh net has samples in advance.
func TestRenew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Train.RenewGrowth, cfg.Train.RenewSamples, cfg.Train.StepsPerNet = 2, 0.5, 40
	cfg.Gate.Elo0, cfg.Gate.Elo1 = -1000, -900 // nothing is so weak
	// The samples of three nets, without a fresh one, need 660 positions beyond the first 300.
	loopOnce(t, dir, cfg, Limits{Generation: 3, For: patience})
	var renewed []float64
	begun := 0 // step that the present net began at
	offered := false
	for _, e := range events(t, dir) {
		switch e["msg"] {
		case "training begins with a fresh net":
			if !offered {
				t.Errorf("a fresh net at step %v takes the place of one that was never offered", e["step"])
			}
			offered = false
			renewed = append(renewed, e["positions"].(float64))
			begun = int(e["step"].(float64))
		case "net offered":
			offered = true
			if age := int(e["step"].(float64)) - begun; age == 0 || age%cfg.Train.StepsPerNet != 0 {
				t.Errorf("a net of %d steps is offered, want a multiple of %d", age, cfg.Train.StepsPerNet)
			}
		}
	}
	if len(renewed) == 0 {
		t.Fatal("no fresh net")
	}
	for i := 1; i < len(renewed); i++ {
		if renewed[i] < cfg.Train.RenewGrowth*renewed[i-1] {
			t.Errorf("fresh nets at %v positions, less than %g times as many", renewed, cfg.Train.RenewGrowth)
		}
	}
	r, buffer := openWithBuffer(t, dir, cfg)
	l, err := newLearner(r, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last := renewed[len(renewed)-1]; float64(l.state.Renewed) != last {
		t.Errorf("resumed with %d positions at the last fresh net, want %v", l.state.Renewed, last)
	}
	l.state.Renewed, l.state.Ratio.Tokens = buffer.Stats().Plies/2, 7
	r.cfg.Train.StepsPerNet = int(l.trainer.Age()) + 1
	if err := l.renew(); err != nil || l.state.Ratio.Tokens != 7 {
		t.Fatalf("found a fresh net, error %v, expected the present one to be offered first", err)
	}
	r.cfg.Train.StepsPerNet--
	l.training.Settings.Init = "given.nnue"
	if err := l.renew(); err != nil || l.state.Ratio.Tokens != 7 {
		t.Fatalf("found a fresh net, error %v, expected training to go on with the given one", err)
	}
	l.training.Settings.Init = ""
	if err := l.renew(); err != nil {
		t.Fatal(err)
	}
	if want := 7 + float64(buffer.Stats().WindowPlies)/2; l.state.Ratio.Tokens != want || l.trainer.Age() != 0 {
		t.Errorf("a fresh net of %d steps may draw %g samples, want %g", l.trainer.Age(), l.state.Ratio.Tokens, want)
	}
}

// TestGrowth: fresh nets have the architecture that the stored positions feed, others
// play with them and the gate judges them against smaller ones, and training goes on
// with them after a restart.
func TestGrowth(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Train.RenewGrowth, cfg.Train.RenewSamples, cfg.Train.StepsPerNet = 2, 0.5, 40
	cfg.Gate.Elo0, cfg.Gate.Elo1 = -1000, -900 // nothing is so weak
	cfg.Net.Growth = "500: All + Hand 32 pairwise; 100M: All + PH 32"
	first := architecture(t, cfg, 0)
	grown := architecture(t, cfg, 500)
	loopOnce(t, dir, cfg, Limits{Generation: 4, For: patience})
	stored := 0.0
	for _, e := range events(t, dir) {
		if e["msg"] != "training begins with a fresh net" {
			continue
		}
		stored = e["positions"].(float64)
		if want := architecture(t, cfg, uint64(stored)); e["architecture"] != want {
			t.Errorf("at %v positions a fresh net of %v, expected %v", stored, e["architecture"], want)
		}
	}
	if stored < 500 {
		t.Fatalf("the last fresh net began at %v positions, expected 500 or more", stored)
	}
	r, buffer := openWithBuffer(t, dir, cfg)
	checkSizes(t, r, first, grown)
	l, err := newLearner(r, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := newTraining(cfg, cfg.Net.Net)
	if err != nil {
		t.Fatal(err)
	}
	model, err := small.NewModel(l.config.LearningRate, endless, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "small.nnue")
	var file bytes.Buffer
	if _, err := model.Export(&file, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.style.read(path); err != nil {
		t.Errorf("a net of the first architecture is not played with: %v", err)
	}
	if found := l.training.Architecture(); found != grown || l.trainer.Steps() == 0 {
		t.Errorf("resumed at step %d with %s, expected %s", l.trainer.Steps(), found, grown)
	}
	if _, err := l.trainer.Step(); err != nil {
		t.Error(err)
	}
	if err := l.trainer.Close(); err != nil {
		t.Error(err)
	}
	// A stage that the settings no longer name has no player.
	r.cfg.Net.Growth = ""
	if _, err := newLearner(r, buffer, nil); err == nil || !strings.Contains(err.Error(), "All + Hand 32 pairwise, expected one of those that net.growth names") {
		t.Errorf("without the stage: error %v", err)
	}
}

// TestTreeGrowth: plane nets grow too, and their nets of both sizes are played with.
func TestTreeGrowth(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := treeConfig(t)
	cfg.Train.RenewGrowth = 1.5
	cfg.Gate.Elo0, cfg.Gate.Elo1 = -1000, -900
	cfg.Net.Growth = "200: residual 1x16 value=1/0"
	loopOnce(t, dir, cfg, Limits{Generation: 4, For: patience})
	r, buffer := openWithBuffer(t, dir, cfg)
	grown := architecture(t, cfg, 200)
	checkSizes(t, r, architecture(t, cfg, 0), grown)
	l, err := newLearner(r, buffer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found := l.training.Architecture(); found != grown {
		t.Errorf("resumed with %s, expected %s", found, grown)
	}
	if err := l.trainer.Close(); err != nil {
		t.Error(err)
	}
}

// architecture is that of fresh nets at a number of stored positions, in words.
func architecture(t *testing.T, cfg configs.Config, stored uint64) string {
	t.Helper()
	text, err := cfg.Net.At(stored).Text(cfg.Variant)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkSizes wants nets of the grown architecture, else of the first alone, and all of
// them played with.
func checkSizes(t *testing.T, r *Run, first, grown string) {
	t.Helper()
	all, err := r.store.List()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range all {
		seen[m.Architecture]++
		if _, err := r.style.read(r.store.Path(m.ID)); err != nil {
			t.Errorf("generation %d is not played with: %v", m.Generation, err)
		}
	}
	// Where actors are fast, no net is offered before the first fresh one.
	if seen[grown] == 0 || seen[first]+seen[grown] != len(all) {
		t.Errorf("nets by architecture: %v, expected some of %s, and of %s if any others", seen, grown, first)
	}
}

// TestStagesMayBeAdded: a run that has begun takes more stages and other numbers, but
// not the loss of an architecture that its nets may have, nor another first one.
func TestStagesMayBeAdded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Train.RenewGrowth = 2
	for _, c := range []struct{ growth, refused string }{
		{"", ""},
		{"500: All + Hand 32", ""},
		{"700: All + Hand 32; 900: All + PH 32", ""},
		{"900: All + PH 32", "without All + Hand 32 crelu, of which the run may have nets"},
		{"", "without All + Hand 32 crelu"},
		{"100: All + PH 32; 1000000M: All + Hand 32", ""},
	} {
		cfg.Net.Growth = c.growth
		r, err := Open(t.Context(), dir, cfg, testOptions())
		if c.refused == "" && err == nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if c.refused == "" || err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%q: found %v, expected %q", c.growth, err, c.refused)
		}
	}
	cfg.Net.Width *= 2
	if _, err := Open(t.Context(), dir, cfg, testOptions()); err == nil || !strings.Contains(err.Error(), "depend on other settings (net.width") {
		t.Errorf("another width: found %v", err)
	}
}
