package selfplay

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSpoolKeepsOrderAcrossRestart(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.Add(fmt.Sprintf("run-0-0-%06d", i), []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Remove("run-0-0-000000"); err != nil {
		t.Fatal(err)
	}
	// A crash may leave a temporary file; it is no game.
	if err := os.WriteFile(filepath.Join(dir, ".tmp-7"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSpool(dir); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 5; i++ {
		id, data, ok, err := s.Oldest()
		if err != nil || !ok || id != fmt.Sprintf("run-0-0-%06d", i) || len(data) != 1 || data[0] != byte(i) {
			t.Fatalf("Oldest() = %q, %v, %v, %v; want game %d", id, data, ok, err, i)
		}
		if err := s.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok, err := s.Oldest(); ok || err != nil || s.Len() != 0 {
		t.Errorf("emptied spool: ok %v, error %v, length %d", ok, err, s.Len())
	}
}

func TestSpoolRefusesNamesThatLeaveIt(t *testing.T) {
	s, err := OpenSpool(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "../up", "a/b", ".", ".."} {
		if err := s.Add(id, nil); err == nil {
			t.Errorf("id %q was accepted", id)
		}
	}
}
