package selfplay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/await"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// patience is how long a loop may take on a busy machine to get where it is sent.
const patience = await.Patience

// smallConfig is the tiny preset made smaller still: a net after a few hundred
// positions, whose weights are written and read in little time.
func smallConfig(t *testing.T) configs.Config {
	t.Helper()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range []string{
		"net.features=All + Hand", "actor.nodes=15", "actor.max_plies=60", "train.min_positions=300", "train.batch=64",
		"train.steps_per_net=20", "train.checkpoint=10", "train.held_out=100",
		"gate.pairs=1", "gate.nodes=10",
	} {
		if err := cfg.SetPairs([]string{pair}); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// testOptions are those of a run that does not wait for long.
func testOptions() Options { return Options{Build: "test", haste: 50} }

func openRun(t *testing.T, dir string, cfg configs.Config) *Run {
	t.Helper()
	r, err := Open(t.Context(), dir, cfg, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// openWithBuffer opens a run and its replay buffer until the test ends.
func openWithBuffer(t *testing.T, dir string, cfg configs.Config) (*Run, *replay.Buffer) {
	t.Helper()
	r := openRun(t, dir, cfg)
	t.Cleanup(func() { r.Close() })
	buffer, err := openBuffer(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { buffer.Close() })
	return r, buffer
}

// loopOnce opens the run, loops until a limit is reached and closes it.
func loopOnce(t *testing.T, dir string, cfg configs.Config, limits Limits) Status {
	t.Helper()
	r := openRun(t, dir, cfg)
	err := r.Loop(t.Context(), limits)
	status := r.status.snapshot(time.Now().Add(time.Second)) // rates are of whole seconds
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return status
}

func audit(t *testing.T, dir string) replay.AuditReport {
	t.Helper()
	report, err := replay.Audit(filepath.Join(dir, replayDir))
	if err != nil {
		t.Fatal(err)
	}
	if report.Duplicates != 0 || report.Invalid != 0 || report.Corrupt != 0 || report.TornBytes != 0 {
		t.Errorf("audit:\n%v", report)
	}
	return report
}

// events are the lines of a run's log.
func events(t *testing.T, dir string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for line := range bytes.Lines(data) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// passedNets are the ids of the nets that passed the gate, in order. Each is published, but a
// loop that ends at that moment may not note it.
func passedNets(t *testing.T, dir string) (ids []string) {
	t.Helper()
	for _, e := range events(t, dir) {
		if e["msg"] == "gate" && e["passed"] == true {
			ids = append(ids, e["net"].(string))
		}
	}
	return ids
}

// unseen is how much later a generation has to be than the last in the status of a loop
// that has ended, so that only the next loop can have trained it: the end may have come
// when one more was offered and the status did not yet say so.
const unseen = 2

func TestLoopPublishesNetsAndResumes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false // a pass is certain then
	first := loopOnce(t, dir, cfg, Limits{Generation: 2, For: patience})
	if first.ActorGeneration < 2 {
		t.Fatalf("actors play with generation %d after %v", first.ActorGeneration, first.Elapsed)
	}
	if first.Spooled != 0 {
		t.Errorf("%d games left in the spool after an orderly end", first.Spooled)
	}
	if got := audit(t, dir); got.UniqueIDs != first.SessionGames {
		t.Errorf("played %d games, stored %d", first.SessionGames, got.UniqueIDs)
	}
	second := loopOnce(t, dir, cfg, Limits{Generation: first.Candidate + unseen, For: patience})
	if second.Step <= first.Step || second.ActorGeneration <= first.ActorGeneration {
		t.Errorf("before: step %d, generation %d; after: step %d, generation %d", first.Step, first.ActorGeneration, second.Step, second.ActorGeneration)
	}
	if got := audit(t, dir); got.UniqueIDs != first.SessionGames+second.SessionGames {
		t.Errorf("played %d and %d games, stored %d", first.SessionGames, second.SessionGames, got.UniqueIDs)
	}
	files, err := filepath.Glob(filepath.Join(dir, tensorBoardDir, "trainer", "events.out.tfevents.*"))
	if err != nil || len(files) != 2 {
		t.Errorf("found files %v for TensorBoard, error %v, expected one of each start", files, err)
	}
	for _, path := range files {
		if data, err := os.ReadFile(path); err != nil || !bytes.Contains(data, []byte("loss/held out, scores")) {
			t.Errorf("%s: found no held-out loss in %d bytes, error %v", path, len(data), err)
		}
	}
	// The nets are drawn as they come, and once more at the end.
	for _, name := range []string{CurveFile, CurveImage} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is not drawn: %v", name, err)
		}
	}
	cfg.Train.StepsPerNet = 1 << 30 // no verdict has them drawn
	loopOnce(t, dir, cfg, Limits{Games: 1})
	for _, name := range []string{CurveFile, CurveImage} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is not drawn at the end: %v", name, err)
		}
	}
	// One that ends before its trainer resumes says how many steps there are all the same.
	loopOnce(t, dir, cfg, Limits{For: time.Nanosecond})
	var steps []float64
	for _, e := range events(t, dir) {
		if e["msg"] == "stopped" {
			steps = append(steps, e["steps"].(float64))
		}
	}
	if steps[0] == 0 || !slices.IsSorted(steps) {
		t.Errorf("steps of loops that ended: %v, expected no fewer each time", steps)
	}
}

