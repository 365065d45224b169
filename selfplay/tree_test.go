package selfplay

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// treeConfig is the preset planes made so small that a net comes out in seconds.
func treeConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg, err := configs.Preset("planes")
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.SetPairs([]string{
		"net.planes=residual 1x8 value=1/0", "actor.workers=4", "actor.nodes=6", "actor.tree.gumbel=4", "actor.tree.batch=4",
		"actor.hash_mb=1", "actor.max_plies=40", "replay.max_bytes=33554432", "replay.segment_bytes=65536",
		"train.min_positions=150", "train.batch=32", "train.steps_per_net=10", "train.checkpoint=5", "train.held_out=50",
		"gate.pairs=1", "gate.nodes=4",
	}); err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestTreeLoop has tree search play, a convolutional net learn and come back to the
// actors, and the run go on where it was.
func TestTreeLoop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := treeConfig(t)
	cfg.Gate.Enabled = false // a pass is certain then
	first := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	if first.ActorGeneration < 1 || first.MeanBatch == 0 || first.Spooled != 0 {
		t.Fatalf("after %v: %+v", first.Elapsed, first)
	}
	cfg.Actor.Tree.Runtime, cfg.Actor.Tree.PlayoutCap = runtimes.Int8, mcts.PlayoutCap{Full: 0.5, Fast: 2}
	second := loopOnce(t, dir, cfg, Limits{Generation: first.Candidate + unseen, For: patience})
	if second.Step <= first.Step || second.ActorGeneration <= first.ActorGeneration {
		t.Errorf("before: step %d, generation %d; after: step %d, generation %d", first.Step, first.ActorGeneration, second.Step, second.ActorGeneration)
	}
	if got := audit(t, dir); got.UniqueIDs != first.SessionGames+second.SessionGames {
		t.Errorf("played %d and %d games, stored %d", first.SessionGames, second.SessionGames, got.UniqueIDs)
	}
	checkTreeNets(t, dir)
	checkTreeSamples(t, dir, cfg)
}

// checkTreeNets looks at the nets of a run: ONNX files with signed manifests.
func checkTreeNets(t *testing.T, dir string) {
	t.Helper()
	store, err := nets.Open(filepath.Join(dir, netsDir))
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d nets, error %v", len(all), err)
	}
	for _, m := range all {
		if path, err := store.Get(m.ID); err != nil || filepath.Ext(path) != ".onnx" || m.Kind != nets.KindPlanes || m.Signature == "" {
			t.Errorf("net at %s (%v): %+v", path, err, m)
		}
	}
}

// checkTreeSamples looks at what a run's buffer gives the trainer: policies of full
// searches, empty ones of cheap searches, and plies to the end.
func checkTreeSamples(t *testing.T, dir string, cfg configs.Config) {
	t.Helper()
	_, buffer := openWithBuffer(t, dir, cfg)
	samples := make([]sample.Sample, 2000)
	if err := buffer.Draw(rand.New(rand.NewPCG(1, 1)), replay.Drawing{PerGame: 4, Filter: cfg.Train.Filter()}, samples); err != nil {
		t.Fatal(err)
	}
	full, cheap := 0, 0
	for i := range samples {
		s := &samples[i]
		if s.Policy == nil || s.PliesLeft == 0 {
			t.Fatalf("sample without policy or plies left: %+v", s)
		}
		if len(s.Policy.Moves) == 0 {
			cheap++
			continue
		}
		full++
		for _, m := range s.Policy.Moves {
			if !s.Pos.IsLegal(m.Move) {
				t.Fatalf("%s: move %s is not legal", s.Pos.FEN(), s.Pos.UCI(m.Move))
			}
		}
	}
	if full == 0 || cheap == 0 {
		t.Errorf("%d samples with policies, %d of cheap searches", full, cheap)
	}
}

// TestTreeSameSeedSameGames: what one worker plays follows from the seed, whatever
// there is to choose by chance.
func TestTreeSameSeedSameGames(t *testing.T) {
	t.Parallel()
	cfg := treeConfig(t)
	cfg.Actor.Workers = 1
	cfg.Run.ID = "again"
	cfg.Train.MinPositions = 1 << 30 // no net arrives in between
	cfg.Actor.Tree.PlayoutCap, cfg.Actor.Tree.Noise = mcts.PlayoutCap{Full: 0.5, Fast: 2}, 0.25
	segments := func() string {
		dir := filepath.Join(t.TempDir(), "run")
		loopOnce(t, dir, cfg, Limits{Games: 4})
		names, err := filepath.Glob(filepath.Join(dir, replayDir, "*.seg"))
		if err != nil || len(names) != 1 {
			t.Fatalf("segments: %v, error %v", names, err)
		}
		data, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := segments(), segments(); len(a) < 200 || a != b {
		t.Errorf("two runs with one seed stored %d and %d bytes that differ", len(a), len(b))
	}
}

// TestTreeGate has the gate play nets against each other and against no net.
func TestTreeGate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := treeConfig(t)
	cfg.Actor.Workers = 1                      // leaves the gate time
	cfg.Gate.Elo0, cfg.Gate.Elo1 = -1000, -900 // nothing is so weak
	s := loopOnce(t, dir, cfg, Limits{Generation: 2, For: patience})
	if s.ActorGeneration < 2 { // none but those that passed
		t.Errorf("actors play with generation %d, last gate: %s", s.ActorGeneration, s.LastGate)
	}
	logs, err := filepath.Glob(filepath.Join(dir, gateDir, "*-uniform.jsonl"))
	if err != nil || len(logs) == 0 {
		t.Errorf("no match against no net (error %v)", err)
	}
}

// TestTreeKinds: nets of another architecture, or kind, are refused.
func TestTreeKinds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := treeConfig(t)
	r := openRun(t, dir, cfg)
	defer r.Close()
	file := filepath.Join(dir, "net.onnx")
	for _, planes := range []string{"residual 1x8 value=1/0", "residual 1x16 value=1/0"} {
		r.cfg.Net.Planes = planes
		l, err := newLearner(r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := l.model
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Export(out, nil)
		if err := errors.Join(err, out.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = r.style.read(file)
		if own := planes == cfg.Net.Planes; own != (err == nil) {
			t.Errorf("%s: %v", planes, err)
		}
	}
	var m nets.Manifest
	training, err := newTraining(cfg, cfg.Net.Net)
	if err != nil {
		t.Fatal(err)
	}
	training.Describe(&m, nil)
	if m.Kind != nets.KindPlanes || !strings.Contains(m.Architecture, "1x8") {
		t.Errorf("described as %+v", m)
	}
}
