package trainer_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// memorySource is a Source over samples held in memory.
type memorySource struct {
	train, held []sample.Sample
}

func (m *memorySource) Draw(rng *rand.Rand, dst []sample.Sample) error {
	for i := range dst {
		dst[i] = m.train[rng.IntN(len(m.train))]
	}
	return nil
}

func (m *memorySource) HeldOut(dst []sample.Sample) []sample.Sample {
	return dst[:copy(dst, m.held)]
}

// memory returns a source of positions from random games, with random labels:
// the trainer does not care what it trains.
func memory(t testing.TB) *memorySource {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 7))
	var all []sample.Sample
	var moves chess.MoveList
	for range 12 {
		p := chess.Crazyhouse.Start()
		for range 60 {
			moves.N = 0
			p.Legal(&moves)
			if moves.N == 0 {
				break
			}
			p.Make(moves.Moves[rng.IntN(moves.N)])
			all = append(all, sample.Sample{Pos: p, Score: search.Score(rng.IntN(2000) - 1000), Result: int8(rng.IntN(3) - 1)})
		}
	}
	if len(all) < 400 {
		t.Fatalf("only %d positions", len(all))
	}
	return &memorySource{all[100:], all[:100]}
}

func config() trainer.Config {
	return trainer.Config{
		BatchSize: 32, Seed: 5, HeldOut: 50, ValidateEvery: 4,
		LearningRate: trainer.Warmup{Steps: 3, Of: trainer.Cosine{From: 1e-3, To: 1e-5, Steps: 20}},
		Lambda:       trainer.Linear{From: 0, To: 0.5, Steps: 20},
	}
}

// architecture is that of a net of few rows, which are written quickly.
func architecture() nnue.Architecture {
	a := nnue.Narrow(16)
	a.Features = "All + Hand"
	return a
}

