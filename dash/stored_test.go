package dash

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// longTrial is a run with more games than the page keeps, and the ids of all of them, the
// newest first.
func longTrial(t *testing.T) (dir string, ids []string) {
	t.Helper()
	dir = trial(t)
	ids = []string{"abc-5", "abc-2", "abc-1"}
	var records [][]byte
	for i := range keptGames + 90 {
		id := fmt.Sprintf("abc-anna-0-0-%d", i)
		records, ids = append(records, record(t, id, firstNet, uint64(i))), append(ids, "")
		copy(ids[1:], ids)
		ids[0] = id
	}
	replaytest.Store(t, filepath.Join(dir, "replay"), records...)
	return dir, ids
}

// Every stored game is listed by going back from the newest, and can be replayed by its
// place, and by its id alone.
func TestStored(t *testing.T) {
	dir, want := longTrial(t)
	s := newTestServer(t, Config{Dir: dir})
	if n := len(read[Games](t, s, "/api/games").Games); n != keptGames {
		t.Fatalf("found %d games in the list of the newest, expected %d", n, keptGames)
	}
	var found []string
	var last GameLine
	for before, pages := "", 0; ; pages++ {
		p := read[Stored](t, s, "/api/stored?before="+before)
		if len(p.Damage) != 0 || p.First != 1 || p.Last < 2 || len(p.Games) > pageGames {
			t.Fatalf("page %d: found %d games, segments %d to %d, damage %v", pages, len(p.Games), p.First, p.Last, p.Damage)
		}
		for _, g := range p.Games {
			found = append(found, g.ID)
			last = g
		}
		if before = p.Older; before == "" {
			break
		}
	}
	if !slices.Equal(found, want) {
		t.Errorf("found %d games, expected %d, the newest first", len(found), len(want))
	}
	if last.ID != "abc-1" || last.Place == "" || last.Generations != [2]int{1, 1} || last.Plies == 0 {
		t.Errorf("found %+v, expected abc-1 of generation 1", last)
	}
	for _, path := range []string{"abc-1", "abc-1?at=" + last.Place, "abc-1?at=2.24", "abc-1?at=99.24"} {
		if g := read[Replayed](t, s, "/api/games/"+path); g.ID != "abc-1" || len(g.Positions) != g.Plies+1 {
			t.Errorf("%s: found game %s with %d positions", path, g.ID, len(g.Positions))
		}
	}
	if p := read[Stored](t, s, "/api/stored?before=1.0"); len(p.Games) == 0 || p.Games[len(p.Games)-1].ID != "abc-1" || p.Older != "" {
		t.Errorf("found %+v, expected the games of the first segment", p)
	}
}

// The page says what cannot be read.
func TestStoredDamage(t *testing.T) {
	dir, ids := longTrial(t)
	s := newTestServer(t, Config{Dir: dir})
	victim := read[Stored](t, s, "/api/stored?before=2.0").Games[0] // the last of segment 2
	if !slices.Contains(ids[keptGames:], victim.ID) {
		t.Fatalf("game %s is among the newest", victim.ID)
	}
	segment := filepath.Join(dir, "replay", "00000002.seg")
	data, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, data[:len(data)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(path, want string, code int) {
		t.Helper()
		w := ask(t, s, path)
		if w.Code != code || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: code %d, %s; expected %d and %q", path, w.Code, w.Body, code, want)
		}
	}
	refused("/api/games/"+victim.ID+"?at="+victim.Place, "found no whole game at offset", http.StatusNotFound)
	refused("/api/games/"+victim.ID, "found none with the id", http.StatusNotFound)
	if p := read[Stored](t, s, "/api/stored?before=2.0"); len(p.Damage) != 1 || len(p.Games) == 0 || p.Games[0].ID == victim.ID {
		t.Errorf("found damage %v, expected that at the end of segment 2", p.Damage)
	}
	if err := os.Remove(segment); err != nil {
		t.Fatal(err)
	}
	refused("/api/games/"+victim.ID+"?at="+victim.Place, "00000002.seg: it is lost", http.StatusNotFound)
	if p := read[Stored](t, s, "/api/stored?before=3.24"); len(p.Damage) != 1 || !strings.Contains(p.Damage[0], "it is lost") || len(p.Games) == 0 {
		t.Errorf("found %d games, damage %v, expected those of segment 1 and the loss of segment 2", len(p.Games), p.Damage)
	}
	for _, place := range []string{"x", "-1.0", "0.5", "1.x", "1", "18446744073709551615.0", strings.Repeat("9", 99) + ".0"} {
		refused("/api/stored?before="+place, "expected segment and offset", http.StatusBadRequest)
		refused("/api/games/none?at="+place, "expected segment and offset", http.StatusBadRequest)
	}
	if err := os.RemoveAll(filepath.Join(dir, "replay")); err != nil {
		t.Fatal(err)
	}
	if p := read[Stored](t, s, "/api/stored"); len(p.Games) != 0 || p.Last != 0 {
		t.Errorf("without a buffer: found %+v", p)
	}
}

// storedThere are the stored games of a run on servers, as its replay role has them.
type storedThere struct {
	storedHere
	err error
}

func (a storedThere) Stored(ctx context.Context, before replay.Cursor, n int) (selfplay.StoredPage, error) {
	if a.err != nil {
		return selfplay.StoredPage{}, a.err
	}
	return a.storedHere.Stored(ctx, before, n)
}

func (a storedThere) StoredGame(ctx context.Context, id string, at replay.Cursor) ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.storedHere.StoredGame(ctx, id, at)
}

// The stored games of a run on servers are those that its replay role lists. Where none
// answers, as one of an earlier build does not, the page says what to do.
func TestStoredOnServers(t *testing.T) {
	archive := storedHere{replay.NewArchive(filepath.Join(trial(t), "replay"))}
	s := newTestServer(t, Config{Stored: storedThere{archive, nil}})
	p := read[Stored](t, s, "/api/stored")
	if len(p.Games) != 3 || p.Games[0].ID != "abc-5" || p.Games[0].Place == "" {
		t.Fatalf("found %+v, expected three games", p)
	}
	for _, path := range []string{"/api/games/abc-1", "/api/games/abc-5?at=" + p.Games[0].Place} {
		if g := read[Replayed](t, s, path); len(g.Positions) < 2 {
			t.Errorf("%s: found %+v", path, g)
		}
	}
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{fmt.Errorf("ask: %w", bus.ErrNobody), http.StatusNotFound, "there is none, or it is of an earlier build"},
		{fmt.Errorf("ask: %w", bus.ErrUnavailable), http.StatusInternalServerError, "cannot be read"},
		{replay.ErrUnknown, http.StatusNotFound, "no such game"},
		{context.DeadlineExceeded, http.StatusGatewayTimeout, "no answer within"},
	} {
		s := newTestServer(t, Config{Stored: storedThere{archive, c.err}})
		for _, path := range []string{"/api/stored", "/api/games/abc-1"} {
			if w := ask(t, s, path); w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%v, %s: code %d, %s", c.err, path, w.Code, w.Body)
			}
		}
	}
}

// A comparison has no replay buffer of its games.
func TestStoredOfAComparison(t *testing.T) {
	s := newTestServer(t, Config{})
	for _, path := range []string{"/api/stored", "/api/games/x"} {
		if w := ask(t, s, path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "this is a comparison") {
			t.Errorf("%s: code %d, %s", path, w.Code, w.Body)
		}
	}
}
