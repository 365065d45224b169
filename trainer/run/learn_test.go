package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// samples are positions of random games, scored by the pieces in hand; the games
// are won by who has more at the end.
func samples(games int) []sample.Sample {
	rng := rand.New(rand.NewPCG(3, 1))
	var all []sample.Sample
	var moves chess.MoveList
	for range games {
		p := chess.Crazyhouse.Start()
		first := len(all)
		for ply := range 50 {
			moves.N = 0
			if p.Legal(&moves); moves.N == 0 {
				break
			}
			m := moves.Moves[rng.IntN(moves.N)]
			us := p.SideToMove()
			score := search.Score(100 * (p.Hand(us).Total() - p.Hand(us.Other()).Total()))
			all = append(all, sample.Sample{Pos: p, Move: m, Score: score, Ply: uint16(ply)})
			p.Make(m)
		}
		white := int8(1)
		if p.Hand(chess.White).Total() < p.Hand(chess.Black).Total() {
			white = -1
		}
		for i := first; i < len(all); i++ {
			if all[i].Result = white; all[i].Pos.SideToMove() == chess.Black {
				all[i].Result = -white
			}
		}
	}
	return all
}

// dataFile writes samples into a .chain, a .plain or a .compact file, which has no results.
func dataFile(t testing.TB, name string, all []sample.Sample) string {
	t.Helper()
	var data bytes.Buffer
	var w sample.Writer = plain.NewWriter(&data)
	switch filepath.Ext(name) {
	case chain.Extension:
		c, err := chain.NewWriter(&data, chess.Crazyhouse, sample.CentipawnUnit)
		if err != nil {
			t.Fatal(err)
		}
		w = c
	case ".compact":
		w = thesis.NewWriter(&data, true)
	}
	for i := range all {
		if err := w.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(w.Close(), os.WriteFile(path, data.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// settings are those of a short run.
func settings(t testing.TB, data ...string) configs.Learn {
	t.Helper()
	l, err := configs.LearnPreset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	l.Data, l.Batch, l.Epochs, l.Workers = data, 64, 3, 1
	l.SaveEvery, l.ReportEvery = 1500, 500
	l.SkipInCheck, l.SkipCaptures, l.Newest = false, false, 0.1
	l.Features, l.Factorise = "All + Hand", false // few rows, which are written quickly
	return l
}

func quiet(dir string) Options { return Options{Dir: dir, Out: io.Discard, Progress: io.Discard} }

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// logOf returns the log of a run without times.
func logOf(t testing.TB, dir string) (entries []Entry, text string) {
	t.Helper()
	for line := range strings.Lines(string(read(t, dir, logFile))) {
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		e.Seconds = 0
		entries = append(entries, e)
		bare, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text += string(bare) + "\n"
	}
	return entries, text
}

// sameRun compares what two runs left: nets, checkpoints, logs.
func sameRun(t *testing.T, got, want string) {
	t.Helper()
	_, gotLog := logOf(t, got)
	_, wantLog := logOf(t, want)
	if gotLog != wantLog {
		t.Errorf("logs differ:\n%s\nwant\n%s", gotLog, wantLog)
	}
	paths := []string{netFile}
	for _, dir := range []string{checkpoints, bestDir} {
		names, err := filepath.Glob(filepath.Join(want, dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if n := len(names); dir == checkpoints && n > 1 {
			names = names[n-1:] // which are older depends on interruptions
		}
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, filepath.Base(name)))
		}
	}
	for _, path := range paths {
		if !bytes.Equal(read(t, got, path), read(t, want, path)) {
			t.Errorf("%s differs", path)
		}
	}
}

func TestRun(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(60)))
	cfg.KeepNets = true
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	s, err := Run(t.Context(), cfg, Options{Dir: dir, Out: &out, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"games", "to train on", "All + Hand 16", "transformer of 928 rows, 0 virtual\n", "adamw, power loss"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	for _, name := range []string{configFile, dataText, dataJSON, dataFigure, logFile, lossFigure, netFile, summaryFile, "events.out.tfevents.*", "nets/step-000000000000.nnue"} {
		if found, _ := filepath.Glob(filepath.Join(dir, name)); len(found) != 1 {
			t.Errorf("%d files %s", len(found), name)
		}
	}
	entries, _ := logOf(t, dir)
	first, last := entries[0], entries[len(entries)-1]
	if first.Step != 0 || last.Step != s.Steps || last.HeldOut == nil || last.HeldOut.Mean >= first.HeldOut.Mean {
		t.Errorf("first %+v, last %+v of %d steps: it did not learn", first, last, s.Steps)
	}
	if want := uint64(3*s.Positions+63) / 64; s.Steps != want {
		t.Errorf("%d steps for 3 epochs of %d, want %d", s.Steps, s.Positions, want)
	}
	net, err := nnue.ReadFile(s.NetFile, chess.Crazyhouse)
	if err != nil || net.Architecture().String() != s.Architecture || len(s.Values) == 0 || s.PSQTStart != cfg.PSQTStart {
		t.Errorf("net %v, summary %+v", err, s)
	}
	if c := s.Check; c.Positions < 100 || c.Positions < s.Export.Positions || c.P999 <= 0 || c.Deviation <= 0 || c.Deviation > c.P999 || math.Abs(c.Mean) > s.Export.MaxRaw+1 {
		t.Errorf("check %+v, of the export %+v", c, s.Export)
	}
	var text strings.Builder
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "held out: loss") || !strings.Contains(text.String(), "the bound of 50") {
		t.Errorf("printed %q, error %v", text.String(), err)
	}

	// A run that is over stays as it is; other settings and other data are refused.
	again, err := Run(t.Context(), cfg, quiet(dir))
	if err != nil || again.HeldOut != s.HeldOut {
		t.Errorf("again %+v, error %v", again, err)
	}
	other := cfg
	other.Width = 32
	if _, err := Run(t.Context(), other, quiet(dir)); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "width: 16 there, 32 now") {
		t.Errorf("error %v, want ErrOther", err)
	}
	if err := os.Remove(filepath.Join(dir, summaryFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dataFile(t, "a.chain", samples(50)), cfg.Data[0]); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), cfg, quiet(dir))
	if !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "found 50 games of 2475 positions") || !strings.Contains(err.Error(), "expected 60 games of 2975 positions") {
		t.Errorf("other data: error %v, want ErrOther", err)
	}
}

