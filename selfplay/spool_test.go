package selfplay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

func openTestSpool(t *testing.T, dir string) *spool {
	t.Helper()
	s, err := openSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s
}

func addGames(t *testing.T, s *spool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.add(encodedGame{id: id, data: []byte(id)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpoolKeepsOrderAcrossRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestSpool(t, dir)
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("run-local-0-0-%06d", i))
	}
	addGames(t, s, want...)
	if err := s.remove(want[0]); err != nil {
		t.Fatal(err)
	}
	// A crash may leave a temporary file; it is no game.
	if err := os.WriteFile(filepath.Join(dir, ".tmp-7"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nor is what somebody else put there.
	if err := os.WriteFile(filepath.Join(dir, "bad name.game"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.game"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openSpool(dir); !errors.Is(err, dirlock.ErrHeld) {
		t.Fatalf("a second process: error %v, want %v", err, dirlock.ErrHeld)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	s = openTestSpool(t, dir)
	ids, attempt := s.unsent(100)
	if !slices.Equal(ids, want[1:]) || attempt != 0 || s.size() != 4 {
		t.Fatalf("found %v after %d attempts and %d games, want %v after none", ids, attempt, s.size(), want[1:])
	}
	for _, id := range ids {
		if data, err := s.read(id); err != nil || string(data) != id {
			t.Errorf("read(%s) = %q, %v", id, data, err)
		}
	}
}

// A spool that is closed keeps no file of a game that has left it.
func TestClosedSpoolHoldsGamesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTestSpool(t, dir)
	addGames(t, s, "a", "b", "c")
	if err := errors.Join(s.remove("b"), s.close()); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, durable.TempPattern)); err != nil || len(left) > 0 {
		t.Errorf("found %v, error %v", left, err)
	}
	if s = openTestSpool(t, dir); s.size() != 2 {
		t.Errorf("found %d games, expected 2", s.size())
	}
}

// A published game is not published again until it is known to be lost, and is asked
// about as long as it is there.
func TestSpoolKnowsWhatIsPublished(t *testing.T) {
	s := openTestSpool(t, t.TempDir())
	addGames(t, s, "a", "b", "c")
	at := published{stream: 7, sequence: 3}
	s.mark([]string{"a", "b", "unknown"}, at)
	if ids, attempt := s.unsent(9); !slices.Equal(ids, []string{"c"}) || attempt != 0 {
		t.Errorf("to be published: %v after %d attempts, want c after none", ids, attempt)
	}
	if ids, places := s.waiting(9); !slices.Equal(ids, []string{"a", "b"}) || !slices.Equal(places, []published{at, at}) {
		t.Errorf("published: %v at %v, want a and b at %v", ids, places, at)
	}
	if ids, _ := s.waiting(1); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("published, at most one: %v, want a", ids)
	}
	s.mark([]string{"b"}, published{})
	select {
	case <-s.news():
	default:
		t.Error("no signal that there is something to publish")
	}
	if ids, attempt := s.unsent(1); !slices.Equal(ids, []string{"b"}) || attempt != 1 {
		t.Errorf("to be published: %v after %d attempts, want b after 1", ids, attempt)
	}
	if err := s.remove("a", "b", "c"); err != nil || s.size() != 0 {
		t.Errorf("emptied spool: error %v, %d games", err, s.size())
	}
}

func TestSpoolRefusesNamesThatLeaveIt(t *testing.T) {
	s := openTestSpool(t, t.TempDir())
	for _, id := range []string{"", "../up", "a/b", ".", ".."} {
		if err := s.add(encodedGame{id: id}); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
}

func TestSpoolSetsAside(t *testing.T) {
	dir := t.TempDir()
	s := openTestSpool(t, dir)
	addGames(t, s, "a")
	if err := s.setAside("a"); err != nil || s.size() != 0 {
		t.Fatalf("error %v, %d games left", err, s.size())
	}
	if _, err := s.read("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a game set aside: error %v, want %v", err, fs.ErrNotExist)
	}
	if data, err := os.ReadFile(filepath.Join(dir, refusedDir, "a.game")); err != nil || string(data) != "a" {
		t.Errorf("what is set aside: %q, %v", data, err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if s = openTestSpool(t, dir); s.size() != 0 {
		t.Errorf("a game set aside came back")
	}
}

// What is set aside is bounded: the newest files stay, and other files are left alone.
func TestSetAsideIsBounded(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_700_000_000, 0)
	for i := range 20 {
		path := filepath.Join(dir, fmt.Sprintf("g%02d%s", i, spoolExt))
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at.Add(time.Duration(i)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(pruneFiles(dir, spoolExt, 5), pruneFiles(filepath.Join(dir, "none"), spoolExt, 5)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 6 || filepath.Base(left[0]) != "g15"+spoolExt || filepath.Base(left[5]) != "note.txt" {
		t.Errorf("found %v, error %v, expected the newest five and the note", left, err)
	}
}

// While a spool's disk takes nothing, the worker waits with its finished game, which is
// spooled once the disk takes it.
func TestFullSpoolDiskLosesNoGame(t *testing.T) {
	t.Parallel()
	r, p := openPublisher(t)
	a := &actor{run: r, spool: p.spool}
	away := p.spool.dir + ".away"
	if err := os.Rename(p.spool.dir, away); err != nil { // as good as a full disk
		t.Fatal(err)
	}
	kept := make(chan error)
	id := "run-local-0-0-000000"
	go func() { kept <- a.keep(t.Context(), []encodedGame{{id: id, data: shortGame(t, id)}}) }()
	for !strings.Contains(eventsOf(t, r), "cannot be spooled") {
		runtime.Gosched()
	}
	if err := os.Rename(away, p.spool.dir); err != nil {
		t.Fatal(err)
	}
	if err := <-kept; err != nil || p.spool.size() != 1 {
		t.Errorf("found %d games in the spool, error %v, expected 1", p.spool.size(), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := os.Rename(p.spool.dir, away); err != nil {
		t.Fatal(err)
	}
	if err := a.keep(ended, []encodedGame{{id: "run-local-0-0-000001"}}); err == nil {
		t.Error("ended while the disk took nothing: found no error, expected the disk's")
	}
	if err := os.Rename(away, p.spool.dir); err != nil {
		t.Fatal(err)
	}
}

func eventsOf(t *testing.T, r *Run) string {
	t.Helper()
	text, err := os.ReadFile(r.path(eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