func newModel(t testing.TB, seed uint64) *nnuefit.Model {
	t.Helper()
	fit := nnuefit.DefaultConfig()
	fit.Workers = 2
	m, err := nnuefit.New(architecture(), fit, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newTrainer(t testing.TB, s trainer.Source, cfg trainer.Config, modelSeed uint64) *trainer.Trainer {
	t.Helper()
	tr, err := trainer.New(newModel(t, modelSeed), s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// steps makes n steps and returns their losses.
func steps(t testing.TB, tr *trainer.Trainer, n int) []float64 {
	t.Helper()
	var losses []float64
	for range n {
		r, err := tr.Step()
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, r.Loss, r.Average, r.Hyper.LearningRate, r.Hyper.Lambda)
	}
	return losses
}

// checkpointBytes is the newest checkpoint in dir.
func checkpointBytes(t testing.TB, dir string) []byte {
	t.Helper()
	names := checkpointNames(t, dir)
	b, err := os.ReadFile(names[len(names)-1])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkpointNames(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("files in %s: %v, %v", dir, names, err)
	}
	slices.Sort(names)
	return names
}

// TestResumeIsExact compares n steps straight with k steps, a checkpoint, a
// process that knows nothing, and n−k more: losses, and every byte of the state.
func TestResumeIsExact(t *testing.T) {
	const k, n = 7, 18
	source := memory(t)
	straight := newTrainer(t, source, config(), 3)
	want := steps(t, straight, n)
	wantDir := t.TempDir()
	if err := straight.Checkpoint(wantDir, []byte("ratio")); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	first := newTrainer(t, source, config(), 3)
	got := steps(t, first, k)
	if err := first.Checkpoint(dir, []byte("ratio")); err != nil {
		t.Fatal(err)
	}
	steps(t, first, 2) // lost in the crash

	cfg := config()
	cfg.Seed = 999 // the generator comes from the checkpoint
	second := newTrainer(t, source, cfg, 4)
	r, err := second.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Step != k || string(r.Caller) != "ratio" || r.Damaged != nil {
		t.Fatalf("resumed %+v", r)
	}
	got = append(got, steps(t, second, n-k)...)
	if !slices.Equal(got, want) {
		t.Fatal("losses after resuming differ from training straight on")
	}
	if err := second.Checkpoint(dir, []byte("ratio")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(checkpointBytes(t, dir), checkpointBytes(t, wantDir)) {
		t.Fatal("state after resuming differs from training straight on")
	}
}

func TestCheckpointsKeepTwo(t *testing.T) {
	tr := newTrainer(t, memory(t), config(), 1)
	dir := t.TempDir()
	for range 4 {
		steps(t, tr, 1)
		if err := tr.Checkpoint(dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	names := checkpointNames(t, dir)
	if len(names) != 2 || filepath.Base(names[1]) != "step-000000000004.checkpoint" {
		t.Fatalf("left %v", names)
	}
}

// TestDirectoryIsNoPattern resumes from a directory whose name would be a pattern,
// and where interrupted saves left temporary files.
func TestDirectoryIsNoPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run[1]")
	tr := newTrainer(t, memory(t), config(), 1)
	for range 3 {
		steps(t, tr, 1)
		if err := tr.Checkpoint(dir, nil); err != nil {
			t.Fatal(err)
		}
		f, err := durable.CreateTemp(dir)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("found %v, error %v, want two checkpoints and the last temporary file", entries, err)
	}
	if r, err := newTrainer(t, memory(t), config(), 1).Resume(dir); err != nil || r.Step != 3 {
		t.Errorf("resumed at step %d, error %v, want 3", r.Step, err)
	}
}

func TestResumeFallsBack(t *testing.T) {
	source := memory(t)
	tr := newTrainer(t, source, config(), 1)
	dir := t.TempDir()
	if _, err := tr.Resume(dir); !errors.Is(err, trainer.ErrNoCheckpoint) {
		t.Fatalf("empty directory: %v", err)
	}
	for range 2 {
		steps(t, tr, 1)
		if err := tr.Checkpoint(dir, []byte{9}); err != nil {
			t.Fatal(err)
		}
	}
	names := checkpointNames(t, dir)
	whole, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + min(n, len(whole)/20) {
		if err := os.WriteFile(names[1], whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := newTrainer(t, source, config(), 2).Resume(dir)
		if err != nil || r.Step != 1 || len(r.Damaged) != 1 {
			t.Fatalf("newest cut to %d bytes: %+v, %v", n, r, err)
		}
		if aside, err := os.ReadFile(names[1] + ".damaged"); err != nil || len(aside) != n {
			t.Fatalf("newest cut to %d bytes: put aside %d, %v", n, len(aside), err)
		}
	}
	for _, name := range names {
		if err := os.WriteFile(name, whole[:40], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fresh := newTrainer(t, source, config(), 2)
	if _, err := fresh.Resume(dir); !errors.Is(err, trainer.ErrCheckpoint) || fresh.Steps() != 0 {
		t.Fatalf("no checkpoint whole: step %d, %v", fresh.Steps(), err)
	}
}

func TestLoadModel(t *testing.T) {
	source := memory(t)
	tr := newTrainer(t, source, config(), 1)
	steps(t, tr, 2)
	dir := t.TempDir()
	if err := tr.Checkpoint(dir, nil); err != nil {
		t.Fatal(err)
	}
	path := checkpointNames(t, dir)[0]
	fresh := newModel(t, 2)
	step, err := trainer.LoadModel(path, fresh)
	if err != nil || step != 2 || fresh.Steps() != 2 {
		t.Fatalf("loaded step %d, model of step %d, error %v, expected 2", step, fresh.Steps(), err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := fresh.Checkpoint(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(want, got.Bytes()) {
		t.Error("the model loaded is not the one stored")
	}
	if err := os.WriteFile(path, want[:60], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.LoadModel(path, fresh); !errors.Is(err, trainer.ErrCheckpoint) || !strings.Contains(err.Error(), path) {
		t.Errorf("cut short: error %v", err)
	}
	if _, err := trainer.LoadModel(filepath.Join(dir, "none"), fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}

// TestResumeIntoAnotherModel: ModelFor says by the caller's state which model a
// checkpoint is read into, also when an older checkpoint is gone back to.
func TestResumeIntoAnotherModel(t *testing.T) {
	source, dir := memory(t), t.TempDir()
	tr := newTrainer(t, source, config(), 1)
	for _, caller := range []string{`"first"`, `"second"`} {
		steps(t, tr, 2)
		if err := tr.Checkpoint(dir, []byte(caller)); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	var made *nnuefit.Model
	cfg := config()
	cfg.ModelFor = func(caller []byte) (trainer.Model, error) {
		asked = append(asked, string(caller))
		made = newModel(t, 3)
		return made, nil
	}
	names := checkpointNames(t, dir)
	newest := names[len(names)-1]
	if filepath.Base(newest) != trainer.CheckpointName(4) {
		newest = names[0]
	}
	whole, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(newest, whole[:len(whole)-10], 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := newTrainer(t, source, cfg, 2)
	found, err := fresh.Resume(dir)
	if err != nil || string(found.Caller) != `"first"` || !slices.Equal(asked, []string{`"second"`, `"first"`}) {
		t.Fatalf("asked for models of %q, found %q, error %v", asked, found.Caller, err)
	}
	again, learned := newTrainer(t, source, config(), 1), made.Steps()
	want := steps(t, again, 3)
	if got := steps(t, fresh, 1); learned != 2 || made.Steps() != 3 || !slices.Equal(got, want[len(want)-len(got):]) {
		t.Errorf("the model made has %d steps, then %d with a loss of %v, expected 2 and 3 with the last of %v", learned, made.Steps(), got, want)
	}
}

func TestReports(t *testing.T) {
	cfg := config()
	cfg.ReportEvery = 3
	var seen []trainer.Report
	cfg.OnReport = func(r trainer.Report) { seen = append(seen, r) }
	tr := newTrainer(t, memory(t), cfg, 1)
	steps(t, tr, 8)
	var at []uint64
	for _, r := range seen {
		at = append(at, r.Step)
		if (r.HeldOut != nil) != (r.Step%4 == 0) || r.Samples != r.Step*32 {
			t.Errorf("report %+v", r)
		}
		if r.HeldOut != nil && r.HeldOut.Positions != 50 {
			t.Errorf("held-out measure %+v", r.HeldOut)
		}
	}
	if !slices.Equal(at, []uint64{3, 4, 6, 8}) {
		t.Errorf("reports after steps %v", at)
	}
}

func TestExport(t *testing.T) {
	tr := newTrainer(t, memory(t), config(), 1)
	steps(t, tr, 5)
	path := filepath.Join(t.TempDir(), "net")
	f, err := tr.Export(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Step != 5 || f.Samples != 160 || f.HeldOut.Positions != 50 || f.Export.Positions != 50 || f.Export.ScoreScale != 410 {
		t.Errorf("facts %+v", f)
	}
	if n, err := nnue.ReadFile(path, chess.Crazyhouse); err != nil || n.Architecture() != architecture() {
		t.Errorf("exported file: %v", err)
	}
}

func TestRenew(t *testing.T) {
	tr := newTrainer(t, memory(t), config(), 1)
	first := tr.Hyper()
	begin, _ := tr.Validate(first.Lambda)
	steps(t, tr, 10)
	learned, _ := tr.Validate(first.Lambda)
	if tr.Hyper() == first || learned == begin {
		t.Fatalf("ten steps at %+v led from %+v to %+v", tr.Hyper(), begin, learned)
	}
	tr.Renew(newModel(t, 1))
	if again, err := tr.Validate(first.Lambda); err != nil || again != begin {
		t.Errorf("the new model has %+v (error %v), want %+v", again, err, begin)
	}
	if tr.Hyper() != first || tr.Steps() != 10 || tr.Average() != 0 {
		t.Errorf("renewed at %+v, step %d, average %v, want %+v, 10, 0", tr.Hyper(), tr.Steps(), tr.Average(), first)
	}
	steps(t, tr, 1)
	if tr.Steps() != 11 {
		t.Errorf("step %d, want 11", tr.Steps())
	}
}

var errFlaky = errors.New("source fails")

// flaky is a source and a model that fail when told to.
type flaky struct {
	memorySource
	drawn    []uint64
	failDraw bool
	failFit  bool
}

func (f *flaky) Draw(rng *rand.Rand, dst []sample.Sample) error {
	f.drawn = append(f.drawn, rng.Uint64())
	if f.failDraw {
		return errFlaky
	}
	return nil
}

func (f *flaky) Fit([]sample.Sample, trainer.Hyper) (float64, error) {
	if f.failFit {
		return 0, errFlaky
	}
	return 1, nil
}

func (f *flaky) Loss([]sample.Sample, float64) (trainer.Loss, error) { return trainer.Loss{}, nil }
func (f *flaky) Checkpoint(io.Writer) error                          { return nil }
func (f *flaky) Restore(io.Reader) error                             { return nil }
func (f *flaky) Export(io.Writer, []sample.Sample) (trainer.ExportReport, error) {
	return trainer.ExportReport{}, errFlaky
}

func TestFailuresLeaveTheState(t *testing.T) {
	f := &flaky{failDraw: true}
	cfg := config()
	cfg.ValidateEvery = 0
	tr, err := trainer.New(f, f, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Step(); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	f.failDraw, f.failFit = false, true
	if _, err := tr.Step(); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
	f.failFit = false
	if _, err := tr.Step(); err != nil {
		t.Fatal(err)
	}
	if f.drawn[0] != f.drawn[1] {
		t.Error("a failed draw moved the generator")
	}
	if f.drawn[1] == f.drawn[2] {
		t.Error("a refused batch is drawn again")
	}
	if tr.Steps() != 1 || tr.Samples() != 32 {
		t.Errorf("%d steps, %d samples after one step", tr.Steps(), tr.Samples())
	}
	path := filepath.Join(t.TempDir(), "net")
	if _, err := tr.Export(path); !errors.Is(err, errFlaky) {
		t.Errorf("failing export: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failed export left a file: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, spoil := range []func(*trainer.Config){
		func(c *trainer.Config) { c.BatchSize = 0 },
		func(c *trainer.Config) { c.BatchSize = trainer.MaxBatch + 1 },
		func(c *trainer.Config) { c.HeldOut = -1 },
		func(c *trainer.Config) { c.LearningRate = trainer.Cosine{From: 1} },
		func(c *trainer.Config) { c.Lambda = trainer.Constant(-1) },
		func(c *trainer.Config) { c.Lambda = nil },
	} {
		cfg := config()
		spoil(&cfg)
		if _, err := trainer.New(&flaky{}, &flaky{}, cfg); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