// counting is a context that ends after a number of calls of Err.
type counting struct {
	context.Context
	left int
}

func (c *counting) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A run interrupted at any step, or left by a crash as it was at any save, ends
// as if it had not been: with mirroring, filters by chance, newbob and data
// beyond the memory too.
func TestResume(t *testing.T) {
	data, more := dataFile(t, "a.chain", samples(60)), dataFile(t, "more.chain", samples(250))
	for name, change := range map[string]func(*configs.Learn){
		"plain": func(l *configs.Learn) {
			if !testing.Short() {
				l.Features, l.Factorise = features.HalfKAv2Name, true
			}
		},
		"newbob": func(l *configs.Learn) { l.NewbobDecay, l.NewbobTries, l.LR = 0.5, 2, "0.02" },
		"windows": func(l *configs.Learn) {
			l.Data, l.MemoryMB, l.Mirror, l.RandomSkip, l.Batch, l.Epochs, l.SaveEvery = []string{more}, 1, 50, 0.2, 128, 1.5, 3000
		},
		"pqr": func(l *configs.Learn) {
			l.Data, l.Loss, l.RequireScore, l.SaveEvery, l.Epochs = []string{greedyGames(t, 60)}, "pqr", false, 300, 12
		},
		"mixed": func(l *configs.Learn) { l.Data, l.Weights = []string{data, data}, "2,1" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(t, data)
			change(&cfg)
			t.Parallel() // most of the time is spent waiting for the disk
			straight, broken := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
			if _, err := Run(t.Context(), cfg, quiet(straight)); err != nil {
				t.Fatal(err)
			}
			parts := 0
			for ; ; parts++ {
				_, err := Run(&counting{t.Context(), 25 + 9*parts}, cfg, quiet(broken))
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) || parts > 50 {
					t.Fatalf("part %d: %v", parts, err)
				}
				if parts%2 == 1 { // as if killed: what came after the last save but one is lost
					names, _ := filepath.Glob(filepath.Join(broken, checkpoints, "*"))
					if slices.Sort(names); len(names) > 1 {
						if err := os.Remove(names[len(names)-1]); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if parts < 2 {
				t.Errorf("interrupted %d times only", parts)
			}
			sameRun(t, broken, straight)
		})
	}
}

func TestNewbobKeepsTheBest(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(60)))
	cfg.NewbobDecay, cfg.NewbobTries, cfg.LR, cfg.Epochs, cfg.MeanDecay = 0.5, 3, "0.05", 40, 0
	dir := t.TempDir()
	s, err := Run(t.Context(), cfg, quiet(dir))
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := logOf(t, dir)
	best := entries[0].HeldOut.Mean
	for _, e := range entries {
		if e.Verdict == trainer.Accepted {
			best = e.HeldOut.Mean
		}
	}
	if last := entries[len(entries)-1]; last.Verdict != trainer.Finished || s.HeldOut.Mean != best {
		t.Errorf("ended with verdict %q and loss %g, want %q and the best, %g", last.Verdict, s.HeldOut.Mean, trainer.Finished, best)
	}
}