// One actor with one thread repeats itself byte for byte.
func TestSameSeedSameGames(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Actor.Workers = 1
	cfg.Run.ID = "again"
	cfg.Train.MinPositions = 1 << 30 // no net arrives in between
	segments := func() []byte {
		dir := filepath.Join(t.TempDir(), "run")
		loopOnce(t, dir, cfg, Limits{Games: 6})
		names, err := filepath.Glob(filepath.Join(dir, replayDir, "*.seg*"))
		if err != nil || len(names) == 0 {
			t.Fatalf("segments: %v, error %v", names, err)
		}
		var all []byte
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
		return all
	}
	a, b := segments(), segments()
	if len(a) < 200 || string(a) != string(b) {
		t.Errorf("two runs with one seed stored %d and %d bytes that differ", len(a), len(b))
	}
}

func TestGamesLimit(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	if s := loopOnce(t, dir, cfg, Limits{Games: 7}); s.SessionGames != 7 || s.Games != 7 {
		t.Errorf("played %d games and stored %d, want 7", s.SessionGames, s.Games)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	if _, err := Open(t.Context(), dir, cfg, Options{}); !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("second process: error %v, want %v", err, dirlock.ErrHeld)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	other := cfg
	other.Net.Width = 32
	if _, err := Open(t.Context(), dir, other, Options{}); err == nil || !strings.Contains(err.Error(), "net.width: 16 → 32") {
		t.Errorf("another architecture in the same directory: error %v", err)
	}
	if saved, found, err := SavedConfig(dir); !found || err != nil || saved != cfg {
		t.Errorf("saved configuration: found %v, error %v, differences %v", found, err, configs.Differences(cfg, saved))
	}
}

func TestLoopOfAnotherArchitecture(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Net.Net = configs.Net{Kind: configs.NNUE, Features: "HalfKAv2", Width: 32, L2: 8, Stacks: 4, Buckets: "board", Activation: "screlu"}
	cfg.Gate.Enabled = false // a pass is certain then
	if s := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience}); s.ActorGeneration < 1 {
		t.Errorf("actors play with generation %d after %v", s.ActorGeneration, s.Elapsed)
	}
}

// A directory of an earlier build says net.architecture where ours says more.
func TestOldDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Net.Features = "HalfKAv2" // the inputs of every net of such a build
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(cfg.YAML()), "net:\n")
	_, after, _ := strings.Cut(rest, "bus:\n")
	old := before + "net:\n  architecture: narrow\n  width: 16\nbus:\n" + after
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	if saved, found, err := SavedConfig(dir); !found || err != nil || saved != cfg {
		t.Errorf("found %v, error %v, differences %v", found, err, configs.Differences(cfg, saved))
	}
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Error(err)
	}
}

// A net that another trainer signed never evaluates.
func TestForeignNetIsRefused(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	dir := filepath.Join(t.TempDir(), "run")
	loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	r := openRun(t, dir, cfg)
	defer r.Close()
	current := netAt(t, r, r.currentKey()).Net
	if _, err := r.loadNet(t.Context(), current); err != nil {
		t.Fatalf("own net: %v", err)
	}
	foreign, err := nets.CreateKey(filepath.Join(t.TempDir(), "other.key"))
	if err != nil {
		t.Fatal(err)
	}
	r.public = foreign.Public().(ed25519.PublicKey)
	if _, err := r.loadNet(t.Context(), current); !errors.Is(err, nets.ErrSignature) {
		t.Errorf("net signed by another key: error %v, want %v", err, nets.ErrSignature)
	}
}

