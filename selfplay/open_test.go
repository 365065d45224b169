package selfplay

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/game"
)

// Games that are left on the embedded server are stored by the rules that held when they
// were published: a loop that was closed asks for no signature, one that listened does.
func TestGamesLeftOnServer(t *testing.T) {
	const open = "127.0.0.1:0"
	for _, c := range []struct {
		name, before, after string
		stored, refused     uint64
	}{
		{"closed", "", "", 2, 0},
		{"opened", "", open, 2, 0},
		{"open", open, open, 1, 1},
		{"shut", open, "", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
			cfg.Bus.Listen = c.before
			r := openRun(t, dir, cfg)
			a, err := openActor(t.TempDir(), r.id(), "a1", 0)
			if err != nil {
				t.Fatal(err)
			}
			id := func(n uint64) string { return game.ID{Run: r.id(), Actor: "a1", Counter: n}.String() }
			games := [][]byte{shortGame(t, id(0)), game.Seal(shortGame(t, id(1)), a.key())}
			if _, err := r.bus.PublishGames(t.Context(), "a1", "m", games); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			cfg.Bus.Listen = c.after
			r = openRun(t, dir, cfg)
			defer r.Close()
			in := mustIngester(t, r)
			defer in.close()
			if c.before == c.after { // the ingester of now meets them
				if n, err := in.once(t.Context(), time.Minute); n != 2 || err != nil {
					t.Errorf("%d games on the server, error %v", n, err)
				}
			} else if st, err := r.bus.Stats(t.Context()); err != nil || !st.Stored() {
				t.Errorf("%+v left, error %v", st, err)
			}
			rejects, err := r.bus.Rejects(t.Context(), 10)
			if stored := in.buffer.Stats().Games; stored != c.stored || uint64(len(rejects)) != c.refused || err != nil {
				t.Errorf("%d games stored and %d refused, expected %d and %d, error %v", stored, len(rejects), c.stored, c.refused, err)
			}
		})
	}
}

// A backup of a stopped loop has its finished games as the loop would publish them.
func TestSpooledGamesOfStoppedLoop(t *testing.T) {
	for _, listen := range []string{"", "127.0.0.1:0"} {
		dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
		cfg.Bus.Listen = listen
		r := openRun(t, dir, cfg)
		a, err := openActor(dir, r.id(), "a1", 0)
		if err != nil {
			t.Fatal(err)
		}
		id := game.ID{Run: r.id(), Actor: "a1"}.String()
		file := filepath.Join(r.path(spoolDir), id+spoolExt)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, shortGame(t, id), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := ReadServers(t.Context(), dir, cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		found := 0
		if err := s.Games(t.Context(), func(m bus.PendingMessage) error {
			found++
			_, by, err := game.Unseal(m.Data)
			if signed := by.PublicKey.Equal(a.key().Public()); m.ID != id || signed != (listen != "") {
				t.Errorf("listening at %q: found game %s, signed by the actor: %v, error %v", listen, m.ID, signed, err)
			}
			return nil
		}); err != nil || found != 1 {
			t.Errorf("%d games, error %v", found, err)
		}
	}
}
