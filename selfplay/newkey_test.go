package selfplay

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
)

// playAs plays games of a run as an actor in dir and waits so long until they are stored.
func playAs(t *testing.T, dir string, own configs.Config, games uint64, drain time.Duration) (Status, error) {
	t.Helper()
	o := testOptions()
	o.Role = "actor"
	r, err := Join(t.Context(), dir, "test", own, o)
	if err != nil {
		t.Fatal(err)
	}
	err = r.withActor(t.Context(), Limits{Games: games}, drain, nil, nil)
	return r.Status(), errors.Join(err, r.Close())
}

// spooledIn counts the games in the spool of a directory.
func spooledIn(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, spoolDir, "*"+spoolExt))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// An actor that has lost its directory, and whose settings give it the same name, plays for
// nothing: it says so and ends, deletes no game as stored and publishes none again, until an
// operator gives its name a new key.
func TestLostActorOfAName(t *testing.T) {
	_, own := openOnServer(t)
	own.Actor.Name, own.Actor.Workers = "a1", 1
	p := startReplay(t, filepath.Join(t.TempDir(), "replay"), own, Options{})
	p.await(t, "waiting for games")
	if _, err := playAs(t, filepath.Join(t.TempDir(), "first"), own, 2, patience); err != nil {
		t.Fatal(err)
	}
	if n := len(onDisk(t, p.run)); n != 2 {
		t.Fatalf("found %d games stored, expected 2", n)
	}
	dir := filepath.Join(t.TempDir(), "second")
	s, err := playAs(t, dir, own, 2, patience)
	if !errors.Is(err, errOtherKey) || !strings.Contains(err.Error(), "selfplay quarantine a1 --new-key") {
		t.Errorf("found error %v, expected %v and what to do", err, errOtherKey)
	}
	if s.SessionGames != 0 || s.Figures.Confirmed != 0 {
		t.Errorf("%d games played, %d confirmed, expected none", s.SessionGames, s.Figures.Confirmed)
	}
	p.end(t)
	// Without a replay role nobody can tell it; a later one does.
	if s, err = playAs(t, dir, own, 2, time.Nanosecond); err != nil || s.Spooled != 2 {
		t.Fatalf("without a replay role: %d games spooled, error %v, expected 2 and none", s.Spooled, err)
	}
	p = startReplay(t, p.run.dir, own, Options{})
	p.await(t, "waiting for games")
	if _, err = playAs(t, dir, own, 2, patience); !errors.Is(err, errOtherKey) || spooledIn(t, dir) != 2 {
		t.Errorf("error %v, %d games in the spool, expected %v and 2", err, spooledIn(t, dir), errOtherKey)
	}
	for _, e := range events(t, dir) {
		if e["msg"] == "games that the stream has lost are published again" {
			t.Errorf("event %v", e)
		}
	}
	own.Run.Name = "test"
	if err := NewActorKey(t.Context(), "", own, Options{}, "a1", "anna@desk", "its disk was replaced"); err != nil {
		t.Fatal(err)
	}
	if err := NewActorKey(t.Context(), "", own, Options{}, "ghost", "anna@desk", "unheard of"); err == nil || !strings.Contains(err.Error(), "no key of actor ghost") {
		t.Errorf("an actor without a key: error %v", err)
	}
	if _, err = playAs(t, dir, own, 1, patience); err != nil {
		t.Fatal(err)
	}
	stored := onDisk(t, p.run)
	if len(stored) != 5 || spooledIn(t, dir) != 0 {
		t.Errorf("stored %v, %d games in the spool, expected 5 games and none", stored, spooledIn(t, dir))
	}
	p.end(t)
	entries, err := Audit(t.Context(), "", own, Options{})
	if err != nil || len(entries) != 1 || entries[0].Action != auditNewKey || entries[0].What != "a1" || entries[0].By != "anna@desk" {
		t.Errorf("audit %+v, error %v", entries, err)
	}
}

// An actor that begins while replay is away, and finds at its end that its name has another key,
// keeps its games.
func TestLostActorIsToldAtItsEnd(t *testing.T) {
	t.Parallel()
	id := "run-local-0-0-000000"
	r, p := openPublisher(t, id)
	a, err := openActor(t.TempDir(), "run", localActor, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.key = a.key()
	in := mustIngester(t, r)
	defer in.close()
	in.keys = &actorKeys{path: filepath.Join(t.TempDir(), actorKeysFile), known: map[string]string{localActor: strings.Repeat("0f", 32)}}
	defer serveReplay(t, in)()
	act := &actor{run: r, spool: p.spool, sender: p}
	if err := act.finish(t.Context(), patience); !errors.Is(err, errOtherKey) || p.spool.size() != 1 {
		t.Errorf("error %v, %d games in the spool, expected %v and one", err, p.spool.size(), errOtherKey)
	}
}

// Two actors that were given one name without a file of either have other games.
func TestActorsOfOneNameCountApart(t *testing.T) {
	_, own := openOnServer(t)
	own.Actor.Name, own.Actor.Workers = "a1", 1
	epochs := map[int]bool{}
	for range 2 {
		dir := t.TempDir()
		if _, err := playAs(t, dir, own, 1, time.Nanosecond); err != nil {
			t.Fatal(err)
		}
		names, err := os.ReadDir(filepath.Join(dir, spoolDir))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			text, ok := strings.CutSuffix(n.Name(), spoolExt)
			if !ok {
				continue
			}
			run, _, _ := strings.Cut(text, "-")
			id, err := game.ParseID(run, text)
			if err != nil || id.Actor != "a1" || id.Epoch < restoredStarts {
				t.Errorf("game %s, error %v, expected one of a1 after %d starts", text, err, restoredStarts)
			}
			epochs[id.Epoch] = true
		}
	}
	if len(epochs) != 2 {
		t.Errorf("found starts %v, expected two that differ", epochs)
	}
}

