package selfplay

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for late := time.After(patience); !so(); {
		select {
		case <-late:
			t.Fatalf("waited %v in vain: %s", patience, what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// The settings of a trainer that waits are not the run's, nor are its sizes, before it takes
// over.
func TestSettingsOfWaitingTrainer(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Bus.Listen, cfg.Run.Name = "127.0.0.1:0", "zh"
	first := openRun(t, filepath.Join(t.TempDir(), "first"), cfg)
	defer first.Close()
	work := func(r *Run) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Trainer(ctx, Limits{}) }()
		return func() {
			t.Helper()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	nodes := func() uint64 {
		t.Helper()
		p, err := first.bus.Pointer(t.Context(), configKey)
		if err != nil {
			t.Fatal(err)
		}
		said, err := configs.WithShared(cfg, []byte(p.Value), "settings of the run")
		if err != nil {
			t.Fatal(err)
		}
		return said.Actor.Nodes
	}
	stopFirst := work(first)
	await(t, "the first trainer has the lease", func() bool {
		l, err := first.bus.ReadLease(t.Context(), trainerLease)
		return err == nil && l.PID == os.Getpid()
	})

	dir := filepath.Join(t.TempDir(), "second")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{keyFile, configFile} {
		text, err := os.ReadFile(first.path(name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	id := first.identity
	id.Instance = "second"
	if err := id.write(dir); err != nil {
		t.Fatal(err)
	}
	own := cfg
	own.Bus.Listen, own.Bus.URL, own.Bus.MaxBytes, own.Actor.Nodes = "", "nats://"+first.conn.Addr(), 2*cfg.Bus.MaxBytes, cfg.Actor.Nodes+7
	second := openRun(t, dir, own)
	defer second.Close()
	stopSecond := work(second)
	await(t, "the second trainer waits", func() bool { return strings.HasPrefix(second.Status().Roles[roleTrainer].State, "waiting: ") })
	st, err := first.bus.Stats(t.Context())
	if got := nodes(); err != nil || got != cfg.Actor.Nodes || st.MaxBytes != cfg.Bus.MaxBytes {
		t.Errorf("beside a trainer that waits: %d nodes, %d bytes, error %v, expected %d and %d", got, st.MaxBytes, err, cfg.Actor.Nodes, cfg.Bus.MaxBytes)
	}
	stopFirst()
	await(t, "the settings of the second trainer are the run's", func() bool { return nodes() == own.Actor.Nodes })
	stopSecond()
}

// Only the trainer gives the run to a server that has lost it.
func TestLostRunIsGivenBackByTheTrainer(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	r := openRun(t, filepath.Join(t.TempDir(), "run"), cfg)
	defer r.Close()
	offerNet(t, r, 1)
	kept, err := r.readPointers()
	if err == nil {
		err = r.keepOnce(t.Context(), kept, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	empty := newRun(r.dir, cfg, r.opt)
	empty.identity, empty.events, empty.variant, empty.store, empty.owner = r.identity, r.events, r.variant, r.store, r.owner
	if empty.conn, err = bus.Open(t.Context(), bus.Options{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	defer empty.conn.Close()
	if err := empty.join(t.Context(), bus.JoinOptions{MaxBytes: cfg.Bus.MaxBytes}); err != nil {
		t.Fatal(err)
	}
	if err := empty.keepOnce(t.Context(), kept, true); !errors.Is(err, bus.ErrNoPointer) {
		t.Errorf("without the lease: error %v, expected %v", err, bus.ErrNoPointer)
	}
	if runs, err := empty.conn.Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("without the lease: runs %v, error %v, expected none", runs, err)
	}
	empty.status.holds(trainerLease, true)
	if err := empty.keepOnce(t.Context(), kept, true); err != nil {
		t.Fatal(err)
	}
	if found, want := netAt(t, empty, empty.candidateKey()), netAt(t, r, r.candidateKey()); found != want {
		t.Errorf("with it: candidate %+v, expected %+v", found, want)
	}
	if _, err := empty.bus.Pointer(t.Context(), configKey); err != nil {
		t.Error(err)
	}
}
