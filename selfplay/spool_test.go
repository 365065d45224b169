package selfplay

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
)

func TestSpoolKeepsOrderAcrossRestart(t *testing.T) {
	dir := t.TempDir()
	s, err := openSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.add(fmt.Sprintf("run-0-0-%06d", i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.remove("run-0-0-000000"); err != nil {
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
	if s, err = openSpool(dir); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 5; i++ {
		id, data, ok, err := s.oldest()
		if err != nil || !ok || id != fmt.Sprintf("run-0-0-%06d", i) || len(data) != 1 || data[0] != byte(i) {
			t.Fatalf("oldest() = %q, %v, %v, %v; want game %d", id, data, ok, err, i)
		}
		if err := s.remove(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok, err := s.oldest(); ok || err != nil || s.size() != 0 {
		t.Errorf("emptied spool: ok %v, error %v, length %d", ok, err, s.size())
	}
}

func TestSpoolRefusesNamesThatLeaveIt(t *testing.T) {
	s, err := openSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "../up", "a/b", ".", ".."} {
		if err := s.add(id, nil); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
}

// A file that somebody removed does not hold up the ones behind it.
func TestSpoolPassesMissingFile(t *testing.T) {
	dir := t.TempDir()
	s, err := openSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := s.add(id, []byte(id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "a.game")); err != nil {
		t.Fatal(err)
	}
	if id, _, ok, err := s.oldest(); id != "b" || !ok || err != nil {
		t.Errorf("oldest() = %q, %v, %v; want b", id, ok, err)
	}
}

// A spooled file that the bus will never take does not hold up the others, nor
// the next start.
func TestGameAboveTheLimitIsSetAside(t *testing.T) {
	r, _ := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	s, err := openSpool(r.path(spoolDir))
	if err != nil {
		t.Fatal(err)
	}
	for id, data := range map[string][]byte{"a": make([]byte, bus.MaxGameBytes+1), "b": shortGame(t, "b"), "c": nil} {
		if err := s.add(id, data); err != nil {
			t.Fatal(err)
		}
	}
	a := &actor{run: r, spool: s}
	if err := a.drain(t.Context()); err != nil || s.size() != 0 {
		t.Fatalf("%d games left, error %v", s.size(), err)
	}
	if st, err := r.bus.Stats(t.Context()); err != nil || st.Messages != 1 {
		t.Errorf("%+v, error %v", st, err)
	}
	aside, err := filepath.Glob(filepath.Join(s.dir, "*"+asideExt))
	if err != nil || len(aside) != 2 {
		t.Errorf("set aside: %q, error %v", aside, err)
	}
	again, err := openSpool(s.dir)
	if err != nil || again.size() != 0 {
		t.Errorf("opened again: %d games, error %v", again.size(), err)
	}
}