// Newbob without anything to judge by is refused before it gives up every net.
func TestNewbobNeedsHeldOut(t *testing.T) {
	all := samples(3)
	cfg := settings(t, dataFile(t, "a.chain", all))
	cfg.NewbobDecay, cfg.Epochs = 0.5, 1
	dir := t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(dir)); !errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), "no held-out positions in 3 games") {
		t.Errorf("error %v, want trainer.ErrConfig", err)
	}
	cfg.Validation = dataFile(t, "v.chain", all[:50])
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Errorf("with a validation file: %v", err)
	}
}

// TestMissingFiles: a run whose first net or positions to measure are not there
// begins no directory.
func TestMissingFiles(t *testing.T) {
	for name, change := range map[string]func(*configs.Learn, string){
		"init":       func(c *configs.Learn, path string) { c.Init = path },
		"validation": func(c *configs.Learn, path string) { c.Validation = path },
	} {
		cfg := settings(t, dataFile(t, "a.chain", samples(3)))
		change(&cfg, filepath.Join(t.TempDir(), "none.chain"))
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := Run(t.Context(), cfg, quiet(dir)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s: found error %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found a directory, error %v, expected none", name, err)
		}
	}
}

// TestForeignDirectory: a run begins in no directory that has one of its files.
func TestForeignDirectory(t *testing.T) {
	for _, name := range []string{netFile, planesFile, dataText, lossFigure, logFile, summaryFile, pauseFile, checkpoints} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), settings(t, dataFile(t, "a.chain", samples(3))), quiet(dir)); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: found error %v, expected %v", name, err, ErrOther)
		}
		if text, err := os.ReadFile(path); string(text) != "precious" {
			t.Errorf("%s: found %q, error %v", name, text, err)
		}
	}
}

// Formats and directories give the same positions; a file may be measured
// instead of held-out games.
func TestData(t *testing.T) {
	all := samples(40)
	file := dataFile(t, "a.plain", all)
	files, err := dataset.Files([]string{filepath.Dir(file)})
	if err != nil || !slices.Equal(files, []string{file}) {
		t.Fatalf("files %q, error %v", files, err)
	}
	cfg := settings(t, files...)
	cfg.Validation = dataFile(t, "v.chain", all[:300])
	for _, weights := range []string{"", "1,2"} {
		if cfg.Weights = weights; weights != "" {
			cfg.Data = []string{file, file}
		}
		var out strings.Builder
		dir := t.TempDir()
		s, err := Run(t.Context(), cfg, Options{Dir: dir, Out: &out, Progress: io.Discard})
		if err != nil || s.HeldOut.Positions != 300 || !strings.Contains(out.String(), "measured: 300 positions of "+cfg.Validation) {
			t.Errorf("weights %q: %d measured, error %v, want 300 in\n%s", weights, s.HeldOut.Positions, err, out.String())
		}
		named := strings.Contains(out.String(), file+", weight 1:\n") && strings.Contains(out.String(), file+", weight 2:\n")
		if figures, _ := filepath.Glob(filepath.Join(dir, "data*.png")); named != (weights != "") || len(figures) != max(1, 2*strings.Count(weights, ",")) {
			t.Errorf("weights %q: figures %q, printed\n%s", weights, figures, out.String())
		}
	}
}

