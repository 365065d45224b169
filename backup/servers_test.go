package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
)

// joinAt joins the run with the given id on servers.
func joinAt(t *testing.T, cfg configs.Config, id string, o bus.JoinOptions) (*bus.Bus, error) {
	t.Helper()
	conn, err := bus.Open(t.Context(), bus.Options{URL: cfg.Bus.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.Join(t.Context(), id, o)
}

// room joins likewise and checks how large the stream of games is.
func room(t *testing.T, cfg configs.Config, id string, o bus.JoinOptions, want int64) {
	t.Helper()
	b, err := joinAt(t, cfg, id, o)
	if err != nil {
		t.Fatal(err)
	}
	if st, err := b.Stats(t.Context()); err != nil || st.MaxBytes != want {
		t.Errorf("the stream of games has room for %d bytes, error %v, expected %d", st.MaxBytes, err, want)
	}
}

// Servers that have another run of the same name stay as they are.
func TestRestoreBesideNamesake(t *testing.T) {
	t.Parallel()
	cfg, other, base := serverConfig(t), serverConfig(t), t.TempDir()
	output := filepath.Join(base, "backup")
	begun(t, filepath.Join(base, "run"), cfg)
	begun(t, filepath.Join(base, "other"), other)
	create(t, filepath.Join(base, "run"), cfg, output, Options{})
	back := filepath.Join(base, "back")
	if err := tryRestore(t, output, back, RestoreOptions{Servers: &other}); !errors.Is(err, bus.ErrRunExists) {
		t.Errorf("error %v, expected %v", err, bus.ErrRunExists)
	}
	_, s := newest(t, output)
	if _, err := joinAt(t, other, s.ID, bus.JoinOptions{Look: true}); !errors.Is(err, bus.ErrMissing) {
		t.Errorf("the run that was not restored: error %v, expected %v", err, bus.ErrMissing)
	}
	if _, err := os.Stat(back); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the restore left a directory, error %v", err)
	}
}

// Servers keep as many copies as the run's settings say, unless the restore asks for others.
func TestCopiesOnServers(t *testing.T) {
	own := configs.Bus{URL: "nats://own:4222", Creds: "own.creds", Replicas: 3, MaxBytes: 1 << 30}
	given := configs.Config{Bus: configs.Bus{URL: "nats://new:4222", TokenFile: "token", Replicas: 1, MaxBytes: 1 << 29}}
	for _, c := range []struct {
		saved    bool
		replicas int
		want     configs.Bus
	}{
		{true, 0, configs.Bus{URL: "nats://new:4222", TokenFile: "token", Replicas: 3, MaxBytes: 1 << 30}},
		{true, 5, configs.Bus{URL: "nats://new:4222", TokenFile: "token", Replicas: 5, MaxBytes: 1 << 30}},
		{false, 0, configs.Bus{URL: "nats://new:4222", TokenFile: "token", Replicas: 1, MaxBytes: 1 << 29}},
		{false, 3, configs.Bus{URL: "nats://new:4222", TokenFile: "token", Replicas: 3, MaxBytes: 1 << 29}},
	} {
		if found := serversOf(own, c.saved, RestoreOptions{Servers: &given, Replicas: c.replicas}); found != c.want {
			t.Errorf("settings saved: %v, %d copies asked for: found %+v, expected %+v", c.saved, c.replicas, found, c.want)
		}
	}
}
