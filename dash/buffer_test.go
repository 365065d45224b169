package dash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// A game that is published again counts once, however many came since; what is remembered
// of games takes bounded room.
func TestPublishedAgain(t *testing.T) {
	b := newBuffer("")
	const n = keptGames + 100
	for range 2 {
		for i := range n {
			b.published(record(t, fmt.Sprintf("abc-anna-0-0-%d", i), firstNet, uint64(i)), time.Now())
		}
	}
	if total, _, _ := b.total(); total != n || b.actors[otherActors].games != n {
		t.Errorf("found %d games, %d by actors, expected %d", total, b.actors[otherActors].games, n)
	}
	for i := range 3 * keptIDs {
		if id := strconv.Itoa(i); !b.isNew(id) || b.isNew(id) {
			t.Fatalf("game %d: found that it was known before, or is not known now", i)
		}
	}
	if b.isNew(strconv.Itoa(2*keptIDs)) || len(b.ids[0])+len(b.ids[1]) > 2*keptIDs {
		t.Errorf("found %d and %d ids, expected at most %d and the newest among them", len(b.ids[0]), len(b.ids[1]), 2*keptIDs)
	}
}

// The view of a buffer that is replaced by an earlier copy has the games of the copy, once.
func TestBufferOfAnEarlierCopy(t *testing.T) {
	dir, earlier := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	for i := range 3 {
		replaytest.Store(t, dir, record(t, fmt.Sprintf("abc-anna-0-0-%d", i), firstNet, uint64(i)))
		if i == 1 {
			if err := os.CopyFS(earlier, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, now := newBuffer(dir), time.Unix(1e9, 0)
	for _, want := range []uint64{3, 2} {
		before := b.version
		if err := b.read(now, "abc"); err != nil {
			t.Fatal(err)
		}
		if total, _, _ := b.total(); total != want || uint64(len(b.latest)) != want || b.version == before {
			t.Errorf("found %d games, %d kept, version %d after %d, expected %d games", total, len(b.latest), b.version, before, want)
		}
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(earlier))); err != nil {
			t.Fatal(err)
		}
	}
}