// publish makes a directory such as that of a run, whose newest net is a file's, and
// returns its path.
func publish(t *testing.T, file string) string {
	t.Helper()
	net, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := nets.Open(filepath.Join(dir, "nets"))
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := store.Put(bytes.NewReader(net), nets.KindNNUE)
	if err != nil {
		t.Fatal(err)
	}
	m := nets.Manifest{Schema: nets.ManifestSchema, ID: id, Size: int64(len(net)), Kind: nets.KindNNUE, Variant: "crazyhouse", Generation: 3}
	if err := errors.Join(store.PutManifest(m), store.SetCurrent(id)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInit(t *testing.T) {
	data := dataFile(t, "a.chain", samples(40))
	cfg := settings(t, data)
	before := t.TempDir()
	s, err := Run(t.Context(), cfg, quiet(before))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Init = before
	dir := t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Fatal(err)
	}
	if entries, _ := logOf(t, dir); entries[0].HeldOut.Mean != s.HeldOut.Mean {
		t.Errorf("begins at loss %g, want %g", entries[0].HeldOut.Mean, s.HeldOut.Mean)
	}

	// Of a net only the rounding is lost; one of another architecture is refused.
	cfg.Init, dir = s.NetFile, t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Fatal(err)
	}
	if entries, _ := logOf(t, dir); math.Abs(entries[0].HeldOut.Mean/s.HeldOut.Mean-1) > 0.01 {
		t.Errorf("begins at loss %g, want about %g", entries[0].HeldOut.Mean, s.HeldOut.Mean)
	}
	// The program's own net is of its own architecture.
	own := cfg
	own.Init, own.Features, own.Width, own.Activation = builtin.Name, "KingZone * (All + Hand)", 512, "pairwise"
	tr, err := NewTraining(own.Variant, own.Net, own.Settings)
	if err != nil {
		t.Fatal(err)
	}
	m, err := tr.NewModel(trainer.Constant(0.001), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := errors.Join(CheckInit(builtin.Name, dir+"/none"), tr.Start(m, &text)); err != nil || text.String() != "first net from builtin\n" {
		t.Errorf("the program's own net: error %v, printed %q", err, text.String())
	}
	// The directory of a run stands for its net.
	var out strings.Builder
	cfg.Init = publish(t, s.NetFile)
	if _, err := Run(t.Context(), cfg, Options{Dir: t.TempDir(), Out: &out, Progress: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), cfg.Init+": the newest net published, generation 3, ") {
		t.Errorf("the net of a run: printed\n%s", out.String())
	}
	cfg.Init = s.NetFile
	cfg.Width = 32
	if _, err := Run(t.Context(), cfg, quiet(t.TempDir())); !errors.Is(err, nnue.ErrArchitecture) || !strings.Contains(err.Error(), "found crazyhouse All + Hand 16+8") || !strings.Contains(err.Error(), "expected crazyhouse All + Hand 32+8") {
		t.Errorf("another architecture: error %v", err)
	}

	// A net that is not there is missed before the data are read.
	cfg.Init = filepath.Join(dir, "none.nnue")
	var progress strings.Builder
	if _, err := Run(t.Context(), cfg, Options{Dir: t.TempDir(), Out: io.Discard, Progress: &progress}); !errors.Is(err, os.ErrNotExist) || progress.Len() > 0 {
		t.Errorf("no first net: error %v, progress %q", err, progress.String())
	}
	// So is a file that is none.
	if err := os.WriteFile(cfg.Init, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, Options{Dir: t.TempDir(), Out: io.Discard, Progress: &progress}); !errors.Is(err, nnue.ErrFormat) || progress.Len() > 0 {
		t.Errorf("no net in the file: error %v, progress %q", err, progress.String())
	}
}

func TestCheckRefuses(t *testing.T) {
	data := dataFile(t, "a.chain", samples(1))
	for _, tc := range []struct {
		want   string // in the error
		change func(*configs.Learn)
	}{
		{"found no data", func(l *configs.Learn) { l.Data = nil }},
		{`found weights "1,2"`, func(l *configs.Learn) { l.Weights = "1,2" }},
		{`found weights "a"`, func(l *configs.Learn) { l.Weights = "a" }},
		{`lr: schedule "up"`, func(l *configs.Learn) { l.LR = "up" }},
		{`lambda: schedule "linear:0"`, func(l *configs.Learn) { l.Lambda = "linear:0" }},
		{"width 17", func(l *configs.Learn) { l.Width = 17 }},
		{`found "Half"`, func(l *configs.Learn) { l.Features = "Half" }},
		{"optimiser: found best", func(l *configs.Learn) { l.Optimiser = "best" }},
		{"loss: found l3", func(l *configs.Learn) { l.Loss = "l3" }},
		{`"shogi"`, func(l *configs.Learn) { l.Variant = "shogi" }},
		{"epochs: found +Inf", func(l *configs.Learn) { l.Epochs = math.Inf(1) }},
		{"epochs: found 1e+18", func(l *configs.Learn) { l.Epochs = 1e18 }},
		{"memory_mb: found 17592186044417", func(l *configs.Learn) { l.MemoryMB = 17592186044417 }},
		{"held_out: found 0", func(l *configs.Learn) { l.NewbobDecay, l.HeldOut = 0.5, 0 }},
	} {
		cfg := settings(t, data)
		tc.change(&cfg)
		if err := Check(cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want one with %s", err, tc.want)
		}
	}
}

// Schedules with a value out of range are refused before anything is read.
func TestScheduleRange(t *testing.T) {
	for _, tc := range []struct{ key, value, want string }{
		{"lambda", "70", "lambda: found \"70\", which reaches 70, expected at most 1"},
		{"lambda", "linear:0.7:1.2", "reaches 1.2, expected at most 1"},
		{"lambda", "0.5:10%,constant:1.1", "reaches 1.1"},
		{"lambda", "-0.1", "value -0.1"},
		{"lr", "warmup:2%,1.5", "lr: found \"warmup:2%,1.5\", which reaches 1.5, expected at most 1"},
		{"lr", "onecycle:3:0.1", "reaches 3"},
		{"lambda", "exponential:0.7:1", ""},
		{"lr", "1", ""},
	} {
		cfg := settings(t, "none.chain")
		if err := cfg.Set(tc.key, tc.value); err != nil {
			t.Fatal(err)
		}
		err := Check(cfg)
		if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s %s: error %v, want %q", tc.key, tc.value, err, tc.want)
		}
	}
	cfg := planesSettings(t, "none.chain")
	cfg.LR = "2" // is for the rate of planes to take
	if err := Check(cfg); err != nil {
		t.Error(err)
	}
}

func TestDivergedBatchIsKept(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	p, err := newPlan(cfg)
	if err != nil {
		t.Fatal(err)
	}
	batch := samples(2)
	var data bytes.Buffer
	if err := writeChain(&data, p, batch); err != nil {
		t.Fatal(err)
	}
	r := chain.NewReader(&data)
	for i := range batch {
		var s sample.Sample
		if err := r.Read(&s); err != nil || s.Pos.FEN() != batch[i].Pos.FEN() || s.Score != batch[i].Score {
			t.Fatalf("sample %d: %s, error %v, want %s", i, s.Pos.FEN(), err, batch[i].Pos.FEN())
		}
	}
}
