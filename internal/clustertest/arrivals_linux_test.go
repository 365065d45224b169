package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A game that comes and goes between two looks is seen, as one that is spooled, stored and
// removed while the machine is busy.
func TestWatchSeesWhatComesAndGoes(t *testing.T) {
	dir := t.TempDir()
	actor := filepath.Join(dir, "actor")
	w, err := WatchSpools(filepath.Join(dir, "finished.txt"), []string{actor})
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000 // more than one read of the kernel's queue returns
	w.mu.Lock()    // no look
	spare := filepath.Join(actor, spoolDir, ".tmp-spare")
	err = os.WriteFile(spare, nil, 0o644)
	for i := range n {
		path := filepath.Join(actor, spoolDir, fmt.Sprintf("run-actor-0-0-%06d%s", i, spoolExt))
		for _, way := range [][2]string{{spare, path}, {path, spare}} {
			if err == nil {
				err = os.Rename(way[0], way[1])
			}
		}
	}
	w.mu.Unlock()
	if err != nil {
		t.Error(err)
	}
	if got, err := w.Close(); err != nil || len(got) != n || !got["run-actor-0-0-000000"] {
		t.Errorf("found %d games, error %v, expected %d", len(got), err, n)
	}
}

// A watch that may have missed a game says so.
func TestWatchOfRemovedSpool(t *testing.T) {
	dir := t.TempDir()
	w, err := WatchSpools(filepath.Join(dir, "finished.txt"), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, spoolDir)); err != nil {
		t.Error(err)
	}
	if _, err := w.Close(); err == nil || !strings.Contains(err.Error(), "removed") {
		t.Errorf("found error %v, expected one of a removed directory", err)
	}
}
