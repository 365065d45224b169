package rescore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
	"github.com/crazyhouse-rl/selfplay/search"
)

const positions = "../sample/plain/testdata/crazyhouse.plain"

func newEngine() (game.Player, error) {
	return ab.New(func() ab.Evaluator { return ab.NewMaterial() }, ab.Options{HashMB: 1}), nil
}

// config rescores the positions into a file of a directory of its own.
func config(t *testing.T, f dataset.Format) Config {
	t.Helper()
	return Config{
		Settings: Settings{Player: "material", Net: "material", Limits: search.Limits{Nodes: 60}, Filter: sample.Filter{SkipInCheck: true, Keep: 0.8}, Seed: 3},
		Target:   dataset.Target{Name: filepath.Join(t.TempDir(), "out."+f.String()), Format: f, Variant: chess.Crazyhouse, Unit: sample.CentipawnUnit},
		New:      newEngine, Threads: 2,
	}
}

// run runs with the positions from their beginning.
func run(ctx context.Context, t *testing.T, cfg Config) (Progress, error) {
	t.Helper()
	src := open(t, positions)
	defer src.Close()
	cfg.Sources = []*dataset.Source{src}
	return Run(ctx, cfg)
}

func open(t *testing.T, name string) *dataset.Source {
	t.Helper()
	f, err := dataset.FormatOf(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.Open(name, f, chess.Crazyhouse, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t *testing.T, name string) []sample.Sample {
	t.Helper()
	s := open(t, name)
	defer s.Close()
	return sampletest.ReadAll(t, s)
}

// twin is what Run writes, the obvious way: an engine of its own for each search.
func twin(t *testing.T, cfg Config) (list []sample.Sample, stuck, calm int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(cfg.Seed, 0))
	selection := sample.Selection{Filter: cfg.Filter, Chance: func(sample.Reason) float64 { return rng.Float64() }}
	for _, s := range readAll(t, positions) {
		if selection.Against(&s, sample.InternalUnit, false) != sample.Kept {
			continue
		}
		if !s.Pos.HasLegalMove() {
			stuck++
			continue
		}
		search := func(limits search.Limits) search.Result {
			e, err := newEngine()
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Search(t.Context(), chess.NewLine(s.Pos), limits)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if cfg.First.Surprise > 0 {
			before := sample.Convert(s.Score, sample.InternalUnit, sample.CentipawnUnit)
			now := search(cfg.First.Limits).Score
			if difference := min(max(now, -1000), 1000) - min(max(before, -1000), 1000); max(difference, -difference) < 150 {
				calm++
				continue
			}
		}
		r := search(cfg.Limits)
		s.Move, s.Score = r.Move, r.Score
		list = append(list, s)
	}
	return list, stuck, calm
}

func TestRun(t *testing.T) { checkRun(t, First{}) }

// Only what surprises a first player is searched.
func TestSurprise(t *testing.T) {
	checkRun(t, First{Player: "material", Net: "material", Limits: search.Limits{Nodes: 1}, Surprise: 150})
}

func checkRun(t *testing.T, first First) {
	t.Helper()
	twinConfig := config(t, dataset.Chain)
	twinConfig.First = first
	want, stuck, calm := twin(t, twinConfig)
	if (calm > 0) != (first.Surprise > 0) {
		t.Fatalf("%d positions do not surprise %+v", calm, first)
	}
	for _, threads := range []int{1, 3} {
		cfg := config(t, dataset.Chain)
		cfg.Threads, cfg.First, cfg.NewFirst = threads, first, newEngine
		done, err := run(t.Context(), t, cfg)
		if err != nil {
			t.Fatal(err)
		}
		found := readAll(t, cfg.Target.Name)
		if len(found) != len(want) || done.Written != int64(len(want)) || done.Stuck != stuck || done.Calm != calm || len(want) == 0 {
			t.Fatalf("%d threads: %d positions written, %d stuck, %d calm, %d in the file, expected %d, %d and %d", threads, done.Written, done.Stuck, done.Calm, len(found), len(want), stuck, calm)
		}
		for i := range want {
			f, w := &found[i], &want[i]
			if f.Pos.FEN() != w.Pos.FEN() || f.Move != w.Move || f.Score != w.Score || f.Result != w.Result || f.Ply != w.Ply {
				t.Fatalf("%d threads, position %d: found %s %v %d %d %d, expected %s %v %d %d %d", threads, i,
					f.Pos.FEN(), f.Move, f.Score, f.Result, f.Ply, w.Pos.FEN(), w.Move, w.Score, w.Result, w.Ply)
			}
		}
		if again, err := run(t.Context(), t, cfg); err != nil || again.Searched != 0 || again.Written != done.Written {
			t.Errorf("a complete run was run again: %+v, error %v", again, err)
		}
	}
}

// stopping stops a run within the search of some position.
type stopping struct {
	game.Player
	left *int
	stop func()
}

func (s *stopping) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if *s.left--; *s.left == 0 {
		s.stop()
	}
	return s.Player.Search(ctx, line, lim)
}

// A run saves within the interval however long its searches take: what is stopped has kept
// all but the searches of the last batch.
func TestSaveInterval(t *testing.T) {
	cfg := config(t, dataset.Plain)
	cfg.Threads, cfg.SaveInterval = 1, time.Nanosecond // so a search takes longer
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	left := 10
	cfg.New = func() (game.Player, error) {
		e, err := newEngine()
		return &stopping{e, &left, stop}, err
	}
	if _, err := run(ctx, t, cfg); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := len(readAll(t, cfg.Target.Name)); n < 8 {
		t.Errorf("10 searches, and %d positions are kept", n)
	}
	r := &runner{batchSize: 1}
	for range 20 {
		r.resize(time.Millisecond, time.Second)
	}
	if r.batchSize != mostBatch {
		t.Errorf("quick searches, %d of them in a batch, expected %d", r.batchSize, mostBatch)
	}
	for range 20 {
		r.resize(time.Second, time.Second)
	}
	if r.batchSize != 1 {
		t.Errorf("slow searches, %d of them in a batch, expected 1", r.batchSize)
	}
}

// However often a run is stopped, and whatever a crash leaves at the end of the file, it
// comes out as if nothing had happened.
func TestResume(t *testing.T) {
	for _, format := range []dataset.Format{dataset.Bin, dataset.Chain, dataset.Plain} {
		whole := config(t, format)
		if _, err := run(t.Context(), t, whole); err != nil {
			t.Fatal(err)
		}
		cfg := config(t, format)
		cfg.Threads, cfg.SaveInterval = 1, 10*time.Millisecond
		stops := 0
		for {
			ctx, stop := context.WithCancel(t.Context())
			left := 300
			cfg.New = func() (game.Player, error) {
				e, err := newEngine()
				return &stopping{e, &left, stop}, err
			}
			_, err := run(ctx, t, cfg)
			stop()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if stops++; stops > 1000 {
				t.Fatal("no end")
			}
			f, err := os.OpenFile(cfg.Target.Name, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString("left by a crash")
			}
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if stops == 0 {
			t.Error("was never stopped")
		}
		want, found := readAll(t, whole.Target.Name), readAll(t, cfg.Target.Name)
		if len(found) != len(want) {
			t.Fatalf("%v: found %d positions, expected %d", format, len(found), len(want))
		}
		for i := range want {
			if found[i].Pos.FEN() != want[i].Pos.FEN() || found[i].Score != want[i].Score || found[i].Move != want[i].Move {
				t.Fatalf("%v: position %d: found %+v, expected %+v", format, i, found[i], want[i])
			}
		}
		if format == dataset.Chain {
			continue // its blocks may be cut elsewhere
		}
		a, err := os.ReadFile(whole.Target.Name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(cfg.Target.Name); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%v: the files differ, error %v", format, err)
		}
	}
}

// What is not of this run is refused and stays as it is.
func TestRefused(t *testing.T) {
	cfg := config(t, dataset.Bin)
	if _, err := run(t.Context(), t, cfg); err != nil {
		t.Fatal(err)
	}
	name := cfg.Target.Name
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(stateName(name))
	if err != nil {
		t.Fatal(err)
	}
	reset := func() {
		if err := errors.Join(os.WriteFile(name, whole, 0o666), os.WriteFile(stateName(name), state, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what string
		do   func(*Config) error
		want error
	}{
		{"other limits", func(c *Config) error { c.Limits.Nodes++; return nil }, ErrOther},
		{"another filter", func(c *Config) error { c.Filter.Keep = 0.7; return nil }, ErrOther},
		{"no state", func(*Config) error { return os.Remove(stateName(name)) }, ErrOther},
		{"damaged state", func(*Config) error { return os.WriteFile(stateName(name), state[:len(state)-20], 0o666) }, ErrDamaged},
		{"shorter file", func(*Config) error { return os.WriteFile(name, whole[:len(whole)-1], 0o666) }, ErrDamaged},
		{"a first player", func(c *Config) error { c.First.Surprise, c.NewFirst = 100, newEngine; return nil }, ErrOther},
		{"too great a surprise", func(c *Config) error { c.First.Surprise = 2001; return nil }, ErrConfig},
		{"no limit", func(c *Config) error { c.Limits = search.Limits{}; return nil }, ErrConfig},
		{"standard output", func(c *Config) error { c.Target.Name = "-"; return nil }, ErrConfig},
	} {
		reset()
		other := cfg
		if err := c.do(&other); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(name)
		if _, err := run(t.Context(), t, other); !errors.Is(err, c.want) {
			t.Errorf("%s: found error %v, expected %v", c.what, err, c.want)
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file was changed, error %v", c.what, err)
		}
	}
	reset()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := dirlock.LockFile(f); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), t, cfg); !errors.Is(err, dirlock.ErrFileHeld) {
		t.Errorf("a file in use: found error %v, expected %v", err, dirlock.ErrFileHeld)
	}
}

// TestOtherInput: a run goes on with what has come after its input, and not with other input.
func TestOtherInput(t *testing.T) {
	text, err := os.ReadFile(positions)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	records := func(first, last int) []byte { return bytes.Join(lines[6*first:6*last], nil) } // of six lines
	cfg := config(t, dataset.Bin)
	in := filepath.Join(t.TempDir(), "in.plain")
	for _, test := range []struct {
		what string
		text []byte
		want error
	}{
		{"at first", records(0, 60), nil}, {"again", records(0, 60), nil}, {"more", records(0, 100), nil},
		{"less", records(0, 99), ErrOther}, {"old ones deleted", records(20, 120), ErrOther}, {"again", records(0, 100), nil},
	} {
		if err := os.WriteFile(in, test.text, 0o666); err != nil {
			t.Fatal(err)
		}
		src := open(t, in)
		cfg.Sources = []*dataset.Source{src}
		_, err := Run(t.Context(), cfg)
		src.Close()
		if !errors.Is(err, test.want) {
			t.Errorf("%s: found error %v, expected %v", test.what, err, test.want)
		}
	}
	// A state of an earlier build does not say which samples were read.
	at, _, err := readState(cfg.Target.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, done := range []bool{true, false} {
		old := at
		old.Input, old.Done = 0, done
		r := &runner{cfg: &cfg}
		if err := r.save(old); err != nil {
			t.Fatal(err)
		}
		src := open(t, in)
		cfg.Sources = []*dataset.Source{src}
		p, err := Run(t.Context(), cfg)
		src.Close()
		if err != nil || p.Written != at.Written || p.Searched > 0 {
			t.Errorf("an older state, done %v: found %+v, error %v", done, p, err)
		}
	}
	whole := config(t, dataset.Bin)
	src := open(t, in)
	defer src.Close()
	whole.Sources = []*dataset.Source{src}
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(whole.Target.Name)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(cfg.Target.Name); err != nil || !bytes.Equal(a, b) {
		t.Errorf("the files differ, error %v", err)
	}
}

// TestNothingLeft: a run that cannot begin leaves no file.
func TestNothingLeft(t *testing.T) {
	none, wrong := config(t, dataset.Bin), config(t, dataset.Binpack) // which is of chess alone
	none.New = func() (game.Player, error) { return nil, errors.New("no player") }
	for _, cfg := range []Config{none, wrong} {
		if _, err := run(t.Context(), t, cfg); err == nil {
			t.Error("no error")
		}
		if files, err := os.ReadDir(filepath.Dir(cfg.Target.Name)); len(files) > 0 {
			t.Errorf("found %v, error %v", files, err)
		}
	}
}

// failing answers with no legal move.
type failing struct{ game.Player }

func (failing) Search(context.Context, *chess.Line, search.Limits) (search.Result, error) {
	return search.Result{Move: chess.NoMove}, nil
}

// A player that fails ends a run; the error names the position.
func TestFailingPlayer(t *testing.T) {
	cfg := config(t, dataset.Bin)
	cfg.New = func() (game.Player, error) {
		e, err := newEngine()
		return failing{e}, err
	}
	done, err := run(t.Context(), t, cfg)
	if err == nil || !strings.Contains(err.Error(), "expected a legal one") || !strings.Contains(err.Error(), "position \"") || done.Written != 0 {
		t.Fatalf("found %+v, error %v", done, err)
	}
	cfg.New = newEngine
	if done, err = run(t.Context(), t, cfg); err != nil || done.Written == 0 {
		t.Errorf("with a sound player after it: found %+v, error %v", done, err)
	}
}

// resigning resigns a quarter of the positions.
type resigning struct{ game.Player }

func resigns(p *chess.Position) bool { return p.Key()%4 == 0 }

func (r resigning) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if resigns(line.Pos()) {
		return search.Result{}, fmt.Errorf("no hope: %w", game.ErrResigned)
	}
	return r.Player.Search(ctx, line, lim)
}

// Positions that a player resigns are left out and counted.
func TestResigned(t *testing.T) {
	newResigning := func() (game.Player, error) {
		e, err := newEngine()
		return resigning{e}, err
	}
	for name, set := range map[string]func(*Config){
		"player": func(c *Config) { c.New = newResigning },
		"first player": func(c *Config) {
			c.First = First{Player: "material", Net: "material", Limits: search.Limits{Nodes: 1}, Surprise: 150}
			c.NewFirst = newResigning
		},
	} {
		whole, cfg := config(t, dataset.Chain), config(t, dataset.Chain)
		want, err := run(t.Context(), t, whole)
		if err != nil {
			t.Fatal(err)
		}
		set(&cfg)
		done, err := run(t.Context(), t, cfg)
		if err != nil || done.Stuck <= want.Stuck || done.Written+done.Stuck+done.Calm != want.Written+want.Stuck {
			t.Fatalf("%s: found %+v, error %v, expected as many positions as in %+v and more that are stuck", name, done, err, want)
		}
		list := readAll(t, cfg.Target.Name)
		if int64(len(list)) != done.Written {
			t.Errorf("%s: found %d positions in the file, expected %d", name, len(list), done.Written)
		}
		for i := range list {
			if resigns(&list[i].Pos) {
				t.Errorf("%s: %s was resigned and is there", name, list[i].Pos.FEN())
			}
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"run":"ab","read":5,"written":3,"stuck":1,"bytes":216,"done":false}`))
	f.Add([]byte(`{"run":"ab","read":9,"written":3,"stuck":1,"calm":5,"bytes":216,"done":true}`))
	f.Add([]byte(`{"run":"ab","read":5,"input":"12345","written":0,"bytes":0}`))
	f.Add([]byte(`{"run":"ab","read":-5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseState(text)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if s.Written+s.Stuck+s.Calm > s.Read || s.Written < 0 || s.Stuck < 0 || s.Calm < 0 || s.Bytes < 0 {
			t.Errorf("accepted %+v", s)
		}
	})
}
