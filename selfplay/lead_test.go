package selfplay

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/await"
)

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
	await.True(t, "the first trainer has the lease", func() bool {
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
	said := events(t, dir)
	if !slices.ContainsFunc(said, func(e map[string]any) bool {
		return strings.HasPrefix(e["msg"].(string), "another process is the trainer") && e["pid"] == float64(os.Getpid())
	}) {
		t.Errorf("events %v, expected one of the other trainer", said)
	}
	if slices.ContainsFunc(said, func(e map[string]any) bool {
		d, _ := e["setting"].(string)
		return strings.HasPrefix(d, "actor.nodes")
	}) {
		t.Errorf("events %v, expected none of a shared setting, which does nothing yet", said)
	}
	stopSecond := work(second)
	await.True(t, "the second trainer waits", func() bool { return strings.HasPrefix(second.Status().Roles[roleTrainer].State, "waiting: ") })
	st, err := first.bus.Stats(t.Context())
	if got := nodes(); err != nil || got != cfg.Actor.Nodes || st.MaxBytes != cfg.Bus.MaxBytes {
		t.Errorf("beside a trainer that waits: %d nodes, %d bytes, error %v, expected %d and %d", got, st.MaxBytes, err, cfg.Actor.Nodes, cfg.Bus.MaxBytes)
	}
	stopFirst()
	await.True(t, "the settings of the second trainer are the run's", func() bool { return nodes() == own.Actor.Nodes })
	if st, err := first.bus.Stats(t.Context()); err != nil || st.MaxBytes != own.Bus.MaxBytes {
		t.Errorf("once it has taken over: room for %d bytes, error %v, expected %d", st.MaxBytes, err, own.Bus.MaxBytes)
	}
	stopSecond()
}

// A trainer that has lost the lease and does not know it yet changes no settings.
func TestSettingsOfFormerTrainer(t *testing.T) {
	t.Parallel()
	r := openRun(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	defer r.Close()
	said := func() [2]bus.Pointer {
		t.Helper()
		config, err := r.bus.Pointer(t.Context(), configKey)
		list, err2 := r.bus.Pointer(t.Context(), settingsKey)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return [2]bus.Pointer{config, list}
	}
	var former *bus.Lease
	for range 2 { // the second takes it from the first
		l, err := r.bus.Lease(t.Context(), trainerLease, r.holder(""), nil)
		if err == nil {
			err = l.Touch(t.Context(), configKey, settingsKey)
		}
		if err != nil {
			t.Fatal(err)
		}
		if former == nil {
			former = l
		}
	}
	before := said()
	r.cfg.Actor.Nodes++
	if err := r.lead(t.Context(), former.SetPointer); !errors.Is(err, bus.ErrFenced) {
		t.Errorf("error %v, expected %v", err, bus.ErrFenced)
	}
	if after := said(); after != before {
		t.Errorf("settings %v, expected %v", after, before)
	}
	if _, err := r.listConfig(t.Context(), r.bus.SetPointer); err != nil { // what is said before
		t.Fatal(err)
	}
	if err := r.lead(t.Context(), former.SetPointer); !errors.Is(err, bus.ErrFenced) {
		t.Errorf("with the list of settings there: error %v, expected %v", err, bus.ErrFenced)
	}
	if after := said(); after[0] != before[0] {
		t.Errorf("settings %v, expected %v", after[0], before[0])
	}
}

// What another process writes, too, is looked at again, after a pause and until the context ends.
func TestAgreement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t.TempDir(), configs.Config{}, Options{})
		n := 0
		err := r.agree(t.Context(), func(context.Context) error {
			if n++; n < 3 {
				return bus.ErrConflict
			}
			return nil
		})
		if err != nil || n != 3 {
			t.Errorf("%d attempts, error %v, expected 3 and none", n, err)
		}
		n = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = r.agree(ctx, func(context.Context) error { n++; return bus.ErrConflict })
		if !errors.Is(err, context.DeadlineExceeded) || n < 10 || n > 41 {
			t.Errorf("%d attempts in a second, error %v, expected 10 to 41 and %v", n, err, context.DeadlineExceeded)
		}
	})
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
