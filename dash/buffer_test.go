package dash

import (
	"fmt"
	"strconv"
	"testing"
	"time"
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