// TestBookShare has a share of the games begin at positions of the book.
func TestBookShare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Actor.BookShare = 0.5
	loopOnce(t, dir, cfg, Limits{Games: 40})
	b, _, err := book.Default(chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range b.Entries {
		known[e.Start.FEN()] = true
	}
	fromBook, fromStart := 0, 0
	_, err = replay.VisitGames(filepath.Join(dir, replayDir), func(g *game.Game) bool {
		switch start := g.Start.FEN(); {
		case known[start]:
			fromBook++
		case start == chess.Crazyhouse.StartFEN:
			fromStart++
		default:
			t.Errorf("game %s begins at %s", g.ID, start)
		}
		return true
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fromBook < 8 || fromStart < 8 {
		t.Errorf("%d games from the book and %d from the start, want about 20 of each", fromBook, fromStart)
	}
}

// Nets are fetched again when the local store has lost or damaged them.
func TestNetIsFetchedAgain(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	dir := filepath.Join(t.TempDir(), "run")
	loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	if err := os.RemoveAll(filepath.Join(dir, netsDir)); err != nil {
		t.Fatal(err)
	}
	r := openRun(t, dir, cfg)
	defer r.Close()
	current := netAt(t, r, r.currentKey()).Net
	if n, err := r.loadNet(t.Context(), current); err != nil || n.ID != current {
		t.Errorf("net %v, error %v", n, err)
	}
}

// signalling is a context that signals when something begins to wait for its end.
type signalling struct {
	context.Context
	waits chan<- struct{}
}

func (s signalling) Done() <-chan struct{} {
	select {
	case s.waits <- struct{}{}:
	default:
	}
	return s.Context.Done()
}

// A full stream makes actors keep their games and wait; nothing is lost when
// there is room again.
func TestBackpressure(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Actor.SpoolMaxGames = 3
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	defer r.Close()
	act, err := newActor(t.Context(), r, newFollower(r), 20)
	if err != nil {
		t.Fatal(err)
	}
	defer act.close()
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	waits := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() { done <- act.play(signalling{stop, waits}, t.Context()) }() // nobody publishes
	late := time.After(patience)
	for !strings.Contains(r.Status().Waiting(), "waiting for the replay buffer") {
		select {
		case <-waits:
		case err := <-done:
			t.Fatalf("the actor stopped by itself: error %v", err)
		case <-late:
			t.Fatal("the actor does not wait for the replay buffer")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	held := act.spool.size()
	if limit := cfg.Actor.SpoolMaxGames + cfg.Actor.Workers; held < cfg.Actor.SpoolMaxGames || held > limit {
		t.Errorf("%d games spooled, want %d to %d", held, cfg.Actor.SpoolMaxGames, limit)
	}
	for act.sender.unsent() {
		if _, err := act.sender.once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if act.spool.size() != held {
		t.Errorf("%d games spooled while no buffer has them, want %d", act.spool.size(), held)
	}
	in := mustIngester(t, r)
	defer in.close()
	stored := serveReplay(t, in)
	if act.finish(t.Context(), drainAll); act.spool.size() != 0 {
		t.Errorf("%d games left in the spool", act.spool.size())
	}
	if stored(); in.buffer.Stats().Games != uint64(held) {
		t.Errorf("%d games stored, want %d", in.buffer.Stats().Games, held)
	}
}

// serveReplay stores games and answers for them until the function returned is called.
func serveReplay(t *testing.T, in *ingester) (stop func()) {
	t.Helper()
	unserve, err := in.serve()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.ingest(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		unserve()
	}
}

// TestLoopLearnsAsRunsDo: what runs on given data can set, a loop can.
func TestLoopLearnsAsRunsDo(t *testing.T) {
	t.Parallel()
	for _, pairs := range [][]string{
		{"train.loss=pqr", "train.mirror=0", "train.quantise=true", "train.gradient_norm=1", "train.optimiser=sgd", "train.nesterov=true"},
		{"train.mirror=50", "train.skip_draws=true", "train.thin_ply=12", "train.random_skip=1", "train.score_scale=400", "train.lr=warmup:5,step:0.01:0.5:10", "train.workers=0"},
	} {
		cfg := smallConfig(t)
		if err := cfg.SetPairs(append(pairs, "gate.enabled=false")); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "run")
		if s := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience}); s.ActorGeneration < 1 {
			t.Errorf("%s: actors play with generation %d after %v", pairs, s.ActorGeneration, s.Elapsed)
		}
	}
}

// TestProcessorTimeEndsALoop: a limit of processor time that is long over ends a loop at
// once, whatever the clock says.
func TestProcessorTimeEndsALoop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	s := loopOnce(t, dir, smallConfig(t), Limits{CPU: 1, For: patience})
	if s.Elapsed >= patience {
		t.Errorf("stopped after %v of the clock", s.Elapsed)
	}
	audit(t, dir)
}
