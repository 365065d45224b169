package selfplay

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
)

func TestRunsHaveIdentities(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	ids := map[string]bool{}
	for range 2 {
		dir := filepath.Join(t.TempDir(), "my run")
		r := openRun(t, dir, cfg)
		if !runID.MatchString(r.id()) || r.identity.Name != "my-run" || len(r.identity.PublicKey) != 64 {
			t.Errorf("identity %+v", r.identity)
		}
		ids[r.id()] = true
		was := r.identity
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r = openRun(t, dir, cfg); r.identity != was {
			t.Errorf("after a restart %+v, want %+v", r.identity, was)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		other := cfg
		other.Run.ID = "another"
		if _, err := Open(t.Context(), dir, other, Options{}); err == nil || !strings.Contains(err.Error(), "another directory") {
			t.Errorf("another id: error %v", err)
		}
	}
	if len(ids) != 2 {
		t.Error("two runs have one id")
	}
}

// A run of an earlier build keeps its id and goes on counting its starts.
func TestIdentityOfEarlierBuild(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{stateFile: `{"schema":1,"id":"crazyhouse-1","starts":5,"build":"old"}`, configFile: string(cfg.YAML())} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := nets.CreateKey(filepath.Join(dir, keyFile)); err != nil {
		t.Fatal(err)
	}
	loopOnce(t, dir, cfg, Limits{Games: 1})
	r := openRun(t, dir, cfg)
	defer r.Close()
	for id, n := range onDisk(t, r) {
		if !strings.HasPrefix(id, "crazyhouse-1-local-5-") || n != 1 {
			t.Errorf("game %s is stored %d times, want one of start 5", id, n)
		}
	}
	if r.id() != "crazyhouse-1" {
		t.Errorf("id %s", r.id())
	}
}

// What a run cannot go on without is missed by name, and nothing is made in its place.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{stateFile, keyFile} {
		cfg := smallConfig(t)
		dir := filepath.Join(t.TempDir(), "run")
		loopOnce(t, dir, cfg, Limits{Games: 1})
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), dir, cfg, Options{}); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "backup") {
			t.Errorf("without %s: error %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made anew", name)
		}
	}
}

// An actor that has lost its file is another actor: its games have other ids.
func TestLostActor(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	loopOnce(t, dir, cfg, Limits{Games: 2})
	if err := os.Remove(filepath.Join(dir, actorFile)); err != nil {
		t.Fatal(err)
	}
	if s := loopOnce(t, dir, cfg, Limits{Games: 2}); s.Games != 4 || s.Duplicates != 0 {
		t.Errorf("%d games, %d of them twice; want 4 and none", s.Games, s.Duplicates)
	}
	text, err := os.ReadFile(filepath.Join(dir, actorFile))
	if err != nil || strings.Contains(string(text), `"local"`) {
		t.Errorf("the new actor: %s, error %v", text, err)
	}
}

// A run that ends while its server has lost it keeps what it knows of its pointers.
func TestPointersStayWhenServerIsEmpty(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	offerNet(t, r, 1)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := r.keepPointers(ended); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(r.path(pointersFile))
	if err != nil || !strings.Contains(string(want), "history") {
		t.Fatalf("kept %s, error %v", want, err)
	}
	empty := newRun(r.dir, cfg, r.opt)
	empty.identity, empty.events = r.identity, r.events
	if empty.conn, err = bus.Open(t.Context(), bus.Options{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	defer empty.conn.Close()
	if err := empty.join(t.Context(), bus.JoinOptions{MaxBytes: cfg.Bus.MaxBytes}); err != nil {
		t.Fatal(err)
	}
	if err := empty.keepPointers(ended); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(r.path(pointersFile)); err != nil || string(got) != string(want) {
		t.Errorf("after a look at an empty server: %s, error %v, expected %s", got, err, want)
	}
}

// A server's disk that is lost takes nothing from a loop: pointers and nets come back.
func TestBusOfLoopIsLost(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	dir := filepath.Join(t.TempDir(), "run")
	first := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	r := openRun(t, dir, cfg)
	kept, err := r.readPointers()
	if err == nil {
		err = r.keepOnce(t.Context(), kept, true)
	}
	current := netAt(t, r, r.currentKey())
	history, e := r.bus.PointerHistories(t.Context())
	want := valuesOf(history)
	if err := errors.Join(err, e, r.Close(), os.RemoveAll(filepath.Join(dir, busDir))); err != nil {
		t.Fatal(err)
	}
	r = openRun(t, dir, cfg)
	if back := netAt(t, r, r.currentKey()); back != current || back.Net == "" {
		t.Errorf("current %+v, want %+v", back, current)
	}
	if _, err := r.bus.NetManifest(t.Context(), current.Net); err != nil {
		t.Errorf("the net on the bus: %v", err)
	}
	if history, err = r.bus.PointerHistories(t.Context()); err != nil || !maps.EqualFunc(valuesOf(history), want, slices.Equal) || len(want) < 4 {
		t.Errorf("found pointers %v, error %v, expected %v", valuesOf(history), err, want)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if s := loopOnce(t, dir, cfg, Limits{Games: 1}); s.Generation < first.Generation {
		t.Errorf("generation %d, want at least %d", s.Generation, first.Generation)
	}
}