// Games in the spool of an actor that has another name since can be signed by nobody: they are
// set aside, and hold up no other.
func TestGamesOfFormerNameAreSetAside(t *testing.T) {
	t.Parallel()
	_, p := openPublisher(t, "run-former-0-0-000000", "run-present-0-0-000000")
	a, err := openActor(t.TempDir(), "run", "present", 0)
	if err != nil {
		t.Fatal(err)
	}
	p.actor, p.key = a.Name, a.key()
	if n, err := p.once(t.Context()); n != 1 || err != nil || p.spool.size() != 1 {
		t.Errorf("published %d games, error %v, %d spooled, expected the present actor's", n, err, p.spool.size())
	}
	if _, err := os.Stat(filepath.Join(p.spool.dir, refusedDir, "run-former-0-0-000000"+spoolExt)); err != nil {
		t.Error(err)
	}
}

// A loop on other servers, whose actor has lost its file and not its name, has nobody who could be
// asked for a new key: it is given in the loop's directory. Elsewhere nothing can be done.
func TestLostActorOfLoopOnServers(t *testing.T) {
	t.Parallel()
	server, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	cfg.Bus.URL, cfg.Run.Name, cfg.Actor.Name = "nats://"+server.Addr(), "test", "a1"
	loopOnce(t, dir, cfg, Limits{Games: 1})
	if err := os.Remove(filepath.Join(dir, actorFile)); err != nil {
		t.Fatal(err)
	}
	r := openRun(t, dir, cfg)
	newKey := func(dir string) error {
		return NewActorKey(t.Context(), dir, cfg, Options{}, "a1", "anna@desk", "its file is lost")
	}
	in := mustIngester(t, r)
	if err := newKey(dir); !errors.Is(err, bus.ErrNobody) || !errors.Is(err, dirlock.ErrHeld) {
		t.Errorf("while the buffer is open: found error %v, expected %v and %v", err, bus.ErrNobody, dirlock.ErrHeld)
	}
	if err := in.close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Loop(t.Context(), Limits{Games: 1}); !errors.Is(err, errOtherKey) {
		t.Errorf("found error %v, expected %v", err, errOtherKey)
	}
	spooled := r.Status().Spooled
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := newKey(""); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("without a directory: found error %v, expected %v", err, bus.ErrNobody)
	}
	if err := newKey(dir); err != nil {
		t.Fatal(err)
	}
	if s := loopOnce(t, dir, cfg, Limits{Games: 1}); s.Games != uint64(2+spooled) || s.Spooled != 0 {
		t.Errorf("%d games stored, %d spooled, expected %d and none", s.Games, s.Spooled, 2+spooled)
	}
	entries, err := Audit(t.Context(), dir, cfg, Options{})
	if err != nil || !slices.ContainsFunc(entries, func(e bus.AuditEntry) bool { return e.Action == auditNewKey && e.What == "a1" }) {
		t.Errorf("audit %+v, error %v, expected the new key", entries, err)
	}
}

// A loop that listens, whose actor has lost its file and not its name, ends with an error until
// the name has a new key. Of a stopped run that is changed in its directory.
func TestLostActorOfListeningLoop(t *testing.T) {
	t.Parallel()
	dir, cfg := filepath.Join(t.TempDir(), "run"), smallConfig(t)
	cfg.Bus.Listen, cfg.Actor.Name = "127.0.0.1:0", "a1"
	loopOnce(t, dir, cfg, Limits{Games: 1})
	if err := os.Remove(filepath.Join(dir, actorFile)); err != nil {
		t.Fatal(err)
	}
	r := openRun(t, dir, cfg)
	err := r.Loop(t.Context(), Limits{Games: 1})
	if s := r.Status(); !errors.Is(err, errOtherKey) || s.Games != 1 || s.Figures.Confirmed != 0 || s.Spooled == 0 {
		t.Errorf("error %v, %d games stored, %d confirmed, %d spooled, expected %v, the first one, none and some", err, s.Games, s.Figures.Confirmed, s.Spooled, errOtherKey)
	}
	spooled := r.Status().Spooled
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := NewActorKey(t.Context(), dir, cfg, Options{}, "a1", "anna@desk", "its file is lost"); err != nil {
		t.Fatal(err)
	}
	if s := loopOnce(t, dir, cfg, Limits{Games: 1}); s.Games != uint64(2+spooled) || s.Spooled != 0 {
		t.Errorf("%d games stored, %d spooled, expected %d and none", s.Games, s.Spooled, 2+spooled)
	}
	if err := NewActorKey(t.Context(), dir, cfg, Options{}, "Not one", "", ""); !errors.Is(err, ErrNoActor) {
		t.Errorf("found error %v, expected %v", err, ErrNoActor)
	}
}
